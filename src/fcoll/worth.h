/* Whether a collective access is worth owners (aggregators), and how many and large buffers:
 * each rank answers for its own bytes, all of them together for the access. */
#ifndef BRIO_FCOLL_WORTH_H
#define BRIO_FCOLL_WORTH_H

#include "fcoll/fcoll.h"

/* Average bytes of a contiguous piece of the access in the file; io->bytes > 0. */
brio_off brio_worth_piece(const struct brio_io *io);

/* True for what is written in such long pieces that lines of an owner's buffer, which lie in
 * another core's cache, need not be fetched before they are overwritten (type/stream.h). What
 * is read is as fast either way. `packed`: in the owner's buffer it is one piece. */
bool brio_worth_streaming(const struct brio_io *io, bool packed);

/* True if what is written could go past the caches to where it lies packed (distance.h): pieces
 * of many lines. */
bool brio_worth_passing(const struct brio_io *io);

/* Whether a plan can be made for this rank's bytes at all. */
bool brio_worth_planning(const struct brio_coll_env *env, const struct brio_io *io);

/* Whether this rank's bytes should go through an owner: not if they are large pieces, nor if
 * they are one piece that the page cache of a local file system takes as well. */
bool brio_worth_owner(const struct brio_coll_env *env, const struct brio_io *io);

/* An access of all ranks together, as each of them knows it. */
struct brio_whole {
    enum brio_dir dir;
    brio_off piece;        /* the smallest average of any rank */
    brio_off most;         /* bytes of any rank, */
    brio_off volume, span; /* and of all, at most; from the first to the last in the file */
};

/* True if all had better do without owners after all: large gaps between pieces of some size
 * stay gaps, and owners would only copy. */
bool brio_worth_sparse(const struct brio_coll_env *env, const struct brio_whole *all);

/* True if data had better lie packed in an owner's buffer, and be put in order by the owner: in
 * the order of the file, cache lines of it would go from rank to rank. */
bool brio_worth_packing(const struct brio_coll_env *env, const struct brio_whole *all);

/* True if ranks can as well read from one buffer in the order of the file: few of its lines
 * have bytes for more than one. */
bool brio_worth_sharing(const struct brio_whole *all);

/* True if a rank of this crew that waits had better sleep at once: to give its core away does
 * not serve those it waits for. Of two that share a core, it is the other one that gets it,
 * whatever that is to the system. */
bool brio_worth_sleeping(const struct brio_team *crew);

/* Bytes that an owner should have at least, as far as this rank can tell: with less it costs
 * more than it gains. */
brio_off brio_worth_share(const struct brio_coll_env *env, enum brio_dir dir);

/* Owners that get on at the same time on this node, as far as this rank can tell: one a core;
 * of a page cache four, if there are more ranks, so that one is at work while others wait.
 * Tiles of 134 MB written by 8 ranks of MPICH on two cores, which share no cache: one a core
 * 5.6 GB/s, two 6.0, four 7.8. */
int brio_worth_at_once(const struct brio_coll_env *env);

/* Bytes of one window of an owner that has a collective buffer of so many. */
brio_off brio_worth_window(const struct brio_coll_env *env, brio_off buffer);

#endif
