/* The thesis's benchmark (paper 000): LOOPS accesses by the shared file pointer, BYTES of all
 * ranks together each, a rank's share varied by up to VARIABILITY percent. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"bytes", "2m", "bytes of one loop, of all ranks together"},
    {"loops", "16", "loops; a case for each number"},
    {"mode", "1", "1 shared, 2 ordered, 3 nonblocking shared, 4 ordered begin and end"},
    {"variability", "0", "percent by which each access is shorter or longer, at most"},
    {"per-rank", "no", "--bytes are those of each rank (test series 4)"},
    {"total", "0",
     "bytes of the whole file; --bytes follows from it and --loops (series 3), or, with "
     "--per-rank, the loops from it and --bytes (series 4)"},
    {NULL, NULL, NULL},
};

enum {
    SHORTEST = 16 /* bytes that tell where they belong */
};

/* Where in the file a record was. */
struct place {
    long long off, len;
};

struct shared {
    int mode, variability;
    long long share; /* of a rank in one loop */
    long long span;  /* no record is longer; a multiple of 8 */
    int *lens;
    long long *places;   /* of records in the order of loops, and of ranks in each */
    struct place *found; /* where this rank's reads came from */
};

static int cases(const struct options *o)
{
    long long loops[LIST_MAX];
    int n = option_list(o, "loops", loops);
    for (int i = 0; i < n; i++)
        if (loops[i] < 1 || loops[i] > 1 << 24) {
            fprintf(stderr, "brio bench: --loops takes 1 to 16m\n");
            exit(2);
        }
    if (option_number(o, "bytes") < 1) {
        fprintf(stderr, "brio bench: --bytes takes at least 1\n");
        exit(2);
    }
    option_number(o, "total");
    if (!option_one_of(o, "mode", "1 2 3 4"))
        exit(2);
    if (option_number(o, "variability") > 100) {
        fprintf(stderr, "brio bench: --variability takes 0 to 100 percent\n");
        exit(2);
    }
    return n;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33, x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* The same on all ranks, for any rank. */
static int length_of(const struct shared *s, int who, int loop)
{
    long long range = s->share * s->variability / 100;
    uint64_t draw = mix((uint64_t)who << 32 | (uint64_t)loop);
    long long n = s->share - range;
    if (range > 0)
        n += (long long)(draw % (uint64_t)(2 * range + 1));
    return (int)n;
}

static void lay_out(struct job *job)
{
    struct shared *s = job->more;
    long long at = 0;
    s->lens = need_memory(job->calls * (long long)sizeof *s->lens);
    s->places = need_memory(job->calls * (long long)sizeof *s->places);
    for (int i = 0; i < job->calls; i++)
        for (int who = 0; who < nranks; who++) {
            int len = length_of(s, who, i);
            if (who == rank) {
                s->lens[i] = len;
                s->places[i] = at;
            }
            at += len;
        }
    job->lens = s->lens;
    job->places = s->places;
}

static void setup(struct job *job, int which)
{
    long long loops[LIST_MAX], bytes = option_number(job->opt, "bytes");
    long long total = option_number(job->opt, "total");
    struct shared *s = need_memory(sizeof *s);
    option_list(job->opt, "loops", loops);
    job->more = s;
    job->calls = (int)loops[which];
    bool per_rank = option_flag(job->opt, "per-rank");
    if (total > 0 && per_rank)
        job->calls = (int)(total / bytes / nranks > 0 ? total / bytes / nranks : 1);
    else if (total > 0)
        bytes = total / job->calls;
    s->share = per_rank ? bytes : bytes / nranks;
    s->mode = (int)option_number(job->opt, "mode");
    s->variability = (int)option_number(job->opt, "variability");
    if (s->share - s->share * s->variability / 100 < SHORTEST || s->share > 1 << 29)
        fail("a rank's share of a loop must be from 16 bytes to 512 MiB, the shortest, too");
    s->span = (s->share * 2 + 7) / 8 * 8;
    s->found = need_memory(job->calls * (long long)sizeof *s->found);
    job->bytes = s->span;
    lay_out(job);
    job->x = job->calls;
    snprintf(job->name, sizeof job->name, "%d loops of %lld B a rank, mode %d", job->calls,
             s->share, s->mode);
}

static void move_shared(struct job *job, int n, int write)
{
    must(write ? MPI_File_write_shared(job->fh, job->buf, n, MPI_BYTE, MPI_STATUS_IGNORE)
               : MPI_File_read_shared(job->fh, job->buf, n, MPI_BYTE, MPI_STATUS_IGNORE),
         "shared access");
}

static void move_ordered(struct job *job, int n, int write)
{
    must(write ? MPI_File_write_ordered(job->fh, job->buf, n, MPI_BYTE, MPI_STATUS_IGNORE)
               : MPI_File_read_ordered(job->fh, job->buf, n, MPI_BYTE, MPI_STATUS_IGNORE),
         "ordered access");
}

static void move_nonblocking(struct job *job, int n, int write)
{
    MPI_Request req;
    must(write ? MPI_File_iwrite_shared(job->fh, job->buf, n, MPI_BYTE, &req)
               : MPI_File_iread_shared(job->fh, job->buf, n, MPI_BYTE, &req),
         "nonblocking shared access");
    must(MPI_Wait(&req, MPI_STATUS_IGNORE), "MPI_Wait");
}

static void move_split(struct job *job, int n, int write)
{
    must(write ? MPI_File_write_ordered_begin(job->fh, job->buf, n, MPI_BYTE)
               : MPI_File_read_ordered_begin(job->fh, job->buf, n, MPI_BYTE),
         "beginning an ordered access");
    must(write ? MPI_File_write_ordered_end(job->fh, job->buf, MPI_STATUS_IGNORE)
               : MPI_File_read_ordered_end(job->fh, job->buf, MPI_STATUS_IGNORE),
         "ending an ordered access");
}

static void move(struct job *job, int call, int write)
{
    static void (*const moves[])(struct job *, int, int) = {move_shared, move_ordered,
                                                            move_nonblocking, move_split};
    const struct shared *s = job->more;
    moves[s->mode - 1](job, s->lens[call], write);
}

/* ---- Verification ------------------------------------------------------------------------ */

/* A file that stays open is gone through anew in each repetition. */
static void rewind_shared(struct job *job)
{
    if (!option_flag(job->opt, "whole"))
        must(MPI_File_seek_shared(job->fh, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
}

/* A record that is written carries the data of a place of its own, number times span, in a
 * file that nobody has: wherever it lies, it can be told which one it is. */
static void fill(struct job *job, int call)
{
    const struct shared *s = job->more;
    long long number = (long long)call * nranks + rank;
    if (call == 0)
        rewind_shared(job);
    data_fill(job->buf, number * s->span, s->lens[call], job->seed);
}

/* Whether record `number` may follow those seen so far; `next` is each rank's next loop. */
static bool in_order(const struct shared *s, long long number, long long before, int *next)
{
    if (s->mode % 2 == 0)
        return number == before;
    int who = (int)(number % nranks);
    return next[who]++ == number / nranks;
}

/* Rank 0 goes through the file from record to record. */
static long long walk_records(struct job *job, int fd, int *next)
{
    const struct shared *s = job->more;
    long long at = 0, wanted = (long long)job->calls * nranks;
    for (long long i = 0; i < wanted; i++) {
        ssize_t got = pread(fd, job->buf, (size_t)s->span, (off_t)at);
        long long off = got < SHORTEST ? -1 : data_find(job->buf, SHORTEST, job->seed);
        if (off < 0 || off % s->span != 0 || off / s->span >= wanted)
            return job->all - at;
        long long number = off / s->span;
        int len = length_of(s, (int)(number % nranks), (int)(number / nranks));
        if (got < len || data_check(job->buf, off, len, job->seed) != 0 ||
            !in_order(s, number, i, next))
            return job->all - at;
        at += len;
    }
    return job->all - at;
}

static long long verify(struct job *job)
{
    if (rank != 0)
        return 0;
    int fd = open(job->path, O_RDONLY);
    int *next = need_memory(nranks * (long long)sizeof *next);
    memset(next, 0, (size_t)nranks * sizeof *next);
    long long bad = fd < 0 ? job->all : walk_records(job, fd, next);
    free(next);
    if (fd >= 0)
        close(fd);
    return bad;
}

/* What is read says where in the file it lies. */
static void prepare(struct job *job)
{
    enum {
        PIECE = 1 << 20
    };
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char *piece = need_memory(PIECE);
        int fd = open(job->path, O_WRONLY | O_CREAT, 0666);
        if (fd < 0)
            fail("cannot make the file that is to be read");
        for (long long at = 0; at < job->all; at += PIECE) {
            long long n = job->all - at < PIECE ? job->all - at : PIECE;
            data_fill(piece, at, n, job->seed);
            if (pwrite(fd, piece, (size_t)n, (off_t)at) != n)
                fail("cannot fill the file that is to be read");
        }
        close(fd);
        free(piece);
    }
    rewind_shared(job);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

/* All ranks' reads together are the file, each byte once; ordered ones in the ranks' order. */
static long long check_cover(struct job *job)
{
    const struct shared *s = job->more;
    long long n = (long long)job->calls * nranks, at = 0;
    struct place *all = need_memory(rank == 0 ? n * (long long)sizeof *all : 1);
    struct place *turned = need_memory(rank == 0 ? n * (long long)sizeof *all : 1);
    MPI_Gather(s->found, 2 * job->calls, MPI_LONG_LONG, all, 2 * job->calls, MPI_LONG_LONG, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        for (long long i = 0; i < n; i++) /* by loops, then ranks */
            turned[i] = all[i % nranks * job->calls + i / nranks];
        if (s->mode % 2)
            qsort(turned, (size_t)n, sizeof *turned, by_place);
        for (long long i = 0; i < n && turned[i].off == at; i++)
            at += turned[i].len;
    }
    free(all);
    free(turned);
    return rank == 0 ? job->all - at : 0;
}

static long long check(struct job *job, int call)
{
    struct shared *s = job->more;
    long long len = s->lens[call], off = data_find(job->buf, len, job->seed);
    s->found[call] = (struct place){off, len};
    return (off < 0 ? len : 0) + (call == job->calls - 1 ? check_cover(job) : 0);
}

static void finish(struct job *job)
{
    struct shared *s = job->more;
    free(s->lens);
    free(s->places);
    free(s->found);
    free(s);
}

const struct workload work_sharedfp = {
    .name = "sharedfp",
    .about = "loops of accesses by the shared file pointer (paper 000)",
    .options = options,
    .whole = true,
    .cases = cases,
    .setup = setup,
    .open = open_file,
    .look = open_file,
    .move = move,
    .close = close_file,
    .fill = fill,
    .check = check,
    .verify = verify,
    .prepare = prepare,
    .finish = finish,
};
