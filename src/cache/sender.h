/* The first stage of write-behind: bytes for pages that ranks of other crews own, gathered
 * for each owner and sent when there are enough of them. What one rank writes reaches an
 * owner in the order it was written. */
#ifndef BRIO_CACHE_SENDER_H
#define BRIO_CACHE_SENDER_H

#include "comm/crew.h"

struct brio_sender;

struct brio_sender_env {
    const struct brio_team *team; /* of the file; outlives the sender, as does the crew */
    const struct brio_crew *crew;
    size_t room; /* bytes gathered for one owner before they are sent */
    /* At the owner, beside all its other threads: keeps the bytes or fails. */
    BRIO_ERR (*keep)(void *self, brio_off off, const char *data, brio_off len);
    void *self;
};

/* Collective. BRIO_EUNSUPOP if the MPI grants no threads. */
BRIO_ERR brio_sender_open(const struct brio_sender_env *env, struct brio_sender **out);
void brio_sender_close(struct brio_sender *s); /* collective */

/* One thread at a time gathers. It holds no page meanwhile: it may have to wait for other
 * ranks. */
void brio_sender_lock(struct brio_sender *s);
void brio_sender_unlock(struct brio_sender *s);

/* Room for the first *fit of `len` bytes at `off`, to be filled before the next call. With
 * the lock held. */
BRIO_ERR brio_sender_room(struct brio_sender *s, int owner, brio_off off, brio_off len,
                          char **at, brio_off *fit);

/* Sends what has been gathered; when it returns, the owners have it. */
BRIO_ERR brio_sender_settle(struct brio_sender *s);

/* A failure if bytes that came to this rank could not be kept: they are lost for good. */
BRIO_ERR brio_sender_lost(struct brio_sender *s);

#endif
