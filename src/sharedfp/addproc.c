/* The shared pointer in the memory of an additional process (paper 000): any file system, any
 * placement, no windows needed. A process is started by the first open of a group of ranks,
 * serves all their files, and ends with MPI_Finalize. */
#include "sharedfp/addproc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "comm/real.h"
#include "comm/verdict.h"
#include "sharedfp/service.h"
#include "sharedfp/sharedfp.h"

enum {
    MOST_FILES = 1024 /* open at one time */
};

/* A process and the group of ranks that it serves. */
struct server {
    MPI_Comm team;          /* a duplicate that outlives the files */
    MPI_Comm inter;         /* the process is rank 0 of the remote group */
    pthread_mutex_t lock;   /* a demand and its answer; what follows */
    bool taken[MOST_FILES]; /* file numbers; rank 0's counts */
    struct server *older;
};

struct pointer {
    struct server *server;
    MPI_Comm comm;
    int64_t file;
    bool first; /* rank 0 */
};

/* Opens of one group are in the same order on all its ranks, and so are these. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct server *newest;

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)facts, (void)conf;
    return brio_answer(15, "works anywhere, but costs one more process");
}

/* The program lies beside the library, or where BRIO_SERVER says. */
static BRIO_ERR find_program(char *out, size_t size)
{
    const char *asked = getenv("BRIO_SERVER");
    Dl_info here;
    if (asked && *asked) {
        snprintf(out, size, "%s", asked);
    } else {
        if (!dladdr((void *)&newest, &here) || !here.dli_fname)
            return brio_fail(BRIO_EUNSUPOP, "the library does not know where it is");
        const char *slash = strrchr(here.dli_fname, '/');
        int dir = slash ? (int)(slash - here.dli_fname) + 1 : 0;
        snprintf(out, size, "%.*sbrio-server-" BRIO_MPI_NAME, dir, here.dli_fname);
    }
    if (access(out, X_OK) != 0)
        return brio_fail(BRIO_EUNSUPOP, "no program %s", out);
    return BRIO_OK;
}

/* Without a process manager MPICH would wait for one that never comes. */
static BRIO_ERR check_manager(void)
{
    if (strcmp(BRIO_MPI_NAME, "mpich") == 0 && !getenv("PMI_FD") && !getenv("PMI_PORT") &&
        !getenv("PMIX_RANK") && !getenv("PMI_RANK"))
        return brio_fail(BRIO_EUNSUPOP, "no process manager that could start a process");
    return BRIO_OK;
}

