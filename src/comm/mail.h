/* Words from each rank to each rank that has something for it, blocking or not. Two
 * exchanges of MPI's and one agreement; for inspection, not for data. */
#ifndef BRIO_COMM_MAIL_H
#define BRIO_COMM_MAIL_H

#include "comm/reduce.h"

enum brio_mail_stage {
    BRIO_MAIL_SIZES,
    BRIO_MAIL_ROOM,
    BRIO_MAIL_WORDS,
    BRIO_MAIL_DONE
};

struct brio_mail {
    const struct brio_team *team;
    enum brio_mail_stage stage;
    int *out_n, *out_at, *in_n, *in_at; /* by rank, in words */
    int64_t *out, *in;                  /* ours from brio_mail_put on */
    size_t out_room, out_used;
    enum brio_err err;
    MPI_Request req;
    struct brio_reduce reduce;
};

/* Room for the counts: what cannot be done without is there before anything is collective. */
BRIO_ERR brio_mail_open(struct brio_mail *m, const struct brio_team *team);
void brio_mail_close(struct brio_mail *m);

/* Begins to write letters. */
void brio_mail_reset(struct brio_mail *m);

/* Room for n words to `rank`; ranks in rising order, each at most once. NULL if there is no
 * memory: that is remembered, and no letter will be sent by anyone. */
int64_t *brio_mail_put(struct brio_mail *m, int rank, size_t n);

/* Collective. Sends; true when it is over: then *out is BRIO_OK on all ranks or on none, and
 * in that case letter r is at m->in + m->in_at[r], m->in_n[r] words long. */
void brio_mail_start(struct brio_mail *m);
bool brio_mail_step(struct brio_mail *m, enum brio_wait how, enum brio_err *out);

#endif
