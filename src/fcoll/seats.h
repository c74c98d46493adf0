/* Which ranks may be owners, and which belong together: what is known when a file is opened,
 * whatever is accessed later. */
#ifndef BRIO_FCOLL_SEATS_H
#define BRIO_FCOLL_SEATS_H

#include "fcoll/engine.h"
#include "fcoll/plan.h"

struct brio_seats {
    int *spread; /* nranks, see brio_spread */
    bool listed; /* the first `owners` of them are those of cb_config_list */
    int owners;  /* wanted by the user, 0: choose */
    enum brio_order ordered;
    int row; /* of a Cartesian communicator, or 0 */
};

/* On seats that are all zero; `grouped`: the maker of plans puts ranks together. */
BRIO_ERR brio_seats_open(struct brio_seats *seats, const struct brio_coll_env *env,
                         const struct brio_coll_conf *conf, bool grouped);
void brio_seats_close(struct brio_seats *seats);

#endif
