/* From a name to an open file and back: rank 0 asks the system and creates, all others
 * follow, and every step that can fail on one rank ends with an agreement. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/nodes.h"
#include "comm/real.h"
#include "comm/verdict.h"
#include "core/asked.h"
#include "core/explain.h"
#include "core/file.h"
#include "core/handle.h"
#include "core/modules.h"
#include "core/op.h"
#include "core/report.h"
#include "core/shared.h"
#include "fs/calibration.h"
#include "fs/probe.h"

static BRIO_ERR check_amode(int amode)
{
    const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    const int known = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_CREATE |
                      MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |
                      MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    if (amode & ~known)
        return brio_fail(BRIO_EAMODE, "unknown bits in the access mode %#x", (unsigned)amode);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return brio_fail(BRIO_EAMODE, "access mode needs exactly one of RDONLY, WRONLY, RDWR");
    if (access == MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return brio_fail(BRIO_EAMODE, "CREATE and EXCL contradict RDONLY");
    if (access == MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
        return brio_fail(BRIO_EAMODE, "SEQUENTIAL contradicts RDWR");
    return BRIO_OK;
}

/* What one rank can do without the others. */
static BRIO_ERR prepare(struct brio_file *f, const char *path, int amode)
{
    if (!path || !*path)
        return brio_fail(BRIO_EBADFILE, "no file name");
    f->amode = amode;
    enum brio_err err = brio_strdup(brio_fs_split(path, f->facts.prefix), &f->path);
    if (!err)
        err = check_amode(amode);
    if (!err)
        err = brio_settings_new(&f->settings);
    if (!err)
        brio_settings_speak(f->settings, f->team.rank == 0);
    return err;
}

/* Rank 0's part of the settings is there; now this rank's. */
static BRIO_ERR settle(struct brio_file *f, const struct brio_asked *asked, MPI_Info info)
{
    enum brio_err err = brio_asked_settle(asked, info, f->settings);
    return err ? err : brio_settings_fill(f->settings, brio_conf_hints, &f->conf);
}

/* Collective. Rank 0's facts about the file system, its page for the shared pointer and its
 * settings; where the ranks are; whether all can map the page. Nothing has been touched after
 * it. */
static BRIO_ERR gather_facts(struct brio_file *f, MPI_Comm users, MPI_Info info,
                             enum brio_err mine)
{
    struct {
        struct brio_facts facts;
        struct brio_page_ref page;
        int nasked;
        bool report, calls_drive;
    } word;
    struct brio_asked asked;
    struct brio_verdict v;
    char prefix[sizeof f->facts.prefix];
    memcpy(prefix, f->facts.prefix, sizeof prefix);

    enum brio_err err = brio_nodes_of(users, &f->nodes);
    if (!mine)
        mine = err;
    memset(&word, 0, sizeof word);
    memcpy(word.facts.prefix, prefix, sizeof prefix);
    if (f->team.rank == 0 && !mine) {
        brio_fs_probe(f->path, &word.facts);
        brio_calibration_lookup(f->path, &word.facts);
        word.report = brio_report_wanted();
        word.calls_drive = brio_real_thread_level() != MPI_THREAD_MULTIPLE;
        if (brio_page_take(&word.page, &f->slot))
            f->slot = NULL; /* no shared pointer in memory, then */
        mine = brio_asked_collect(f->path, &asked);
        word.nasked = asked.len;
    }
    PMPI_Bcast(&word, sizeof word, MPI_BYTE, 0, f->team.comm);
    asked.len = word.nasked;
    if (asked.len > 0)
        PMPI_Bcast(asked.bytes, asked.len, MPI_BYTE, 0, f->team.comm);
    if (!mine)
        mine = settle(f, &asked, info);
    f->facts = word.facts;
    f->page = word.page;
    f->report = word.report;
    f->calls_drive = word.calls_drive;
    memcpy(f->facts.prefix, prefix, sizeof prefix);
    f->facts.amode = f->amode;
    f->facts.nranks = f->team.nranks;
    f->facts.thread_multiple = brio_real_thread_level() == MPI_THREAD_MULTIPLE;
    if (!err) {
        f->facts.nnodes = f->nodes->nnodes;
        f->facts.max_per_node = f->nodes->max_per_node;
    }
    bool attached = f->facts.nnodes == 1 && brio_page_attach(&f->page, &f->slot) == BRIO_OK;

