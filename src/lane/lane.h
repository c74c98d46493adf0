/* The one door to file bytes. A lane is a chain of equal stages: the last one (fbtl) talks
 * to the system, those before it (sieve, cache, a test's faulty stage) wrap the next. */
#ifndef BRIO_LANE_LANE_H
#define BRIO_LANE_LANE_H

#include "base/base.h"
#include "type/map.h"

BRIO_DOOR_BEGIN

/* One read or write, nothing hidden: `bytes` data bytes, from position `pos` of the file
 * pattern on, to or from position mem_pos of the memory pattern. Read and write are the
 * same struct; only `dir` tells. */
struct brio_io {
    enum brio_dir dir;
    const struct brio_map *file;
    brio_off base; /* what offsets of `file` are counted from (the view's displacement) */
    brio_off pos;
    const struct brio_map *mem;
    void *buf;
    brio_off mem_pos;
    brio_off bytes;
};

/* What became of it. `bytes` is the length of the longest prefix of the data, in typemap
 * order of the file pattern, that was moved: counted where it moved. A read that meets the
 * end of the file is short and no error. A failed access may have moved a prefix too. */
struct brio_result {
    enum brio_err err;
    brio_off bytes;
};

/* An access under way. The caller owns the ticket and everything the io points to until it
 * is done; a stage may keep what it needs in `state`. */
struct brio_ticket {
    bool done;
    struct brio_result result;
    char text[BRIO_ERR_TEXT]; /* of result.err, if it is not BRIO_OK */
    void *state;
};

/* One that is not under way; not by an initializer, for the text alone is 400 bytes. */
static inline void brio_ticket_init(struct brio_ticket *ticket, bool done)
{
    ticket->done = done;
    ticket->result = (struct brio_result){.err = BRIO_OK};
    ticket->state = NULL;
}

struct brio_lane_ops {
    /* Starts the access, or does it at once if how is BRIO_BLOCK or the stage has nothing
     * to wait for; a failure is in the ticket. With BRIO_POLL the stage must not make the
     * caller wait for the store. Never calls MPI unless the stage says so. */
    void (*submit)(void *self, const struct brio_io *io, enum brio_wait how,
                   struct brio_ticket *ticket);
    /* Looks (BRIO_POLL) or waits (BRIO_BLOCK) whether it is done. */
    void (*reap)(void *self, struct brio_ticket *ticket, enum brio_wait how);
    /* What was kept back in this lane goes to the system (not yet to stable storage: that
     * is fs.sync). Collective if the stage says so. */
    BRIO_ERR (*flush)(void *self);
};

struct brio_lane {
    const struct brio_lane_ops *ops;
    void *self;
};

/* Submit and reap in one: blocking. The text of a failure is this thread's. */
struct brio_result brio_lane_access(const struct brio_lane *lane, const struct brio_io *io);

/* For stages that are done at once: fills the ticket, with this thread's error text. */
void brio_ticket_finish(struct brio_ticket *ticket, struct brio_result result);

/* A flat io: one contiguous piece in the file, one in memory. `bytes_map` is any contiguous
 * map; see brio_map_bytes. */
struct brio_io brio_io_flat(enum brio_dir dir, brio_off off, void *buf, brio_off bytes,
                            const struct brio_map *bytes_map);

BRIO_DOOR_END

#endif
