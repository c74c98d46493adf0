/* What the additional process of paper 000 does: it keeps the shared pointers of many files
 * and answers six kinds of demands, one after the other. Pure. */
#ifndef BRIO_SHAREDFP_SERVICE_H
#define BRIO_SHAREDFP_SERVICE_H

#include "base/base.h"

/* The tag of the message says which. */
enum brio_demand {
    BRIO_DEMAND_OFFSET = 1, /* adds n, answers the value before */
    BRIO_DEMAND_END,        /* the file is closed; file -1: the service is over */
    BRIO_DEMAND_SEEK_END,   /* to n after the furthest place that was given out */
    BRIO_DEMAND_SEEK_CUR,   /* by n */
    BRIO_DEMAND_SEEK_SET,   /* to n */
    BRIO_DEMAND_POSITION,   /* answers the value; n is ignored */
    BRIO_DEMANDS
};

/* A message to the service. */
struct brio_demand_words {
    int64_t file; /* a small number, chosen by those who open */
    int64_t n;
};

struct brio_service {
    struct brio_served {
        int64_t value, furthest;
    } * files;
    int64_t nfiles;
    bool over;
};

enum {
    BRIO_ANSWER_TOO_FAR = -2
};

/* Answers a demand with a value of the file's: before OFFSET, after all others; a seek to
 * before the beginning goes nowhere and answers -1, as does what makes no sense, and an OFFSET
 * to beyond all numbers BRIO_ANSWER_TOO_FAR. */
int64_t brio_serve(struct brio_service *s, int demand, const struct brio_demand_words *words);
void brio_service_free(struct brio_service *s);

#endif
