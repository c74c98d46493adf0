/* Ranks that open files together, and what they keep from one file to the next because it is
 * dear to make: a window, a process. */
#ifndef BRIO_SHAREDFP_CIRCLE_H
#define BRIO_SHAREDFP_CIRCLE_H

#include <pthread.h>

#include "comm/verdict.h"

enum {
    BRIO_CIRCLE_FILES = 64 /* at one time */
};

struct brio_circle {
    struct brio_team team;         /* a duplicate that outlives the files */
    int64_t id;                    /* the same on all its ranks */
    bool kept;                     /* beyond the file that it was made for */
    bool refused;                  /* what was to be kept cannot be had */
    bool taken[BRIO_CIRCLE_FILES]; /* numbers of files; rank 0's counts */
    struct brio_circle *older;
};

/* Those of one module. */
struct brio_circles {
    pthread_mutex_t lock;
    struct brio_circle *newest;
    int n;
    int64_t last_id;
};

/* Collective, one agreement, in which `mine` is everybody's. The circle of these ranks, and a
 * number in it for one more file; NULL if one must be made. A circle that was refused has no
 * numbers. */
BRIO_ERR brio_circle_find(struct brio_circles *all, const struct brio_team *team,
                          enum brio_err mine, struct brio_circle **out, int *file);

/* Collective: a duplicate of the team's communicator. */
BRIO_ERR brio_circle_init(struct brio_circle *c, const struct brio_team *team);

/* Collective, one agreement. The circle is made, unless `mine` says otherwise somewhere; its
 * first file has the number 0. Any failure is BRIO_EUNSUPOP on all ranks, and is kept, too,
 * lest it be tried for each file. If it is not kept, it is the caller's. */
BRIO_ERR brio_circle_made(struct brio_circles *all, struct brio_circle *c, enum brio_err mine);

/* On all ranks, when all are through with the file. */
void brio_circle_leave(struct brio_circles *all, struct brio_circle *c, int file);

/* The oldest one that is left, no longer kept; NULL if there is none. The order is the same on
 * all ranks of each. */
struct brio_circle *brio_circles_take(struct brio_circles *all);

void brio_circle_free(struct brio_circle *c);

#endif
