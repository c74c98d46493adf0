/* The papers' experiments, as `brio bench` commands with what the papers found. */
#ifndef BRIO_CLI_EXPERIMENTS_H
#define BRIO_CLI_EXPERIMENTS_H

#include <stddef.h>

enum brio_relation {
    BRIO_FASTER,      /* a is faster than b, by more than a twentieth, over all points */
    BRIO_NOT_SLOWER,  /* a is not slower than b by more than a twentieth */
    BRIO_ALIKE,       /* neither is more than a quarter faster */
    BRIO_FLAT,        /* a's fastest point is less than twice its slowest */
    BRIO_CHANGES,     /* it is not: b is not looked at */
    BRIO_GROWS_LESS,  /* a's last value is fewer times its first than x is */
    BRIO_FEWER_CALLS, /* a needs fewer system calls that write than b */
    BRIO_WITHIN_10, /* the automatic choice is within 10 % of the best in b percent of cases */
    BRIO_WITHIN_25,
    BRIO_FEW_NEAR /* at most b percent of all contenders are within 25 % of the best */
};

/* One sentence of a paper that measurements can agree with or not. */
struct brio_claim {
    const char *said;
    const char *a; /* labels of contenders */
    enum brio_relation relation;
    const char *b;
};

enum {
    BRIO_CLAIMS = 4
};

enum brio_axis {
    BRIO_BY_CASE,
    BRIO_BY_RANKS
};

struct brio_experiment {
    const char *id;    /* paper.number */
    const char *title; /* with the paper's own number of it */
    const char *found; /* in words */
    const char *sizes; /* the paper's, in words */
    double bytes;      /* of the paper's largest file; 0: as here */
    const char *words; /* of brio bench */
    const char *space; /* or a space that brio tune searches (study.h), with these options: */
    const char *quick, *full;
    enum brio_axis axis;
    const char *xlabel;
    const char *counter; /* what is shown instead of MB/s, in milliseconds a rank; or NULL */
    const char *beside;  /* another such counter, as elapsed time; or NULL */
    double seconds[2];   /* what quick and full take on two cores, roughly */
    struct brio_claim claim[BRIO_CLAIMS];
};

extern const struct brio_experiment brio_experiments[];
extern const size_t brio_nexperiments;

/* A paper's name, by its number. */
const char *brio_paper_name(const char *number);

#endif
