/* Reading ROMIO's list, item by item. */
#include "fcoll/config_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char blanks[] = " \t";

/* "host", "host:3" or "host:*"; the host "*" stands for all that are not named. */
struct item {
    const char *host;
    size_t len;
    int most;
};

static bool is_any(const struct item *item)
{
    return item->len == 1 && *item->host == '*';
}

/* What stands behind the colon; false if that is no number. */
static bool read_most(const char **at, int *most)
{
    if (**at == '*') {
        *most = INT_MAX;
        (*at)++;
        return true;
    }
    char *end;
    long n = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (n < 0 || n > INT_MAX)
        return false;
    *most = (int)n;
    *at = end;
    return true;
}

/* The next item; false at the end of the list, and with *bad if that is not well-formed. */
static bool next_item(const char **at, struct item *out, bool *bad)
{
    const char *p = *at + strspn(*at, blanks);
    *bad = false;
    if (!*p)
        return false;
    *bad = true;
    *out = (struct item){.host = p, .len = strcspn(p, ":, \t"), .most = 1};
    bool wild = memchr(p, '*', out->len) != NULL;
    p += out->len;
    if (out->len == 0 || (wild && !is_any(out)))
        return false;
    if (*p == ':' && (p++, !read_most(&p, &out->most)))
        return false;
    p += strspn(p, blanks);
    if (*p && (*p != ',' || !p[1 + strspn(p + 1, blanks)]))
        return false;
    *at = p + (*p == ',');
    *bad = false;
    return true;
}

bool brio_config_list_valid(const char *list)
{
    struct item item;
    bool bad;
    while (next_item(&list, &item, &bad))
        ;
    return !bad;
}

/* A node, and how many of its ranks have been looked at. */
struct place {
    const char *decides; /* the item of the list; NULL: none */
    int seen;
};

/* The item that names the host, else that for all others; the first one counts. */
static const char *item_of(const char *list, uint64_t host)
{
    const char *others = NULL;
    struct item item;
    bool bad;
    while (next_item(&list, &item, &bad)) {
        if (!is_any(&item) && brio_nodes_hash(item.host, item.len) == host)
            return item.host;
        if (is_any(&item) && !others)
            others = item.host;
    }
    return others;
}

/* Adds ranks of the nodes that this item decides about, in turns. */
static int add_ranks(const struct item *item, const struct brio_nodes *nodes,
                     struct place *places, int *ranks)
{
    int n = 0, most = item->most < nodes->max_per_node ? item->most : nodes->max_per_node;
    for (int turn = 0; turn < most; turn++) {
        for (int node = 0; node < nodes->nnodes; node++)
            places[node].seen = 0;
        for (int r = 0; r < nodes->nranks; r++) {
            struct place *p = &places[nodes->node_of[r]];
            if (p->seen++ == turn && p->decides == item->host)
                ranks[n++] = r;
        }
    }
    return n;
}

BRIO_ERR brio_config_list_ranks(const char *list, const struct brio_nodes *nodes, int *ranks,
                                int *n)
{
    struct place *places;
    struct item item;
    bool bad, open = true;
    *n = 0;
    if (!*list || !brio_config_list_valid(list))
        return BRIO_OK;
    enum brio_err err = brio_calloc((size_t)nodes->nnodes, sizeof *places, (void **)&places);
    if (err)
        return err;
    for (int node = 0; node < nodes->nnodes; node++)
        places[node].decides = item_of(list, nodes->host_of[node]);
    for (const char *at = list; next_item(&at, &item, &bad);) {
        open &= is_any(&item) && item.most == INT_MAX;
        *n += add_ranks(&item, nodes, places, ranks + *n);
    }
    free(places);
    if (open || *n == 0)
        *n = open ? 0 : -1;
    return BRIO_OK;
}

const char *brio_config_list_stranger(const char *list, const struct brio_nodes *nodes,
                                      size_t *len)
{
    struct item item;
    bool bad;
    while (brio_config_list_valid(list) && next_item(&list, &item, &bad)) {
        int node = 0;
        uint64_t host = brio_nodes_hash(item.host, item.len);
        while (node < nodes->nnodes && nodes->host_of[node] != host)
            node++;
        if (!is_any(&item) && node == nodes->nnodes) {
            *len = item.len;
            return item.host;
        }
    }
    return NULL;
}
