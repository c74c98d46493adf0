/* What ranks tell each other at the beginning of a collective access, and what follows from it
 * for all of them alike: one reduction, which keeps the largest of each word. Pure. */
#ifndef BRIO_FCOLL_ACCORD_H
#define BRIO_FCOLL_ACCORD_H

#include "fcoll/shelf.h"
#include "fcoll/worth.h"

/* What one rank has to say. */
struct brio_say {
    const struct brio_coll_env *env;
    const struct brio_io *io; /* what is left of its access */
    enum brio_err mine;       /* what is wrong here */
    int64_t last_id;          /* of any plan it has kept */
    const struct brio_kept *found;
    int64_t oldest; /* id of a plan that serves it as well as the one found; as any between */
};

/* How many words it takes; whether the rank is ahead is added at last. */
int brio_accord_say(int64_t *words, const struct brio_say *say);

/* It has filled the first buffers. */
void brio_accord_ahead(int64_t *words, bool ahead);

/* What all have said. */
struct brio_accord {
    int64_t worst; /* failure, for brio_verdict_read; 0: none */
    bool none;     /* nobody has any bytes left; what follows is nothing then */
    brio_off lo, hi;
    struct brio_whole all;
    int nsources;    /* ranks that have any, at most */
    int at_once;     /* owners on a node */
    brio_off share;  /* bytes that one should have */
    int64_t last_id; /* of any plan of any rank */
    int64_t plan;    /* id of one that serves all; 0: there is none */
    brio_off shift;  /* of the access against it */
    bool ahead;      /* all are */
};

enum {
    BRIO_ACCORD_HEAD = 2 /* words that tell whether the others are wanted */
};

/* Whether nobody has any bytes left: the head is all there is to know then. */
bool brio_accord_none(const int64_t *words);

struct brio_accord brio_accord_read(const int64_t *words, enum brio_dir dir);

#endif
