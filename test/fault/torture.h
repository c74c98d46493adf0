/* What the torture program consists of: a workload that uses files in every way, and a
 * record of what each of its calls said, to be held against what is in the files. */
#ifndef BRIO_TEST_TORTURE_H
#define BRIO_TEST_TORTURE_H

#include <mpi.h>
#include <stdbool.h>

/* Where a rank's data are in the file: blocks of `block` bytes, `stride` apart. */
struct place {
    MPI_Offset base;
    int block, stride;
};

enum {
    STEPS = 128
};

struct step {
    const char *name;
    bool coll, data, write;
    int code;
    int len;         /* bytes asked for */
    MPI_Count bytes; /* bytes claimed */
    struct place at; /* data only */
    char *buf;       /* what was written or read; owned by the record */
};

struct record {
    int n;
    struct step steps[STEPS];
    bool split; /* in some collective call, some ranks failed and others did not */
    int wrong;  /* what the workload itself saw to be false */
};

extern int torture_rank, torture_nranks;

/* Uses files `path`.* in every way; goes on after a failure as far as that makes sense, on
 * all ranks alike. Collective. The files are there afterwards. */
void torture_work(const char *path, struct record *record);
void torture_forget(struct record *record);

/* Compares claims with the files, by plain system calls. The number of lies found. */
int torture_judge(const char *path, const struct record *record);

/* Says what is wrong, with rank and the fault under test in front; counts it. */
void torture_complain(struct record *record, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
