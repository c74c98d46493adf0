/* The settings that all modules with owners have in common. */
#include <stddef.h>

#include "fcoll/engine.h"
#include "mod/hint.h"

#define AT(field) offsetof(struct brio_coll_conf, field)

const struct brio_hint brio_coll_hints[] = {
    {.name = "collective_buffering",
     .kind = BRIO_HINT_BOOL,
     .offset = AT(buffering),
     .def = "true",
     .same = true,
     .help = "whether collective accesses may go through owners (aggregators)"},
    {.name = "cb_nodes",
     .kind = BRIO_HINT_INT,
     .offset = AT(nodes),
     .def = "0",
     .same = true,
     .help = "number of owners; 0: chosen from the data"},
    {.name = "cb_read",
     .aliases = "romio_cb_read",
     .kind = BRIO_HINT_SWITCH,
     .offset = AT(use[BRIO_READ]),
     .def = "automatic",
     .same = true,
     .help = "collective reads through owners: always, never, or where pieces are small"},
    {.name = "cb_write",
     .aliases = "romio_cb_write",
     .kind = BRIO_HINT_SWITCH,
     .offset = AT(use[BRIO_WRITE]),
     .def = "automatic",
     .same = true,
     .help = "collective writes through owners: always, never, or where pieces are small"},
    {.name = "cb_config_list",
     .kind = BRIO_HINT_TEXT,
     .offset = AT(config_list),
     .def = "",
     .same = true,
     .help = "how many owners each host may have (ROMIO's: host:2, *:1); with cb_nodes the "
             "smaller number counts"},
    {.name = "cb_buffer_size",
     .kind = BRIO_HINT_BYTES,
     .offset = AT(buffer),
     .def = "4m",
     .min = 1,
     .max = (brio_off)1 << 40,
     .same = true,
     .help = "memory of an owner for what it gathers, at most; on servers, for each of its two "
             "windows"},
    {.name = "cb_block_size",
     .kind = BRIO_HINT_BYTES,
     .offset = AT(block),
     .def = "0",
     .same = true,
     .help = "owners' domains and windows begin at multiples of this; 0: the file system's"},
    {.name = "cb_exchange",
     .kind = BRIO_HINT_CHOICE,
     .offset = AT(exchange),
     .def = "automatic",
     .choices = "automatic memory messages phases",
     .same = true,
     .help = "how data gets to owners: by the node's memory (and messages between nodes), by "
             "messages only, or passed on in log2(P) phases"},
    {.name = "cb_packed",
     .kind = BRIO_HINT_SWITCH,
     .offset = AT(packed),
     .def = "automatic",
     .same = true,
     .help = "data lies packed in the memory of a node, and owners put it in order: always, "
             "never, or where that is faster"},
    {.name = "cb_move_ranks",
     .kind = BRIO_HINT_BOOL,
     .offset = AT(move_ranks),
     .def = "true",
     .same = true,
     .help = "where ranks share cores and are not bound, one that finds a core with two ranks "
             "less than its own moves there"},
    {.name = "cb_groups",
     .kind = BRIO_HINT_CHOICE,
     .offset = AT(groups),
     .def = "automatic",
     .choices = "automatic view grid ranks",
     .same = true,
     .help = "which ranks form groups (static, dynamic): neighbours in the file, rows of a "
             "Cartesian communicator, or neighbours by rank"},
    {.name = NULL},
};

int brio_coll_answer(const void *conf, int priority, const char *why)
{
    const struct brio_coll_conf *c = conf;
    if (!c->buffering)
        return brio_answer(0, "collective_buffering is off");
    return brio_answer(priority, "%s", why);
}
