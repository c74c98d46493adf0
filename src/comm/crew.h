/* The ranks of a file that share memory with this one, and where all the others are. Where
 * nothing can be shared, every rank is a crew of its own: the same code serves. */
#ifndef BRIO_COMM_CREW_H
#define BRIO_COMM_CREW_H

#include "comm/region.h"

struct brio_crew {
    struct brio_team team;     /* of this crew; always with a meeting place */
    struct brio_region region; /* shared by it */
    int ncrews, mine;
    int *crew_of;              /* by rank of the file */
    int *leader;               /* by crew: its lowest rank in the file; the one that speaks
                                  for it to other crews */
    struct brio_page_ref page; /* the leader's */
    struct brio_page_slot *slot;
    bool split; /* team.comm is ours */
    bool paged; /* so is the page, if this rank leads */
};

/* Collective over all. If all ranks of the file share memory already (all->meet, in `slot`
 * of `page`), they are one crew, at no cost. node_of says which ranks may share some. */
BRIO_ERR brio_crew_open(struct brio_crew *crew, const struct brio_team *all, const int *node_of,
                        const struct brio_page_ref *page, struct brio_page_slot *slot);
/* Every rank as a crew of its own, whatever they share. Local. */
BRIO_ERR brio_crew_alone(struct brio_crew *crew, const struct brio_team *all);

void brio_crew_close(struct brio_crew *crew);

/* This rank speaks for its crew. */
static inline bool brio_crew_leads(const struct brio_crew *crew)
{
    return crew->team.rank == 0;
}

#endif