    brio_verdict_init(&v, mine);
    v.most = !attached;
    char why[4 * BRIO_HINT_MAX];
    if (!mine && brio_asked_differs(f->settings, f->team.rank, why, sizeof why))
        v.also = f->team.rank + 1;
    brio_verdict_same(&v, "the access mode", f->amode);
    brio_verdict_same(&v, "a hint that must be the same",
                      (int64_t)brio_hints_hash_same(brio_conf_hints, &f->conf));
    enum brio_err verdict = brio_verdict_settle(&v, &f->team);
    f->facts.attach = v.most == 0;
    if (!verdict && v.also == f->team.rank + 1)
        brio_warn_once("%s", why);
    if (!f->facts.attach)
        f->slot = NULL;
    if (!verdict) {
        f->team.meet = f->slot ? &f->slot->meet : NULL;
        verdict = brio_crew_open(&f->crew, &f->team, f->nodes->node_of, &f->page, f->slot);
    }
    return verdict;
}

static int parse_perm(const struct brio_conf *conf)
{
    char *end;
    long perm = strtol(conf->file_perm, &end, 8);
    return *conf->file_perm && !*end && perm >= 0 && perm <= 07777 ? (int)perm : -1;
}

/* What rank 0 has found out about a file by opening it. */
struct found {
    brio_off size;
    struct brio_layout layout;
};

/* Collective. Of the layout no more than is used: most files have nothing to tell. */
static void spread(struct brio_file *f, struct found *found)
{
    const int head = (int)offsetof(struct found, layout.objects);
    PMPI_Bcast(found, head, MPI_BYTE, 0, f->team.comm);
    if (found->layout.nobjects > 0)
        PMPI_Bcast(found->layout.objects,
                   found->layout.nobjects * (int)sizeof *found->layout.objects, MPI_BYTE, 0,
                   f->team.comm);
    f->facts.nservers = found->layout.nservers;
    f->facts.stripe = found->layout.stripe;
    if (found->layout.nextents > 0) { /* what is, and not what was asked for */
        f->conf.striping_factor = found->layout.extents[0].width;
        f->conf.striping_unit = found->layout.stripe;
    }
}

/* Collective. Rank 0 first, for it creates; the others find what is there. */
static BRIO_ERR open_store(struct brio_file *f, struct found *found)
{
    const struct brio_fs *fs = brio_file_fs(f);
    struct brio_fs_open how = {
        .path = f->path,
        .amode = f->dry ? MPI_MODE_RDONLY : f->amode,
        .create = f->team.rank == 0 && f->amode & MPI_MODE_CREATE && !f->dry,
        .there = f->team.rank != 0,
        .spread = f->facts.nnodes > 1,
        .perm = parse_perm(&f->conf),
        .nservers = (int)f->conf.striping_factor,
        .stripe = f->conf.striping_unit,
    };
    enum brio_err err = BRIO_OK;
    if (f->dry && !f->facts.exists && f->amode & MPI_MODE_CREATE) {
        brio_layout_plain(&found->layout);
        f->facts.nservers = found->layout.nservers;
        if (!*f->facts.prefix && strcmp(f->facts.fs_name, "unknown") == 0)
            return brio_fail(BRIO_ENOENT, "there is no directory for it");
        return BRIO_OK;
    }
    if (f->team.rank == 0) {
        err = fs->open(&how, f->chosen[BRIO_FS].conf, &f->fs, &f->store);
        if (!err)
            err = fs->get_size(f->fs, &found->size);
        if (!err)
            err = fs->layout(f->fs, &found->layout);
        if (!err)
            err = brio_layout_check(&found->layout);
    }
    err = brio_follow(&f->team, err);
    if (err)
        return err;
    spread(f, found);
    if (f->team.rank != 0)
        err = fs->open(&how, f->chosen[BRIO_FS].conf, &f->fs, &f->store);
    f->store.local = f->facts.local && f->facts.nnodes == 1;
    f->store.shared = f->facts.nranks > 1;
    f->store.stats = f->stats;
    return err;
}

