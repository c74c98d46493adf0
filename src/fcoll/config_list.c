/* Reading ROMIO's list. */
#include "fcoll/config_list.h"

#include <stdlib.h>
#include <string.h>

bool brio_config_list_parse(const char *list, brio_off *per_node)
{
    char *end;
    *per_node = 0;
    if (!*list || strcmp(list, "*:*") == 0)
        return true;
    if (strcmp(list, "*") == 0) {
        *per_node = 1;
        return true;
    }
    if (strncmp(list, "*:", 2) != 0 || list[2] < '0' || list[2] > '9')
        return false;
    long n = strtol(list + 2, &end, 10);
    if (*end || n < 1 || n > 1 << 20)
        return false;
    *per_node = n;
    return true;
}

brio_off brio_config_list_owners(const char *list, brio_off cb_nodes, int nnodes)
{
    brio_off per_node;
    if (!brio_config_list_parse(list, &per_node) || per_node == 0)
        return cb_nodes;
    brio_off most = per_node * nnodes;
    return cb_nodes > 0 ? brio_min(cb_nodes, most) : most;
}
