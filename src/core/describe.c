/* What is known about one file, and what Brio would do with it: for `brio info FILE`, which
 * loads the library. MPI is not initialised then, and the file is only looked at. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "core/asked.h"
#include "core/explain.h"
#include "core/registry.h"
#include "fcache/fcache.h"
#include "fs/calibration.h"
#include "fs/fs.h"
#include "fs/probe.h"
#include "mod/select.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int brio_info_file(const char *path);

struct seen {
    struct brio_facts facts;
    struct brio_settings *settings;
    struct brio_chosen fs;
    brio_off size;
    struct brio_layout layout;
};

/* Opens it for reading, which changes nothing, and asks. */
static BRIO_ERR look(const char *path, struct seen *s)
{
    const struct brio_fs *fs = (const struct brio_fs *)s->fs.module;
    const struct brio_fs_open how = {.path = path, .amode = MPI_MODE_RDONLY, .perm = -1};
    struct brio_store store;
    void *self;
    enum brio_err err = fs->open(&how, s->fs.conf, &self, &store);
    if (err)
        return err;
    err = fs->get_size(self, &s->size);
    if (!err)
        err = fs->layout(self, &s->layout);
    if (!err)
        err = brio_layout_check(&s->layout);
    s->facts.nservers = s->layout.nservers;
    s->facts.stripe = s->layout.stripe;
    enum brio_err closed = fs->close(self);
    return err ? err : closed;
}

/* Which part of the file each server has. */
static void print_servers(const struct seen *s)
{
    enum {
        SHOWN = 16
    };
    brio_off bytes[SHOWN] = {0};
    struct brio_part part;
    void *self;
    if (brio_fcache_stripe.open(&s->layout, NULL, &self))
        return;
    int parts = 0;
    brio_off off = 0;
    for (; off < s->size && parts < 1000000; off += part.len, parts++) {
        brio_fcache_stripe.map(self, off, s->size - off, &part);
        if (part.server < SHOWN)
            bytes[part.server] += part.len;
    }
    for (int i = 0; i < s->layout.nservers && i < SHOWN; i++)
        printf("    server %-4d %lld bytes%s\n", i, (long long)bytes[i],
               off < s->size ? " or more" : "");
    if (s->layout.nservers > SHOWN)
        printf("    ... and %d more\n", s->layout.nservers - SHOWN);
    brio_fcache_stripe.close(self);
}

static void print_layout(const struct seen *s)
{
    const struct brio_layout *l = &s->layout;
    if (l->nextents == 0) {
        printf("  layout       one piece\n");
        return;
    }
    printf("  layout       over %d servers\n", l->nservers);
    for (int i = 0; i < l->nextents; i++) {
        const struct brio_stripes *e = &l->extents[i];
        printf("    from byte %lld: ", (long long)e->lo);
        printf("units of ");
        brio_explain_size(stdout, e->unit);
        printf(" on %d object%s in turn", e->width, e->width == 1 ? "" : "s");
        if (e->object > 0) {
            printf(", each up to ");
            brio_explain_size(stdout, e->object);
        }
        printf("\n");
    }
    print_servers(s);
}

static void print_measured(const char *path, struct brio_facts *facts)
{
    brio_calibration_lookup(path, facts);
    if (facts->k_write == 0 && facts->k_read == 0)
        return;
    printf("  full speed   from ");
    brio_explain_size(stdout, facts->k_write);
    printf(" written, ");
    brio_explain_size(stdout, facts->k_read);
    printf(" read at once (brio calibrate --show)\n");
    if (facts->ring_cold > 0)
        printf(
            "  io_uring     scattered reads at %d %% of the speed of plain calls, %d %% from "
            "memory\n",
            facts->ring_cold, facts->ring_warm);
}

/* What would be chosen for ranks on so many nodes; brio explain says why. */
static void print_choice(struct seen *s, int nnodes, const char *where)
{
    s->facts.nnodes = nnodes;
    s->facts.nranks = 4 * nnodes;
    s->facts.max_per_node = 4;
    s->facts.attach = nnodes == 1;
    printf("  %-12s", where);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        size_t n;
        const struct brio_module *const *all = brio_registry((enum brio_framework)i, &n);
        struct brio_chosen chosen = {.module = NULL};
        (void)!brio_select((enum brio_framework)i, all, n, &s->facts, s->settings, &chosen);
        printf(" %s=%s", brio_framework_name((enum brio_framework)i),
               chosen.module ? chosen.module->name : "?");
        brio_chosen_free(&chosen);
    }
    printf("\n");
}

static BRIO_ERR prepare(const char *path, struct seen *s)
{
    static struct brio_asked asked;
    size_t n;
    const struct brio_module *const *all = brio_registry(BRIO_FS, &n);
    enum brio_err err = brio_settings_new(&s->settings);
    if (!err)
        err = brio_asked_collect(path, &asked);
    if (!err)
        err = brio_asked_settle(&asked, MPI_INFO_NULL, s->settings);
    brio_fs_probe(path, &s->facts);
    s->facts.nranks = s->facts.nnodes = s->facts.max_per_node = 1;
    s->facts.amode = MPI_MODE_RDWR;
    if (!err)
        err = brio_select(BRIO_FS, all, n, &s->facts, s->settings, &s->fs);
    if (!err && ((const struct brio_fs *)s->fs.module)->reach(path, s->fs.conf)) {
        s->facts.unreached = true;
        brio_chosen_free(&s->fs);
        err = brio_select(BRIO_FS, all, n, &s->facts, s->settings, &s->fs);
    }
    if (!err)
        snprintf(s->facts.store, sizeof s->facts.store, "%s",
                 ((const struct brio_fs *)s->fs.module)->store);
    return err;
}

/* 0, or 1 and a message on standard error. */
int brio_info_file(const char *name)
{
    static struct seen s;
    const char *path = brio_fs_split(name, s.facts.prefix);
    enum brio_err err = prepare(path, &s);
    brio_layout_plain(&s.layout);
    s.facts.nservers = 1;
    bool there = s.facts.exists || brio_fs_foreign(s.facts.prefix);
    if (!err && !there && strcmp(s.facts.fs_name, "unknown") == 0)
        err = brio_fail(BRIO_ENOENT, "neither the file nor its directory can be reached");
    if (!err && there)
        err = look(path, &s);
    if (err) {
        fprintf(stderr, "brio: %s: %s\n", name, brio_err_text());
    } else {
        if (there)
            printf("%s: %lld bytes\n", path, (long long)s.size);
        else
            printf("%s: not there yet; this is what its directory says\n", path);
        printf("  file system  %s, %s\n", s.facts.fs_name,
               s.facts.local ? "of this machine alone" : "of a network");
        printf("  blocks       ");
        brio_explain_size(stdout, s.facts.block_size);
        printf("\n");
        print_layout(&s);
        print_measured(path, &s.facts);
        print_choice(&s, 1, "one node");
        print_choice(&s, 4, "four nodes");
        printf("Why, and what becomes of an access: brio explain %s\n", name);
    }
    brio_chosen_free(&s.fs);
    brio_settings_free(s.settings);
    return err != BRIO_OK;
}