/* No rank uses the shared pointer any more, nor the places where crews meet. */
static void free_file(struct brio_file *f)
{
    brio_modules_close(f);
    brio_crew_close(&f->crew);
    if (f->sharedfp)
        brio_file_sharedfp(f)->close(f->sharedfp, f->shared_known);
    brio_explain_end(f);
    brio_view_free(&f->view);
    if (f->team.rank == 0 && f->page.slot)
        brio_page_give(&f->page);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++)
        brio_chosen_free(&f->chosen[i]);
    brio_settings_free(f->settings);
    brio_nodes_unref(f->nodes);
    pthread_mutex_destroy(&f->lock);
    if (f->team.comm != MPI_COMM_NULL)
        PMPI_Comm_free(&f->team.comm);
    brio_stats_free(f->stats);
    free(f->path);
    free(f);
}

static BRIO_ERR new_file(const struct brio_team *team, struct brio_file **out)
{
    struct brio_file *f;
    enum brio_err err = brio_calloc(1, sizeof *f, (void **)&f);
    if (err)
        return err;
    f->team = *team;
    f->dry = brio_explain_dry();
    f->store.fd = -1;
    f->crew.region.fd = -1;
    f->view.etype = f->view.filetype = MPI_DATATYPE_NULL;
    pthread_mutex_init(&f->lock, NULL);
    *out = f;
    return brio_stats_new(&f->stats);
}

/* Collective. Our own communicator, so that nothing of ours meets the user's messages. When
 * it is there all ranks have come; operations that they may have to see through before are
 * driven till then. */
static BRIO_ERR duplicate(MPI_Comm users, MPI_Comm *out)
{
    int inter = 0;
    struct brio_pause pause = {.idle = 0};
    MPI_Request req;
    if (users == MPI_COMM_NULL || PMPI_Comm_test_inter(users, &inter) != MPI_SUCCESS || inter)
        return brio_fail(BRIO_ECOMM, "a file is opened by an intracommunicator");
    if (PMPI_Comm_idup(users, out, &req) != MPI_SUCCESS)
        return brio_fail(BRIO_ECOMM, "the communicator cannot be duplicated");
    while (brio_progress_wait() == BRIO_POLL && !brio_real_test(&req))
        brio_progress_rest(&pause);
    brio_real_wait(&req);
    PMPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    return BRIO_OK;
}

