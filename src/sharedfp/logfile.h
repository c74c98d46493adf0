/* The side files of sharedfp/individual, as the module writes them and `brio merge' reads them.
 * A rank has two: its data, one record behind the other, and its metadata, a header and then
 * one entry for each record. Numbers are the machine's own. No MPI in here.
 *
 * All ranks count the merges in epochs. Rank 0's header is the first to tell of a new epoch,
 * before any other rank drops what was merged; so the records of an epoch before rank 0's are
 * in the user's file already. Entries carry their epoch, since a header changes before the
 * entries behind it go.
 *
 * Before ranks merge what is in side files together with what is in memory, they write entries
 * of the latter, too, and one of no bytes, which is nowhere either: if they are killed while
 * they merge, `brio merge' knows that they did, and finds the same places that they found. */
#ifndef BRIO_SHAREDFP_LOGFILE_H
#define BRIO_SHAREDFP_LOGFILE_H

#include "base/base.h"
#include "type/map.h"

struct brio_log_head {
    char magic[8];
    uint32_t nranks, rank;
    int64_t epoch;
    int64_t start; /* of the first record: bytes of the view's data */
    int64_t disp;  /* the view: displacement in the file, */
    int64_t words; /* and so many numbers of its map (type/wire.h) behind the header */
    int64_t size;  /* of the user's file when this was written; 0 if it could not be told */
    uint64_t check;
};

enum {
    BRIO_LOG_NOWHERE = -1 /* `at` of a record in its rank's memory only: a merge began */
};

/* Record `id` of its rank: written at `time`, `bytes` bytes from `at` on in the data file. */
struct brio_log_entry {
    int64_t id, time, at, bytes, epoch;
    uint64_t check;
};

/* Writes the header into the metadata file and cuts off what was behind it. */
BRIO_ERR brio_log_put_head(int fd, struct brio_log_head head, const struct brio_map *map);

/* Makes n entries good, and puts them at `off` of the metadata file. */
BRIO_ERR brio_log_put_entries(int fd, brio_off off, struct brio_log_entry *entries, size_t n);

/* Numbers that the map takes: head.words. */
size_t brio_log_words(const struct brio_map *map);

/* The length of header and map in the file. */
brio_off brio_log_head_size(const struct brio_log_head *head);

/* BRIO_EIO if it is damaged, BRIO_ENOENT if the file is empty. */
BRIO_ERR brio_log_get_head(int fd, struct brio_log_head *head, struct brio_map **map);

/* The entries from `off` on, at most `most`: those that are whole and good; *bad says what is
 * wrong with the next, or is NULL. To be freed. */
BRIO_ERR brio_log_get_entries(int fd, brio_off off, size_t most, struct brio_log_entry **out,
                              size_t *n, const char **bad);

/* All of it, or an error. */
BRIO_ERR brio_log_write(int fd, const void *buf, size_t bytes, brio_off off);
BRIO_ERR brio_log_read(int fd, void *buf, size_t bytes, brio_off off);

#endif
