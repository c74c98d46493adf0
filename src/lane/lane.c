/* What every user of a lane needs: blocking access, and filled tickets. */
#include "lane/lane.h"

#include <string.h>

struct brio_result brio_lane_access(const struct brio_lane *lane, const struct brio_io *io)
{
    struct brio_ticket ticket;
    brio_ticket_init(&ticket, false);
    lane->ops->submit(lane->self, io, BRIO_BLOCK, &ticket);
    if (!ticket.done)
        lane->ops->reap(lane->self, &ticket, BRIO_BLOCK);
    if (ticket.result.err != BRIO_OK)
        brio_err_restore(ticket.text);
    return ticket.result;
}

void brio_ticket_finish(struct brio_ticket *ticket, struct brio_result result)
{
    ticket->result = result;
    ticket->state = NULL;
    if (result.err != BRIO_OK)
        brio_err_save(ticket->text);
    ticket->done = true;
}

struct brio_io brio_io_flat(enum brio_dir dir, brio_off off, void *buf, brio_off bytes,
                            const struct brio_map *bytes_map)
{
    return (struct brio_io){.dir = dir,
                            .file = bytes_map,
                            .base = off,
                            .pos = 0,
                            .mem = bytes_map,
                            .buf = buf,
                            .mem_pos = 0,
                            .bytes = bytes};
}
