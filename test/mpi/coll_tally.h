/* What Brio asks of the MPI, counted: the library calls PMPI_ names, and the program's symbols
 * go first. What the program itself calls by MPI_ names is not counted. */
#ifndef BRIO_TEST_COLL_TALLY_H
#define BRIO_TEST_COLL_TALLY_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>

enum {
    TALLY_ALLTOALL,
    TALLY_OTHER, /* collectives: reductions, gathers, barriers, broadcasts */
    TALLY_SEND,
    TALLY_KINDS,
    TALLY_RANKS = 64
};

/* Threads of Brio's call the MPI, too. */
static struct {
    _Atomic int on;
    _Atomic long long calls[TALLY_KINDS];
    _Atomic long long bytes; /* given to the MPI to be sent */
    _Atomic long long
        to[TALLY_RANKS]; /* of them, those for one rank, by its rank in the world */
} tally;

static inline void tally_start(void)
{
    for (int i = 0; i < TALLY_KINDS; i++)
        tally.calls[i] = 0;
    for (int i = 0; i < TALLY_RANKS; i++)
        tally.to[i] = 0;
    tally.bytes = 0;
    tally.on = 1;
}

static inline void tally_stop(void)
{
    tally.on = 0;
}

static inline void tally_call(int kind, long long n, MPI_Datatype type)
{
    int size = 0;
    if (!tally.on)
        return;
    if (n > 0)
        MPI_Type_size(type, &size);
    tally.calls[kind]++;
    tally.bytes += n * size;
}

static inline void tally_letter(MPI_Comm comm, int rank, int n, MPI_Datatype type)
{
    MPI_Group group, all;
    int size, world = MPI_UNDEFINED;
    if (!tally.on || n == 0 || rank == MPI_PROC_NULL)
        return;
    MPI_Type_size(type, &size);
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(group, 1, &rank, all, &world);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    tally.bytes += (long long)n * size;
    if (world >= 0 && world < TALLY_RANKS)
        tally.to[world] += (long long)n * size;
}

static inline int tally_ranks(MPI_Comm comm)
{
    int n = 0;
    MPI_Comm_size(comm, &n);
    return n;
}

/* Defines the function: counts, and goes on with the MPI's own. */
#define TALLY(name, count, params, ...)                                                        \
    int name params                                                                            \
    {                                                                                          \
        typedef int fn params;                                                                 \
        static _Atomic(fn *) next;                                                             \
        if (!next)                                                                             \
            next = (fn *)dlsym(RTLD_NEXT, #name);                                              \
        count;                                                                                 \
        return ((fn *)next)(__VA_ARGS__);                                                      \
    }

/* The blocking form and the other one, with a request. */
#define BOTH(name, iname, count, params, args)                                                 \
    TALLY(name, count, (EACH params), EACH args)                                               \
    TALLY(iname, count, (EACH params, MPI_Request * req), EACH args, req)
#define EACH(...) __VA_ARGS__

static inline void tally_alltoallv(const int *n, MPI_Datatype type, MPI_Comm comm)
{
    tally_call(TALLY_ALLTOALL, 0, MPI_BYTE);
    for (int i = 0; tally.on && i < tally_ranks(comm); i++)
        tally_letter(comm, i, n[i], type);
}

static inline void tally_alltoallw(const int *n, const MPI_Datatype *type, MPI_Comm comm)
{
    tally_call(TALLY_ALLTOALL, 0, MPI_BYTE);
    for (int i = 0; tally.on && i < tally_ranks(comm); i++)
        tally_letter(comm, i, n[i], type[i]);
}

static inline void tally_send(int n, MPI_Datatype type, int to, MPI_Comm comm)
{
    tally_call(TALLY_SEND, 0, MPI_BYTE);
    tally_letter(comm, to, n, type);
}

#pragma GCC visibility push(default)

BOTH(PMPI_Alltoall, PMPI_Ialltoall,
     tally_call(TALLY_ALLTOALL, (long long)sn *tally_ranks(comm), st),
     (const void *sb, int sn, MPI_Datatype st, void *rb, int rn, MPI_Datatype rt,
      MPI_Comm comm),
     (sb, sn, st, rb, rn, rt, comm))
BOTH(PMPI_Alltoallv, PMPI_Ialltoallv, tally_alltoallv(sn, st, comm),
     (const void *sb, const int *sn, const int *sd, MPI_Datatype st, void *rb, const int *rn,
      const int *rd, MPI_Datatype rt, MPI_Comm comm),
     (sb, sn, sd, st, rb, rn, rd, rt, comm))
BOTH(PMPI_Alltoallw, PMPI_Ialltoallw, tally_alltoallw(sn, st, comm),
     (const void *sb, const int *sn, const int *sd, const MPI_Datatype *st, void *rb,
      const int *rn, const int *rd, const MPI_Datatype *rt, MPI_Comm comm),
     (sb, sn, sd, st, rb, rn, rd, rt, comm))
BOTH(PMPI_Allgather, PMPI_Iallgather, tally_call(TALLY_OTHER, rn, rt),
     (const void *sb, int sn, MPI_Datatype st, void *rb, int rn, MPI_Datatype rt,
      MPI_Comm comm),
     (sb, sn, st, rb, rn, rt, comm))
BOTH(PMPI_Allgatherv, PMPI_Iallgatherv, tally_call(TALLY_OTHER, rn[0], rt),
     (const void *sb, int sn, MPI_Datatype st, void *rb, const int *rn, const int *rd,
      MPI_Datatype rt, MPI_Comm comm),
     (sb, sn, st, rb, rn, rd, rt, comm))
BOTH(PMPI_Allreduce, PMPI_Iallreduce, tally_call(TALLY_OTHER, n, type),
     (const void *sb, void *rb, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sb, rb, n, type, op, comm))
BOTH(PMPI_Barrier, PMPI_Ibarrier, tally_call(TALLY_OTHER, 0, MPI_BYTE), (MPI_Comm comm), (comm))
BOTH(PMPI_Bcast, PMPI_Ibcast, tally_call(TALLY_OTHER, n, type),
     (void *b, int n, MPI_Datatype type, int root, MPI_Comm comm), (b, n, type, root, comm))
BOTH(PMPI_Send, PMPI_Isend, tally_send(n, type, to, comm),
     (const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (b, n, type, to, tag, comm))
BOTH(PMPI_Ssend, PMPI_Issend, tally_send(n, type, to, comm),
     (const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (b, n, type, to, tag, comm))

#pragma GCC visibility pop

/* What a library finds under these names is what is defined here. */
static inline int tally_works(void)
{
    static const char *const names[] = {
        "PMPI_Alltoall",   "PMPI_Ialltoall",   "PMPI_Alltoallv", "PMPI_Ialltoallv",
        "PMPI_Alltoallw",  "PMPI_Ialltoallw",  "PMPI_Allgather", "PMPI_Iallgather",
        "PMPI_Allgatherv", "PMPI_Iallgatherv", "PMPI_Allreduce", "PMPI_Iallreduce",
        "PMPI_Barrier",    "PMPI_Ibarrier",    "PMPI_Bcast",     "PMPI_Ibcast",
        "PMPI_Send",       "PMPI_Isend",       "PMPI_Ssend",     "PMPI_Issend"};
    int good = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Dl_info here, there;
        good &= dladdr(dlsym(RTLD_DEFAULT, names[i]), &there) && dladdr(&tally, &here) &&
                here.dli_fbase == there.dli_fbase;
    }
    return good;
}

#endif
