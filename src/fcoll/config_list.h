/* ROMIO's cb_config_list, as far as it makes sense without names of hosts: "*:N", at most N
 * owners on each node, and "*:*", any number. Pure. */
#ifndef BRIO_FCOLL_CONFIG_LIST_H
#define BRIO_FCOLL_CONFIG_LIST_H

#include "base/base.h"

/* False if the list says anything else. *per_node is 0 for "" and for any number. */
bool brio_config_list_parse(const char *list, brio_off *per_node);

/* The number of owners that cb_nodes and the list want together, as ROMIO has it: the smaller
 * one; 0 if neither says anything. A list that cannot be used says nothing. */
brio_off brio_config_list_owners(const char *list, brio_off cb_nodes, int nnodes);

#endif
