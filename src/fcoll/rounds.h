/* The executor: runs a plan. Ranks copy their pieces into windows in memory shared with the
 * owner, in file order, and owners write them out; or owners read windows, and ranks copy
 * out of them. For an owner on another node the ranks of a node put their pieces into one
 * box, which their leader sends: one message a node, not one a rank. No rank ever waits for
 * one thing only: whatever can go on, goes on. */
#ifndef BRIO_FCOLL_ROUNDS_H
#define BRIO_FCOLL_ROUNDS_H

#include "base/stats.h"
#include "fcoll/area.h"
#include "fcoll/plan.h"
#include "lane/lane.h"
#include "type/weave.h"

/* What stands between an owner and one other crew. */
struct brio_post {
    int crew;
    char *box[BRIO_BUFFERS];
    MPI_Request req[BRIO_BUFFERS];
};

/* Somebody has to take a buffer on when the crew is done with it, or to fill it before: an
 * owner by accessing the file, the leader of a crew without the owner by a message. */
struct brio_keeper {
    int owner;
    size_t window;   /* the next one */
    bool begun;      /* it is being taken care of */
    bool busy;       /* an access to the file is under way */
    int part;        /* the rank whose segment it is, or just a count */
    brio_off valid;  /* of the window: there is data below this offset only */
    MPI_Request req; /* a leader's */
};

struct brio_rounds {
    const struct brio_team *team;
    struct brio_crew *crew;
    const struct brio_lane *lane;
    struct brio_stats *stats;
    const struct brio_plan *plan;
    const struct brio_io *io;
    struct brio_map *flat; /* contiguous bytes */
    brio_off shift;        /* of the access against the plan */
    brio_off buffer;       /* bytes of the crew's buffers */
    uint32_t run;
    size_t *next;   /* by owner: the window that this rank comes to next */
    int nopen;      /* owners that this rank has not finished with */
    bool ahead;     /* the first windows were filled before the run, by all ranks */
    brio_off moved; /* of its data, what is certain: all, unless a window was short */
    struct brio_keeper *keepers;
    int nkeepers;
    struct brio_post *posts; /* an owner's, with every other crew that has data for it */
    int nposts;
    struct brio_strand *strands; /* an owner's, room for two a rank */
    enum brio_laid laid; /* an owner's: how the window of a read at hand comes to its crew, */
    struct brio_use use; /* of the trial that says so */
    char *here; /* an owner's own data, which needs no box, where others' lies packed: if it is
                   one piece of memory, else NULL */
    struct brio_ticket ticket; /* an owner's */
    enum brio_err err;         /* of the first access that failed */
    char text[BRIO_ERR_TEXT];
    brio_off bad; /* and where: the first byte that was not moved; -1: nobody knows whose, and
                     of no owner */
};

/* What this rank needs besides the crew's memory. */
BRIO_ERR brio_rounds_prepare(struct brio_rounds *r);
void brio_rounds_release(struct brio_rounds *r);

/* Before the ranks have agreed on a write: this rank's part of the windows for which there are
 * buffers. Only where all ranks are one crew, whose memory the plan has used before. If all did
 * it for one plan, brio_rounds_start goes on from there; else the caller clears `ahead`, and
 * what lies in the buffers is overwritten. */
void brio_rounds_ahead(struct brio_rounds *r);

/* The bell that announces the next thing that this rank may have to do with; from then on, and
 * in a run. */
struct brio_bell *brio_rounds_bell(const struct brio_rounds *r);

/* How a wait for it begins (brio_bell_wait). */
int brio_rounds_doze(const struct brio_rounds *r);

/* True if no rank copies any more what the last run has read: until then its buffers are not to
 * be filled. Not for long, as soon as the rank that asks is through with that run. */
bool brio_rounds_vacant(const struct brio_rounds *r);

void brio_rounds_start(struct brio_rounds *r);

/* True when this rank has nothing more to do; with BRIO_BLOCK it comes back only then. If all
 * ranks are one crew, all owners are through with the file then, and brio_rounds_good tells
 * how: the same on all ranks, though some may still be copying what was read. */
bool brio_rounds_step(struct brio_rounds *r, enum brio_wait how);

