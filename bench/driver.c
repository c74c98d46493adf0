/* Runs the cases of a workload: takes turns with other programs, times, verifies, prints one
 * line for each thing that the brio command wants to know. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "count.h"

int rank, nranks;

/* How this run is driven. */
static struct {
    int turns;       /* a pipe that gives a byte to each rank of this node, or -1 */
    bool reads_pipe; /* this rank is on the node of rank 0 */
    double paused;   /* seconds that do not count */
    double pause_began;
} run = {.turns = -1};

struct timing {
    double access, whole;
    struct counts counts;
    long long wrong;
};

void fail(const char *what)
{
    fprintf(stderr, "brio bench: rank %d: %s\n", rank, what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void must(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING + 128], why[MPI_MAX_ERROR_STRING] = "";
    int len;
    MPI_Error_string(rc, why, &len);
    snprintf(text, sizeof text, "%s failed: %s", what, why);
    fail(text);
}

/* What is short begins at a page for all contenders: where malloc puts it is chance, and the
 * kernel copies a fifth more slowly to some places. (What is long is 16 bytes behind one for
 * all.) */
void *need_memory(long long bytes)
{
    enum {
        PAGE = 4096,
        SHORT = 128 << 10
    };
    void *p = NULL;
    if (bytes >= SHORT)
        p = malloc((size_t)bytes);
    else if (posix_memalign(&p, PAGE, bytes > 0 ? (size_t)bytes : 1) != 0)
        p = NULL;
    if (!p)
        fail("not enough memory");
    return p;
}

/* MPI_Wtime may count from another moment on each rank. */
double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void nothing(struct job *job)
{
    (void)job;
}

void open_file(struct job *job)
{
    must(MPI_File_open(MPI_COMM_WORLD, job->path, job->amode, job->info, &job->fh),
         "MPI_File_open");
}

void close_file(struct job *job)
{
    must(MPI_File_close(&job->fh), "MPI_File_close");
}

long long lens_at(const struct job *job, int call)
{
    return job->lens ? job->lens[call] : job->bytes;
}

void access_at(struct job *job, int write, MPI_Offset off, void *buf, int count,
               MPI_Datatype type)
{
    MPI_Status status;
    int got;
    if (job->access == ACCESS_COLLECTIVE)
        must(write ? MPI_File_write_at_all(job->fh, off, buf, count, type, &status)
                   : MPI_File_read_at_all(job->fh, off, buf, count, type, &status),
             write ? "MPI_File_write_at_all" : "MPI_File_read_at_all");
    else
        must(write ? MPI_File_write_at(job->fh, off, buf, count, type, &status)
                   : MPI_File_read_at(job->fh, off, buf, count, type, &status),
             write ? "MPI_File_write_at" : "MPI_File_read_at");
    MPI_Get_count(&status, type, &got);
    if (got != count)
        fail(write ? "not all was written" : "not all was read");
}

void access_pieces(struct job *job, int call, int write)
{
    char *at = job->buf;
    for (long long i = 0, len; i < job->nruns; i++, at += len) {
        long long off = job->run(job, call, i, &len);
        access_at(job, write, off, at, (int)len, MPI_BYTE);
    }
}

/* ---- Turns ------------------------------------------------------------------------------- */

static void open_turns(const char *path)
{
    MPI_Comm node;
    int mine = rank, first, here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    if (*path && first == 0) {
        run.turns = open(path, O_RDONLY | O_CLOEXEC);
        if (run.turns < 0)
            fail("cannot open the pipe that gives the turns");
    }
    if (rank == 0) {
        printf("node\t%d\n", here);
        fflush(stdout);
    }
}

/* Waits without using the core: others are being measured. */
static void take_turn(void)
{
    char byte;
    ssize_t n = 1;
    if (run.turns >= 0)
        while ((n = read(run.turns, &byte, 1)) < 0 && errno == EINTR)
            ;
    if (n != 1)
        fail("the command that gives the turns is gone");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end_turn(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("turn\n");
        fflush(stdout);
    }
}

/* ---- One repetition ------------------------------------------------------------------------
 */

static void pause_clock(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    run.pause_began = now();
}

static void resume_clock(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    run.paused += now() - run.pause_began;
}

static double clock_now(void)
{
    return now() - run.paused;
}

static void move_all(struct job *job, const struct workload *ops, int write, bool look,
                     struct timing *t)
{
    job->done = 0;
    for (int i = 0; i < job->calls; i++) {
        if (look) {
            pause_clock();
            if (write)
                ops->fill(job, i);
            else
                memset(job->buf, 0xa5, (size_t)job->bytes);
            resume_clock();
        }
        ops->move(job, i, write);
        if (look && !write) {
            pause_clock();
            t->wrong += ops->check(job, i);
            resume_clock();
        }
        job->done += lens_at(job, i);
    }
    if (write && option_flag(job->opt, "sync")) {
        if (job->fd >= 0 && fsync(job->fd) != 0)
            fail("fsync failed");
        if (job->fh != MPI_FILE_NULL)
            must(MPI_File_sync(job->fh), "MPI_File_sync");
    }
}

/* From when the first rank began until the last is done: with more ranks than cores they do
 * not begin together. */
static void settle(const double mark[4], struct timing *t)
{
    double mine[4] = {-mark[0], -mark[1], mark[2], mark[3]}, all[4];
    MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    t->access = all[2] + all[1];
    t->whole = all[3] + all[0];
    counts_share(&t->counts);
}

static void move_timed(struct job *job, const struct workload *ops, int write, bool look,
                       struct timing *t)
{
    bool whole = option_flag(job->opt, "whole");
    double mark[4];
    memset(t, 0, sizeof *t);
    struct counts before = {{0}};
    if (!look && write)
        ops->fill(job, 0);
    if (whole)
        job->amode = write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    run.paused = 0;
    counts_file(&before, job->fh); /* before it is opened, none */
    counts_system(&before);
    MPI_Barrier(MPI_COMM_WORLD);
    mark[0] = clock_now();
    if (whole)
        ops->open(job);
    mark[1] = clock_now();
    move_all(job, ops, write, look, t);
    mark[2] = clock_now();
    double counting = now(); /* takes as long as a dozen short accesses */
    counts_file(&t->counts, job->fh);
    run.paused += now() - counting;
    if (whole)
        ops->close(job);
    mark[3] = clock_now();
    counts_system(&t->counts);
    counts_subtract(&t->counts, &before);
    settle(mark, t);
}

/* For tests of this program: one byte of the file becomes another. */
static void spoil(const struct job *job)
{
    char byte = 0;
    long long at = job->all / 2;
    int fd = open(job->path, O_RDWR);
    if (fd < 0 || pread(fd, &byte, 1, at) != 1)
        fail("there is no file to spoil");
    byte = (char)~byte;
    if (pwrite(fd, &byte, 1, at) != 1)
        fail("cannot spoil the file");
    close(fd);
}

static void verify_file(struct job *job, const struct workload *ops, struct timing *t)
{
    if (job->fh != MPI_FILE_NULL)
        must(MPI_File_sync(job->fh), "MPI_File_sync");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && option_flag(job->opt, "spoil"))
        spoil(job);
    MPI_Barrier(MPI_COMM_WORLD);
    t->wrong += ops->verify(job);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_file(const struct job *job)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(job->path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank, for its node. Pages that are mapped or not yet written cannot be dropped. */
static void forget_file(const struct job *job)
{
    int fd = open(job->path, O_RDONLY | O_CLOEXEC);
    MPI_Barrier(MPI_COMM_WORLD);
    if (fd >= 0) {
        fsync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
}

/* Prints one line; true if bytes were wrong. */
static bool tell(const char *dir, int rep, const struct timing *t)
{
    long long wrong;
    MPI_Allreduce(&t->wrong, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("time\t%d\t%s\t%.9f\t%.9f\t%lld\t", rep, dir, t->access, t->whole, wrong);
        counts_print(&t->counts);
        printf("\n");
    }
    return wrong != 0;
}

static bool repeat(struct job *job, const struct workload *ops, int rep)
{
    struct timing t;
    bool look = rep < 0 || option_flag(job->opt, "verify"), wrong = false;
    job->seed = (uint64_t)(rep + 2);
    if (!option_is(job->opt, "only", "read") || rep < 0) {
        if (option_flag(job->opt, "fresh"))
            remove_file(job);
        move_timed(job, ops, 1, look, &t);
        if (look)
            verify_file(job, ops, &t);
        wrong |= tell("write", rep, &t);
    }
    if (!option_is(job->opt, "only", "write")) {
        ops->prepare(job);
        if (option_flag(job->opt, "cold"))
            forget_file(job);
        MPI_Barrier(MPI_COMM_WORLD);
        move_timed(job, ops, 0, look && (rep < 0 || !option_is(job->opt, "only", "read")), &t);
        wrong |= tell("read", rep, &t);
    }
    return wrong;
}

/* ---- A case --------------------------------------------------------------------------------
 */

static void library(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", *digit;
    int len;
    MPI_Get_library_version(text, &len);
    digit = strpbrk(text, "0123456789");
    const char *name = strncmp(text, "MPICH", 5) == 0 ? "MPICH" : "Open MPI";
    if (digit)
        digit[strspn(digit, "0123456789.")] = '\0';
    snprintf(out, size, "%s %s", name, digit ? digit : "");
}

static bool info_value(MPI_Info info, const char *key, char *out)
{
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, out, &found);
    return found != 0;
}

struct components {
    bool ompio, romio;
};

static int note_component(struct dl_phdr_info *object, size_t size, void *data)
{
    struct components *c = data;
    (void)size;
    c->ompio |= strstr(object->dlpi_name, "mca_io_ompio") != NULL;
    c->romio |= strstr(object->dlpi_name, "mca_io_romio") != NULL;
    return 0;
}

/* ROMIO tells its hints, but not through every Open MPI; there it shows which of the two
 * components was loaded, if only one was. */
static bool is_romio(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL];
    struct components c = {false, false};
    dl_iterate_phdr(note_component, &c);
    return c.romio != c.ompio ? c.romio : info_value(info, "romio_cb_write", value);
}

/* Which MPI-IO it is really, and which modules of it, asked of an open file. */
static void tell_io(const struct job *job)
{
    static const char *const frameworks[] = {"brio_fs", "brio_fbtl", "brio_cache", "brio_fcoll",
                                             "brio_sharedfp"};
    char mpi[64], value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    library(mpi, sizeof mpi);
    if (job->fh == MPI_FILE_NULL) {
        if (rank == 0)
            printf("io\tPOSIX\t%s\t\n", mpi);
        return;
    }
    must(MPI_File_get_info(job->fh, &info), "MPI_File_get_info");
    if (rank == 0) {
        if (info_value(info, "brio_version", value)) {
            printf("io\tBrio %s\t%s\t", value, mpi);
            for (size_t i = 0; i < sizeof frameworks / sizeof frameworks[0]; i++)
                if (info_value(info, frameworks[i], value))
                    printf("%s=%s ", frameworks[i] + strlen("brio_"), value);
            printf("\n");
        } else {
            printf("io\t%s\t%s\t\n", is_romio(info) ? "ROMIO" : "OMPIO", mpi);
        }
    }
    MPI_Info_free(&info);
}

static void set_up(struct job *job, const struct workload **ops, int which)
{
    const struct workload *work = job->work;
    work->setup(job, which);
    job->mine = 0;
    for (int i = 0; i < job->calls; i++)
        job->mine += lens_at(job, i);
    MPI_Exscan(&job->mine, &job->here, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&job->mine, &job->all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        job->here = 0;
    job->buf = need_memory(job->bytes);
    job->amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    if (option_flag(job->opt, "whole"))
        job->amode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
    *ops = work;
    if (!option_is(job->opt, "plain", "no")) {
        *ops = &plain_work;
        setup_plain(job);
    }
    remove_file(job);
    (*ops)->look(job);
    tell_io(job);
    if (option_flag(job->opt, "whole"))
        (*ops)->close(job);
    if (rank == 0)
        printf("case\t%d\t%d\t%.10g\t%lld\t%d\t%s\n", which, work->cases(job->opt), job->x,
               job->all, job->calls, job->name);
}

static void tear_down(struct job *job, const struct workload *ops)
{
    if (!option_flag(job->opt, "whole"))
        ops->close(job);
    ops->finish(job);
    if (ops != job->work)
        job->work->finish(job);
    free(job->buf);
    remove_file(job);
}

static MPI_Info make_info(const struct options *o)
{
    MPI_Info info;
    must(MPI_Info_create(&info), "MPI_Info_create");
    for (int i = 0; i < o->nhints; i++) {
        char name[128];
        size_t len = strcspn(o->hint[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)len, o->hint[i]);
        must(MPI_Info_set(info, name, o->hint[i] + len + 1), name);
    }
    return info;
}

int drive(const struct workload *work, const struct options *o)
{
    int cases = work->cases(o), reps = (int)option_number(o, "reps");
    bool wrong = false;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    open_turns(option_text(o, "turns"));
    counts_find();
    MPI_Info info = make_info(o);
    for (int i = (int)option_number(o, "from"); i < cases; i++) {
        struct job job = {.work = work, .opt = o, .fd = -1, .fh = MPI_FILE_NULL, .info = info};
        const struct workload *ops;
        job.path = option_text(o, "file");
        take_turn();
        set_up(&job, &ops, i);
        end_turn();
        for (int rep = -1; rep < reps; rep++) {
            take_turn();
            wrong |= repeat(&job, ops, rep);
            end_turn();
        }
        take_turn();
        tear_down(&job, ops);
        end_turn();
    }
    MPI_Info_free(&info);
    return wrong;
}
