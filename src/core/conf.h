/* Settings of a file as a whole: those that the MPI standard reserves and that no single
 * module owns. */
#ifndef BRIO_CORE_CONF_H
#define BRIO_CORE_CONF_H

#include "mod/hint.h"

struct brio_conf {
    char file_perm[BRIO_HINT_MAX];
    char access_style[BRIO_HINT_MAX];
    brio_off striping_factor, striping_unit;
    /* Reserved by the standard, and of use to nobody here. */
    char chunked[BRIO_HINT_MAX], chunked_item[BRIO_HINT_MAX], chunked_size[BRIO_HINT_MAX];
    char io_node_list[BRIO_HINT_MAX];
    brio_off nb_proc, num_io_nodes;
};

extern const struct brio_hint brio_conf_hints[];

#endif
