/* Words from each rank to each rank that has something for it, blocking or not; for inspection,
 * not for data. Where all ranks share memory a letter is left there, and who expects one looks
 * for it: one meeting, however many ranks there are. Else it is two exchanges of MPI's and one
 * agreement. */
#ifndef BRIO_COMM_MAIL_H
#define BRIO_COMM_MAIL_H

#include "comm/region.h"

enum brio_mail_stage {
    BRIO_MAIL_BOARD, /* by memory: it is made, or made larger; */
    BRIO_MAIL_POSTED,
    BRIO_MAIL_SIZES, /* by messages */
    BRIO_MAIL_ROOM,
    BRIO_MAIL_WORDS,
    BRIO_MAIL_DONE
};

struct brio_mail {
    const struct brio_team *team;
    enum brio_mail_stage stage;
    int *out_n, *out_at; /* by rank, in words */
    int64_t *out;        /* ours from brio_mail_put on */
    size_t out_room, out_used;
    enum brio_err err;
    struct brio_reduce reduce;
    /* By memory. */
    struct brio_region *region; /* NULL: by messages */
    size_t board;               /* where the letters may lie in it */
    size_t room;                /* words of a rank, the same on all */
    int half;                   /* of the board: the other one may still be read */
    /* By messages. */
    int *in_n, *in_at;
    int64_t *in;
    MPI_Request req;
};

/* Room for the counts: what cannot be done without is there before anything is collective.
 * `region` is one of the team's, for letters from byte `board` on, or NULL. */
BRIO_ERR brio_mail_open(struct brio_mail *m, const struct brio_team *team,
                        struct brio_region *region, size_t board);
void brio_mail_close(struct brio_mail *m);

/* Begins to write letters. */
void brio_mail_reset(struct brio_mail *m);

/* Room for n words to `rank`; ranks in rising order, each at most once. NULL if there is no
 * memory: that is remembered, and no letter will be sent by anyone. The words are at m->out +
 * m->out_at[rank], which may have moved after the next. */
int64_t *brio_mail_put(struct brio_mail *m, int rank, size_t n);

/* `rank` gets the letter to `other`, too. */
void brio_mail_same(struct brio_mail *m, int rank, int other);

/* Collective. Sends; true when it is over: then *out is BRIO_OK on all ranks or on none. If the
 * region must be made for it, it gets at least `bytes`, the same number on all ranks. */
void brio_mail_start(struct brio_mail *m, size_t bytes);
bool brio_mail_step(struct brio_mail *m, enum brio_wait how, enum brio_err *out);

/* Then: what came from `rank`, until letters are written again; *n is 0 if there is nothing. */
const int64_t *brio_mail_read(const struct brio_mail *m, int rank, size_t *n);

#endif