/* Whether that is a verdict: nothing failed, and all ranks know it. */
bool brio_rounds_good(const struct brio_rounds *r);

/* An owner's access to the touched bytes of its window k, which lie in memory as in the file:
 * `origin` is where byte 0 of the file would be. */
struct brio_io brio_window_io(const struct brio_rounds *r, size_t k, uintptr_t origin);

/* ---- Between rounds.c and keeper.c ----------------------------------------------------- */

/* When ranks do their part with window k: writes before its keeper, reads after it. */
static inline uint64_t brio_turn(const struct brio_rounds *r, size_t k)
{
    return (uint64_t)r->run << 32 | (k / BRIO_BUFFERS + (r->io->dir == BRIO_READ));
}

static inline char *brio_rounds_buffer(const struct brio_rounds *r, int owner, size_t k)
{
    return brio_area_buffer(r->crew, r->plan->nranks, r->buffer, owner, k);
}

/* Where byte 0 of the file would be if the window lay at its place in the buffer: a number,
 * for it may be nowhere. */
static inline uintptr_t brio_rounds_origin(const struct brio_rounds *r, int owner, size_t k)
{
    return (uintptr_t)brio_rounds_buffer(r, owner, k) -
           (uintptr_t)r->plan->owners[owner].windows[k].lo;
}

/* True if all owners are through with the file. Those of other crews say it to nobody. */
static inline bool brio_rounds_ended(const struct brio_rounds *r)
{
    uint64_t ended = atomic_load(&brio_area_of(r->crew)->ended) & ~(uint64_t)BRIO_END_FAILED;
    return r->crew->ncrews > 1 ||
           ended == ((uint64_t)r->run << 32 | (uint32_t)r->plan->nowners);
}

/* True if window k's buffer was filled before the run. */
static inline bool brio_rounds_was_filled(const struct brio_rounds *r, size_t k)
{
    return r->ahead && k < BRIO_BUFFERS;
}

static inline void brio_rounds_ring(const struct brio_rounds *r, int rank)
{
    brio_bell_ring(brio_area_bell(r->crew, r->plan->nranks, rank));
}

static inline struct brio_distance *brio_rounds_distance(const struct brio_rounds *r)
{
    return &brio_area_of(r->crew)->distance;
}

/* True if the rank shares this one's core, as far as is known: what one of them puts somewhere
 * the other finds in its caches. */
static inline bool brio_rounds_beside(const struct brio_rounds *r, int rank)
{
    return r->crew->ncrews == 1 &&
           brio_berth_beside(brio_area_berths(r->crew, r->plan->nranks), r->team->rank, rank);
}

/* True if the owner is of this crew: its buffers do not travel. */
static inline bool brio_rounds_near(const struct brio_rounds *r, int owner)
{
    return r->crew->crew_of[r->plan->owners[owner].rank] == r->crew->mine;
}

/* True if what this crew has of the owner's window lies in file order; else it lies packed,
 * rank after rank. */
static inline bool brio_rounds_in_order(const struct brio_rounds *r, int owner)
{
    return r->plan->owners[owner].segment == 0 && !r->plan->packed &&
           brio_rounds_near(r, owner);
}

/* How what was read lies in the owner's buffer, or in a box of its. */
static inline enum brio_laid brio_rounds_laid(const struct brio_rounds *r, int owner, size_t k)
{
    if (brio_rounds_in_order(r, owner))
        return BRIO_LAID_IN_ORDER;
    return r->plan->packed
               ? (enum brio_laid)atomic_load(&brio_area_gate(r->crew, owner, k)->laid)
               : BRIO_LAID_PACKED;
}

/* Of what is read by the plan. */
static inline enum brio_distance_of brio_rounds_reads(const struct brio_rounds *r)
{
    return r->plan->coarse ? BRIO_DISTANCE_READ_COARSE : BRIO_DISTANCE_READ;
}

void brio_keeper_start(struct brio_rounds *r, struct brio_keeper *keeper);

/* One step of a keeper's work; true if there was any. */
bool brio_keeper_pump(struct brio_rounds *r, struct brio_keeper *keeper, enum brio_wait how);
bool brio_keeper_done(const struct brio_rounds *r, const struct brio_keeper *keeper);

#endif
