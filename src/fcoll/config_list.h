/* ROMIO's cb_config_list: how many owners (aggregators) each host may have. "a:2, b, *:1" is
 * two on the host a, one on b and one on each other; "*:*" is any number, ":0" none. Pure. */
#ifndef BRIO_FCOLL_CONFIG_LIST_H
#define BRIO_FCOLL_CONFIG_LIST_H

#include "comm/nodes.h"

/* False if the list is not of that form. */
bool brio_config_list_valid(const char *list);

/* The ranks that may be owners, into `ranks`, which has room for all: in the order of the list,
 * and for `*` in turns over the hosts. *n is 0 if the list leaves it open (it is empty, "*:*",
 * or not valid), and -1 if no rank is left by it. */
BRIO_ERR brio_config_list_ranks(const char *list, const struct brio_nodes *nodes, int *ranks,
                                int *n);

/* A host of the list that no rank runs on, with its length; NULL if there is none. */
const char *brio_config_list_stranger(const char *list, const struct brio_nodes *nodes,
                                      size_t *len);

#endif