BRIO_ERR brio_file_open(MPI_Comm comm, const char *path, int amode, MPI_Info info,
                        struct brio_file **out)
{
    struct brio_file *f = NULL;
    MPI_Comm own;
    struct found found = {.size = 0};
    struct brio_former former = {.stays = true};
    enum brio_err err = duplicate(comm, &own);
    if (err)
        return err;
    /* A rank that has no memory for the file has nothing to carry on with: all stop here. */
    struct brio_team team = {.comm = own};
    PMPI_Comm_rank(own, &team.rank);
    PMPI_Comm_size(own, &team.nranks);
    err = brio_agree(&team, new_file(&team, &f));
    if (err) {
        if (f)
            free_file(f);
        else
            PMPI_Comm_free(&own);
        return err;
    }
    brio_explain_begin(f);
    err = gather_facts(f, comm, info, prepare(f, path, amode));
    if (!err)
        err = brio_modules_select(f);
    if (!err) {
        err = open_store(f, &found);
        f->pointer = f->amode & MPI_MODE_APPEND ? found.size : 0;
        f->shared_used = f->pointer > 0;
        err = brio_modules_open(f, &found.layout, err, f->pointer);
    }
    if (!err) {
        err = brio_view_default(&f->view);
        if (!err)
            err = brio_modules_view(f, &former);
        if (!err)
            brio_shared_view(f);
        if (!err)
            err = brio_handle_new(f, &f->handle);
        struct brio_verdict v;
        brio_verdict_init(&v, err);
        brio_verdict_same(&v, "a hint that must be the same", brio_modules_hash(f));
        err = brio_verdict_settle(&v, &f->team);
        brio_modules_viewed(f, &former, true); /* there was none before */
        if (!err)
            brio_explain_opened(f, &found.layout);
    }
    if (err) {
        if (f->handle)
            brio_handle_free(f->handle);
        brio_modules_close(f); /* some meet in the shared slot once more; after this nobody */
        PMPI_Barrier(own);
        free_file(f);
        return err;
    }
    if (f->report)
        brio_report_begin(f);
    *out = f;
    return BRIO_OK;
}

/* Not before all ranks are here: on some file systems a file that is removed is gone, also for
 * those who have it open. */
static BRIO_ERR remove_with_all(struct brio_file *f)
{
    enum brio_err err = brio_agree(&f->team, BRIO_OK);
    if (!err && f->team.rank == 0)
        err = brio_file_fs(f)->remove(f->path, f->chosen[BRIO_FS].conf);
    return err;
}

BRIO_ERR brio_file_close(struct brio_file *f)
{
    enum brio_err err = BRIO_OK;
    brio_op_drain(f);
    brio_op_together(f);
    if (f->split) {
        brio_op_free(f->split);
        f->split = NULL;
        err = brio_fail(BRIO_EIO, "closed between begin and end of a split collective, "
                                  "which was carried out");
    }
    enum brio_err settled = brio_shared_settle(f);
    if (!err)
        err = settled;
    enum brio_err flushed = f->plain.ops->flush(f->plain.self);
    if (!err)
        err = flushed;
    /* Some clients of networks let a close return before the data is with the servers. */
    enum brio_err synced = BRIO_OK;
    if (f->store.remote && f->store.writable)
        synced = brio_settle_sync(&f->settle);
    if (!err)
        err = synced;
    brio_explain_closing(f);
    if (f->report)
        brio_report_end(f);
    enum brio_err removed = BRIO_OK;
    if (f->amode & MPI_MODE_DELETE_ON_CLOSE)
        removed = remove_with_all(f);
    if (!err)
        err = removed;
    enum brio_err closed = brio_modules_close(f);
    if (!err)
        err = closed;
    f->team.meet = NULL; /* rank 0 gives the slot to another file as soon as it is through */
    struct brio_verdict v;
    brio_verdict_init(&v, err);
    v.most = f->shared_known;
    err = brio_verdict_settle(&v, &f->team);
    f->shared_known = v.most > 0;
    if (f->shared_known) /* by other ranks only, it may be */
        brio_shared_look(f);
    brio_handle_free(f->handle);
    free_file(f);
    return err;
}

BRIO_ERR brio_file_delete(const char *path, MPI_Info info)
{
    struct brio_file f = {.team = {.comm = MPI_COMM_NULL, .nranks = 1}};
    struct brio_asked asked;
    enum brio_err err = prepare(&f, path, MPI_MODE_RDWR);
    if (!err)
        err = brio_asked_collect(f.path, &asked);
    if (!err)
        err = settle(&f, &asked, info);
    if (!err) {
        brio_fs_probe(f.path, &f.facts);
        err = brio_module_select(&f, BRIO_FS);
    }
    if (!err)
        err = brio_file_fs(&f)->remove(f.path, f.chosen[BRIO_FS].conf);
    brio_chosen_free(&f.chosen[BRIO_FS]);
    brio_settings_free(f.settings);
    free(f.path);
    return err;
}
