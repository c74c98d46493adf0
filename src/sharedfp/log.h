/* One rank's log: what it has written with the shared pointer and what is not yet in the
 * user's file. Kept in memory as long as it fits, else in two side files. No MPI in here; one
 * thread at a time. */
#ifndef BRIO_SHAREDFP_LOG_H
#define BRIO_SHAREDFP_LOG_H

#include "base/room.h"
#include "sharedfp/logfile.h"
#include "sharedfp/order.h"

struct brio_log {
    char *path; /* of the user's file; ours, as these: */
    char *meta_name, *data_name;
    int meta_fd, data_fd;      /* -1 until something is spilled */
    struct brio_log_head head; /* of the next spill */
    struct brio_map *map;      /* the view's; our reference */
    int64_t clock, next_id;
    size_t limit;                   /* bytes of data kept in memory */
    struct brio_log_entry *entries; /* in memory */
    size_t n, entry_room;
    struct brio_room room; /* for the data in memory, */
    size_t used;           /* and so much of it */
    size_t spilled_n;      /* entries, */
    brio_off spilled;      /* and bytes of data, in the side files */
};

/* What goes to the user's file in one access: `bytes` bytes at `data`, n pieces of it; piece i
 * is len[i] bytes long and goes to at[i] of the view's data. */
struct brio_log_part {
    const void *data;
    brio_off bytes;
    size_t n;
    const brio_off *at, *len;
};

/* A walk through the log in the order it was written, which is that of the places too. */
struct brio_log_walk {
    struct brio_stamp *stamps;
    brio_off *place;      /* of each record, to be filled in */
    size_t n, i;          /* records, and which is next */
    brio_off into;        /* bytes of it that are done */
    brio_off stream;      /* bytes of the log that are done */
    struct brio_room own; /* for what is read back, if the log's has no place for it */
    char *buf;            /* where it goes, */
    brio_off most;        /* and how much of it at a time */
    brio_off *at, *len;
};

void brio_log_init(struct brio_log *log);
/* Closes and frees, and leaves the side files as they are. */
void brio_log_free(struct brio_log *log);

/* A record of `bytes` data bytes of the memory pattern. On failure nothing was appended. */
BRIO_ERR brio_log_append(struct brio_log *log, const struct brio_map *mem, const void *buf,
                         brio_off bytes);

/* All that is in memory goes to the side files, which are made if need be. */
BRIO_ERR brio_log_spill(struct brio_log *log);

/* The log is about to be merged: entries of what is in memory go to the side files, too, and
 * one of no bytes, until the next spill or drop. */
BRIO_ERR brio_log_announce(struct brio_log *log);

/* The log is empty, and the side files, which are made if wanted, say so. Their data is cut off
 * afterwards, which takes longer. */
BRIO_ERR brio_log_drop(struct brio_log *log, bool make);
BRIO_ERR brio_log_cut(struct brio_log *log);

/* Stamps of all records, those in the side files too. To be closed. */
BRIO_ERR brio_log_walk(const struct brio_log *log, struct brio_log_walk *out);
void brio_log_walk_close(struct brio_log_walk *walk);

/* Where the walk comes to if it goes on by as much as a part may have: bytes of the view's
 * data; BRIO_OFF_MAX: to its end. */
brio_off brio_log_reach(const struct brio_log *log, const struct brio_log_walk *walk);

/* The next part; it may be empty. It goes no farther than `bound`, unless its pieces are long:
 * if all ranks come as far, there are no gaps in what they write together. */
BRIO_ERR brio_log_next(const struct brio_log *log, struct brio_log_walk *walk, brio_off bound,
                       struct brio_log_part *out);

#endif
