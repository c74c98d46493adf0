/* Who owns which bytes of a collective access, and in which steps they are moved. Made by
 * the inspector, run by the executor (rounds.h), kept for the next access like it. Offsets
 * in a plan are those of the access it was made for; an access that is the same but for a
 * shift of all ranks alike uses it shifted. */
#ifndef BRIO_FCOLL_PLAN_H
#define BRIO_FCOLL_PLAN_H

#include "comm/crew.h"
#include "fcache/fcache.h"
#include "type/map.h"

BRIO_DOOR_BEGIN

/* Bytes of the file that an owner holds in memory at one time. */
struct brio_window {
    brio_off lo, hi;
    int nsources; /* ranks of this crew that have data in it; known to those who keep it */
    /* For an owner in another crew: this rank's place in the crew's box, and its size. */
    brio_off box_at, box_bytes;
};

/* A rank that accesses the file for others (an aggregator), and its part of the file: the
 * bytes of [lo, hi), or only those on the servers index, index + of, ..., if there are
 * stripes; and from the ranks at places first .. last of the extent's order only. */
struct brio_owner {
    int rank;
    brio_off lo, hi;
    brio_off stripe; /* 0: none */
    int index, of;
    struct brio_places places; /* of the stripes; without ops, stripe s is on server s */
    int first, last;
    bool mine;        /* this rank is one of them; set by the inspector */
    brio_off segment; /* a window is the next so many bytes of each rank, in the order of its
                         own data, packed; 0: it is a range of the file, in file order */
    size_t nwindows;  /* known to ranks that have data in the domain */
    struct brio_window *windows;
};

struct brio_plan {
    int nowners;
    struct brio_owner *owners;
    int own;                  /* which of the owners this rank is, or -1 */
    struct brio_map *touched; /* an owner's: all bytes of its domain that anybody accesses */
    struct brio_map *mine;    /* this rank's bytes */
    brio_off window;          /* no window is larger */
    bool packed;              /* data lies in the buffers of its own crew, too, as in a box */
    bool coarse;              /* all ranks' pieces are some cache lines long */
    int nranks;
    struct brio_map **sources; /* an owner's: by rank, its bytes of the domain, or NULL */
};

/* What one rank has of an access. */
struct brio_share {
    brio_off bytes;
    brio_off lo, hi; /* if bytes > 0 */
};

/* Whether, and in which order of the ranks, a plan maker wants their shares. */
enum brio_order {
    BRIO_ORDER_NONE,
    BRIO_ORDER_RANKS,
    BRIO_ORDER_DATA /* of the first byte; those without data last */
};

/* What all ranks know of one access after the first agreement, and so decide alike. */
struct brio_extent {
    int nranks;
    int nsources;            /* that have any bytes, at most */
    int at_once;             /* owners that a page cache serves at the same time */
    const int *spread;       /* ranks, neighbours on different nodes (brio_spread), or NULL */
    bool listed;             /* only the first of these, as many as owners, may be owners */
    brio_off k;              /* bytes that an owner should have, at least 1 */
    enum brio_order ordered; /* if not BRIO_ORDER_NONE, what follows is there: */
    const struct brio_share *shares; /* by rank */
    const int *order;                /* of the ranks, in which neighbours form groups */
    const int *crew_of;              /* by rank */
    int ncrews;
    int row;         /* so many of them belong together, 0: not known */
    brio_off lo, hi; /* first byte of all ranks, and one past the last */
    brio_off volume; /* bytes of all ranks, at most */
    brio_off align;  /* domains begin at multiples of it where they can */
    int servers;     /* that the file is spread over, 1 if it is not */
    brio_off stripe; /* 0 if it is not */
    struct brio_places places;
    int owners;          /* wanted by the user, 0: choose */
    brio_off buffer;     /* of an owner */
    bool in_file_order;  /* windows must be ranges of the file, no segments */
    bool packed, coarse; /* see struct brio_plan */
};

/* A plan maker: the owners and their domains, by rising rank. Pure; owners has room for
 * nranks; returns how many there are. */
typedef int brio_domains(const struct brio_extent *extent, struct brio_owner *owners);

/* Cuts the touched bytes of a domain into windows of at most `size` bytes of the file that
 * begin and end with data, and end at multiples of align where they can. Of a domain of
 * stripes, only these, and no window reaches beyond one. */
BRIO_ERR brio_windows_make(const struct brio_map *touched, brio_off size, brio_off align,
                           struct brio_owner *owner);

/* The same for an owner with segments: as many windows as the rank with most data needs. */
BRIO_ERR brio_windows_segment(struct brio_map *const *sources, int n, struct brio_owner *owner);

/* The part of an owner's k-th window that is a rank's: data bytes [*from, *to) of its map. */
void brio_window_part(const struct brio_owner *owner, size_t k, const struct brio_map *map,
                      brio_off *from, brio_off *to);

/* This rank's part of the k-th window of owner a; *from == *to if it has none. */
void brio_plan_part(const struct brio_plan *plan, int a, size_t k, brio_off *from,
                    brio_off *to);

/* Bytes of this rank that have a place in a window: all, or the plan is wrong. */
brio_off brio_plan_placed(const struct brio_plan *plan);

/* Of this owner's k-th window, how many bytes the ranks of a crew below `end` have, and how
 * many ranks. */
brio_off brio_plan_share(const struct brio_plan *plan, const struct brio_crew *crew, int which,
                         int end, size_t k, int *nsources);

/* The same of all crews at once: what each has, and where in its crew's box each rank's begins.
 */
struct brio_boxes {
    brio_off bytes;
    int nsources;
};
void brio_plan_boxes(const struct brio_plan *plan, const struct brio_crew *crew, size_t k,
                     brio_off *box_at, struct brio_boxes *boxes);

/* And of that the most for any of its windows, of all ranks of the crew. */
brio_off brio_plan_largest(const struct brio_plan *plan, const struct brio_crew *crew,
                           int which);

void brio_plan_free(struct brio_plan *plan);

BRIO_DOOR_END

#endif
