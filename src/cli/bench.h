/* What the parts of `brio bench` share: who is measured, the results, and how they are shown.
 * The measuring itself is done by the program brio-bench-<mpi> (bench/). */
#ifndef BRIO_CLI_BENCH_H
#define BRIO_CLI_BENCH_H

#include <stdio.h>

#include "cli/cli.h"

/* One that is measured: an MPI-IO library with its settings, or plain POSIX. */
struct brio_contender {
    const char *label;
    enum brio_mpi mpi;
    bool brio;              /* Brio is preloaded */
    const char *io;         /* Open MPI's io component, or NULL */
    const char *expect;     /* what the program must say did the I/O */
    struct brio_words args; /* of the program, for this one only */
};

struct brio_bench_plan {
    const char *workload;
    struct brio_words args; /* of the program, for all */
    struct brio_words launch;
    struct brio_contender *who;
    size_t nwho;
    int ranks, reps;
    int starts;       /* of the programs; each makes all repetitions, and all count */
    double limit;     /* seconds that one repetition may take */
    double slow;      /* microseconds that every call on the files takes longer */
    const char *dir;  /* where the files go */
    const char *file; /* beginning of their names */
    void (*progress)(void *self, const char *text, double part); /* of the whole, or NULL */
    void *self;
};

/* Who is to be measured, as the user says it (contenders.c). */
struct brio_choice {
    const char *workload;
    enum brio_mpi mpi;          /* Brio's and the limit's; unknown: whichever is there */
    const char *against;        /* comma-separated, or NULL */
    struct brio_words variants; /* LABEL:NAME=VALUE,... */
    struct brio_words each;     /* frameworks */
    struct brio_words sweeps;   /* NAME=A,B,... */
    /* A contender with a module that the library does not have is left out, and its name
     * added here; without, it is measured and fails. */
    struct brio_words *absent;
};

enum brio_bench_state {
    BRIO_BENCH_NOT_RUN,
    BRIO_BENCH_OK,
    BRIO_BENCH_GAVE_UP, /* took longer than the limit */
    BRIO_BENCH_FAILED
};

enum {
    BRIO_BENCH_WRITE,
    BRIO_BENCH_READ,
    BRIO_BENCH_DIRS
};

/* The repetitions of one contender in one direction. */
struct brio_bench_series {
    double *seconds; /* what counts: of the access, or from open to close */
    double *access;  /* of the access alone */
    size_t n;
    long long wrong; /* bytes */
    char *counts;    /* of the last repetition: name=value, separated by blanks, or NULL */
};

/* One contender in one case. */
struct brio_bench_cell {
    enum brio_bench_state state;
    char *io, *mpi, *modules; /* what really ran, or NULL */
    char *why;                /* it failed, in its own words, or NULL */
    struct brio_bench_series dir[BRIO_BENCH_DIRS];
};

struct brio_bench_case {
    char *name;
    double x;
    long long bytes;
    int calls;
    struct brio_bench_cell *cell; /* one for each contender */
};

struct brio_bench_result {
    struct brio_bench_case *c;
    size_t ncases;
    bool interrupted;
};

enum {
    BRIO_BENCH_RANKS = 16 /* numbers of ranks in one command */
};

/* A command line of brio bench. */
struct brio_bench_request {
    struct brio_bench_plan plan;
    struct brio_choice choice;
    int ranks[BRIO_BENCH_RANKS];
    size_t nranks;
    enum brio_bench_form {
        BRIO_BENCH_FORM_TABLE,
        BRIO_BENCH_FORM_JSON,
        BRIO_BENCH_FORM_CSV
    } form;
};

/* ---- bench.c -------------------------------------------------------------------------- */

/* From "bench", the workload and the options; false, after a message, if they cannot be used.
 */
bool brio_bench_parse(struct brio_bench_request *r, int argc, char **argv);

/* A directory of its own for the files, so that nothing is left and nothing overwritten: to be
 * removed by the caller, "" if the user named a file; NULL, after a message, if there is no way
 * to make it. */
char *brio_bench_place(struct brio_bench_plan *plan);

/* ---- bench_run.c ---------------------------------------------------------------------- */

/* False, after a message, if nothing could be measured. */
bool brio_bench_run(const struct brio_bench_plan *plan, struct brio_bench_result *out);
/* Set by a signal: whatever runs ends soon. */
bool brio_bench_interrupted(void);
void brio_bench_catch_signals(void);
/* A directory for pipes and messages, made when first asked for. */
const char *brio_bench_scratch(void);
void brio_bench_remove_scratch(void);

/* ---- bench_job.c: one contender's program ---------------------------------------------- */

struct brio_bench_job;

/* A line that the program printed, its words separated by tabs. */
typedef void brio_bench_line(void *self, char **word, size_t n);

/* Starts it at case `from`; NULL, after a message, if it cannot. `slot` numbers its files. */
struct brio_bench_job *brio_bench_start(const struct brio_bench_plan *plan, size_t slot,
                                        int from);
/* Waits until its ranks are there; false if they do not come. */
bool brio_bench_ready(struct brio_bench_job *job);

enum brio_bench_turn {
    BRIO_BENCH_DONE,
    BRIO_BENCH_LATE,
    BRIO_BENCH_ENDED
};
enum brio_bench_turn brio_bench_turn(struct brio_bench_job *job, double limit,
                                     brio_bench_line *line, void *self);
/* Ends it if it still runs and removes what it left. With `why`, shows what it said on standard
 * error, and keeps there what it said first. */
void brio_bench_stop(struct brio_bench_job *job, char **why);
/* The same for one that has done all: lets it end by itself. */
void brio_bench_finish(struct brio_bench_job *job);

/* ---- sample.c ------------------------------------------------------------------------- */

double brio_sample_median(const double *v, size_t n);
/* Half the distance of the quartiles, as a part of the median. */
double brio_sample_spread(const double *v, size_t n);

struct brio_ratio {
    double value, low, high; /* 95 % between low and high, by resampling */
    bool known;              /* there were enough repetitions for the interval */
    bool noise;              /* the interval holds 1, or is not known */
};
/* How much faster one is whose times are `a` than one whose times are `b`: each against the one
 * of the same round, for machines are faster at one time than at another. */
struct brio_ratio brio_sample_ratio(const double *a, size_t na, const double *b, size_t nb);

/* ---- bench_show.c ---------------------------------------------------------------------- */

/* The first of Brio's, with which the others are compared; -1 if there is none. */
int brio_bench_reference(const struct brio_bench_plan *plan);
double brio_bench_speed(const struct brio_bench_case *c, size_t who,
                        int dir); /* bytes a second */
void brio_bench_table(FILE *out, const struct brio_bench_plan *plan,
                      const struct brio_bench_result *r);
void brio_bench_csv(FILE *out, const struct brio_bench_plan *plan,
                    const struct brio_bench_result *r, bool head);
void brio_bench_json(FILE *out, const struct brio_bench_plan *plan,
                     const struct brio_bench_result *r);
/* The name of the file system of a directory. */
const char *brio_bench_filesystem(const char *dir);

#endif
