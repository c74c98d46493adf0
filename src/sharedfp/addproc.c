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

#include "base/log.h"
#include "base/mem.h"
#include "comm/real.h"
#include "sharedfp/circle.h"
#include "sharedfp/service.h"
#include "sharedfp/sharedfp.h"

/* A process and the group of ranks that it serves. */
struct server {
    struct brio_circle circle; /* first */
    MPI_Comm inter;            /* the process is rank 0 of the remote group */
    pthread_mutex_t lock;      /* a demand and its answer */
};

struct pointer {
    struct server *server;
    int file;
    bool first;  /* rank 0 */
    bool marked; /* the process knows of the file before it is used */
};

static struct brio_circles servers = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
        if (!dladdr((void *)&servers, &here) || !here.dli_fname)
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
static BRIO_ERR spawn(struct server *s)
{
    const struct brio_team *team = &s->circle.team;
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
    if (PMPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, team->comm, &s->inter,
                        MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return brio_fail(BRIO_EUNSUPOP, "no process can be started");
    PMPI_Comm_set_errhandler(s->inter, MPI_ERRORS_RETURN);
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
    if (err == MPI_SUCCESS && value == BRIO_ANSWER_TOO_FAR)
        return brio_fail(BRIO_EARG, "the shared pointer cannot go on by %lld", (long long)n);
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

static void end_server(struct server *s)
{
    brio_off answer;
    if (!s->circle.refused) {
        PMPI_Barrier(s->circle.team.comm); /* nobody has a demand left */
        if (s->circle.team.rank == 0 && demand(s, BRIO_DEMAND_END, -1, 0, &answer) != BRIO_OK)
            brio_log(BRIO_NOTE, "%s", brio_err_text());
        PMPI_Comm_disconnect(&s->inter);
    }
    pthread_mutex_destroy(&s->lock);
    brio_circle_free(&s->circle);
}

/* Collective. */
static BRIO_ERR new_server(const struct brio_team *team, struct server **out)
{
    struct server *s = NULL;
    enum brio_err err = brio_agree(team, brio_calloc(1, sizeof *s, (void **)&s));
    if (!err)
        err = brio_agree(team, brio_circle_init(&s->circle, team));
    if (err) {
        if (s)
            brio_circle_free(&s->circle);
        return err;
    }
    pthread_mutex_init(&s->lock, NULL);
    err = brio_circle_made(&servers, &s->circle, spawn(s));
    if (err && !s->circle.kept)
        end_server(s);
    if (!err)
        *out = s;
    return err;
}

/* Collective. */
static BRIO_ERR need_server(const struct brio_team *team, enum brio_err mine,
                            struct server **out, int *file)
{
    struct brio_circle *known;
    enum brio_err err = brio_circle_find(&servers, team, mine, &known, file);
    if (err)
        return err;
    if (known && known->refused)
        return brio_fail(BRIO_EUNSUPOP, "no process can be started");
    if (known) {
        *out = (struct server *)known;
        return BRIO_OK;
    }
    *file = 0;
    return new_server(team, out);
}

/* Collective, when all are through with the file. */
static void leave(struct pointer *p)
{
    if (p->server->circle.kept)
        brio_circle_leave(&servers, &p->server->circle, p->file);
    else
        end_server(p->server);
    free(p);
}

/* Collective. A number that nobody has used begins at 0. */
static BRIO_ERR open_pointer(const struct brio_sharedfp_env *env, const void *conf, void **self)
{
    struct pointer *p = NULL;
    struct server *server = NULL;
    int file = 0;
    (void)conf;
    enum brio_err err = brio_calloc(1, sizeof *p, (void **)&p);
    err = need_server(env->team, err, &server, &file);
    if (err) {
        free(p);
        return err;
    }
    *p = (struct pointer){.server = server, .file = file, .first = env->team->rank == 0};
    p->marked = env->start > 0;
    if (p->marked) {
        err = brio_follow(env->team, p->first ? set(p, env->start) : BRIO_OK);
        if (err) {
            leave(p);
            return err;
        }
    }
    *self = p;
    return BRIO_OK;
}

static BRIO_ERR add(void *self, brio_off n, brio_off *old)
{
    struct pointer *p = self;
    return demand(p->server, n ? BRIO_DEMAND_OFFSET : BRIO_DEMAND_POSITION, p->file, n, old);
}

/* A process that does not answer any more keeps the number. */
static void close_pointer(void *self, bool used)
{
    struct pointer *p = self;
    brio_off answer;
    if (p->first && (used || p->marked) &&
        demand(p->server, BRIO_DEMAND_END, p->file, 0, &answer) != BRIO_OK) {
        brio_log(BRIO_NOTE, "%s", brio_err_text());
        free(p);
        return;
    }
    leave(p);
}

void brio_addproc_finalize(void)
{
    struct brio_circle *c;
    while ((c = brio_circles_take(&servers)))
        end_server((struct server *)c);
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