/* Collective. */
static BRIO_ERR spawn(struct server *s, const struct brio_team *team)
{
    char program[4096] = "";
    enum brio_err err = BRIO_OK;
    if (team->rank == 0) {
        err = check_manager();
        if (!err)
            err = find_program(program, sizeof program);
    }
    err = brio_follow(team, err);
    if (err)
        return err;
    s->team = MPI_COMM_NULL;
    if (PMPI_Comm_dup(team->comm, &s->team) != MPI_SUCCESS)
        err = brio_fail(BRIO_EUNSUPOP, "the communicator cannot be duplicated");
    else if (PMPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, s->team, &s->inter,
                             MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        err = brio_fail(BRIO_EUNSUPOP, "no process can be started");
    err = brio_agree(team, err);
    if (err) {
        if (s->team != MPI_COMM_NULL)
            PMPI_Comm_free(&s->team);
        return BRIO_EUNSUPOP;
    }
    PMPI_Comm_set_errhandler(s->inter, MPI_ERRORS_RETURN);
    return BRIO_OK;
}

/* With the lock held. The process of a group that these ranks are, in the same order. */
static struct server *find_server(MPI_Comm comm)
{
    struct server *s = newest;
    for (; s; s = s->older) {
        int same;
        PMPI_Comm_compare(comm, s->team, &same);
        if (same == MPI_CONGRUENT)
            break;
    }
    return s;
}

/* Collective. */
static BRIO_ERR need_server(const struct brio_team *team, struct server **out)
{
    pthread_mutex_lock(&list_lock);
    struct server *s = find_server(team->comm);
    pthread_mutex_unlock(&list_lock);
    if (s) {
        *out = s;
        return BRIO_OK;
    }
    enum brio_err err = brio_agree(team, brio_calloc(1, sizeof *s, (void **)&s));
    if (!err)
        err = spawn(s, team);
    if (err) {
        free(s);
        return err;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_lock(&list_lock);
    s->older = newest;
    newest = s;
    pthread_mutex_unlock(&list_lock);
    *out = s;
    return BRIO_OK;
}

static BRIO_ERR demand(struct server *s, enum brio_demand what, int64_t file, int64_t n,
                       brio_off *answer)
{
    struct brio_demand_words words = {.file = file, .n = n};
    int64_t value = -1;
    pthread_mutex_lock(&s->lock);
    MPI_Request answered;
    int err = PMPI_Irecv(&value, 1, MPI_INT64_T, 0, (int)what, s->inter, &answered);
    if (err == MPI_SUCCESS)
        err = PMPI_Send(&words, 2, MPI_INT64_T, 0, (int)what, s->inter);
    /* The process has no core of its own: a rank that waits gives it its own. */
    while (err == MPI_SUCCESS && !brio_real_test(&answered))
        sched_yield();
    pthread_mutex_unlock(&s->lock);
    if (err != MPI_SUCCESS || value < 0)
        return brio_fail(BRIO_EINTERN, "the process that keeps the shared pointer fails");
    *answer = value;
    return BRIO_OK;
}

static BRIO_ERR set(void *self, brio_off value)
{
    struct pointer *p = self;
    brio_off at;
    return demand(p->server, BRIO_DEMAND_SEEK_SET, p->file, value, &at);
}

/* On rank 0. */
static BRIO_ERR take_file(struct server *s, int64_t *out)
{
    int64_t file = 0;
    pthread_mutex_lock(&s->lock);
    while (file < MOST_FILES && s->taken[file])
        file++;
    if (file < MOST_FILES)
        s->taken[file] = true;
    pthread_mutex_unlock(&s->lock);
    if (file == MOST_FILES)
        return brio_fail(BRIO_EUNSUPOP, "more than %d files at one time", MOST_FILES);
    *out = file;
    return BRIO_OK;
}

static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    struct brio_team team = {.comm = env->comm};
    struct pointer *p = NULL;
    (void)conf;
    PMPI_Comm_rank(env->comm, &team.rank);
    PMPI_Comm_size(env->comm, &team.nranks);
    enum brio_err err = brio_agree(&team, brio_calloc(1, sizeof *p, (void **)&p));
    if (!err)
        err = need_server(&team, &p->server);
    if (err) {
        free(p);
        return err;
    }
    p->comm = env->comm;
    p->first = team.rank == 0;
    if (p->first)
        err = take_file(p->server, &p->file);
    if (p->first && !err)
        err = set(p, env->start);
    PMPI_Bcast(&p->file, 1, MPI_INT64_T, 0, env->comm);
    err = brio_follow(&team, err);
    if (err)
        free(p);
    else
        *self = p;
    return err;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct pointer *p = self;
    return demand(p->server, n ? BRIO_DEMAND_OFFSET : BRIO_DEMAND_POSITION, p->file, n, old);
}

/* Collective: the number is free for another file when all are through with this one. */
static void close_pointer(void *self)
{
    struct pointer *p = self;
    brio_off answer;
    PMPI_Barrier(p->comm);
    if (p->first && demand(p->server, BRIO_DEMAND_END, p->file, 0, &answer) == BRIO_OK) {
        pthread_mutex_lock(&p->server->lock);
        p->server->taken[p->file] = false;
        pthread_mutex_unlock(&p->server->lock);
    }
    free(p);
}

void brio_addproc_finalize(void)
{
    pthread_mutex_lock(&list_lock);
    struct server *s = newest, *oldest = NULL;
    newest = NULL;
    pthread_mutex_unlock(&list_lock);
    while (s) { /* in the order of their making: the same on all ranks of each */
        struct server *older = s->older;
        s->older = oldest;
        oldest = s;
        s = older;
    }
    while (oldest) {
        int rank;
        brio_off answer;
        s = oldest;
        oldest = s->older;
        PMPI_Barrier(s->team); /* nobody has a demand left */
        PMPI_Comm_rank(s->team, &rank);
        if (rank == 0 && demand(s, BRIO_DEMAND_END, -1, 0, &answer) != BRIO_OK)
            answer = -1;
        PMPI_Comm_disconnect(&s->inter);
        PMPI_Comm_free(&s->team);
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
}

const struct brio_sharedfp brio_sharedfp_addproc = {
    .base = {.name = "addproc",
             .about = "number in an additional process that answers the ranks",
             .query = query},
    .open = open_pointer,
    .add = add,
    .set = set,
    .close = close_pointer,
};
