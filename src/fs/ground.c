/* Where the next hole is tells of all the bytes before it: one question serves a whole file
 * that is written again. A limit of the process is looked at on that occasion, and anew where
 * the write takes much longer than to ask. */
#include "fs/ground.h"

#include <sys/resource.h>
#include <unistd.h>

enum {
    LONG = 64 << 10
};

static brio_off limit(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0)
        return 0;
    return most.rlim_cur > BRIO_OFF_MAX ? BRIO_OFF_MAX : (brio_off)most.rlim_cur;
}

/* Answers that serve nobody are asked for less and less often. */
static bool may_ask(struct brio_ground *g)
{
    enum {
        MOST_IDLE = 1024
    };
    if (g->rest > 0) {
        g->rest--;
        return false;
    }
    g->idle = g->used ? 0 : (int)brio_min(MOST_IDLE, 2 * g->idle + 1);
    g->rest = g->idle;
    g->used = false;
    return true;
}

static void ask(struct brio_ground *g, brio_off off)
{
    g->lo = g->hi = off;
    g->limit = limit();
    if (lseek(g->fd, off, SEEK_DATA) == off)
        g->hi = lseek(g->fd, off, SEEK_HOLE);
}

static bool is_known(struct brio_ground *g, brio_off off, brio_off len)
{
    if (off < g->lo || off + len > g->hi)
        return false;
    if (len >= LONG)
        g->limit = limit();
    return off + len <= g->limit;
}

bool brio_ground_holds(struct brio_ground *g, brio_off off, brio_off len)
{
    if (is_known(g, off, len))
        return g->used = true;
    if (off + len > g->end) {
        g->end = off + len;
        return false;
    }
    if (!may_ask(g))
        return false;
    ask(g, off);
    return is_known(g, off, len);
}

void brio_ground_gave_way(struct brio_ground *g, enum brio_err err)
{
    g->gave_way = err;
    g->hi = g->lo;
}

BRIO_ERR brio_ground_owes(struct brio_ground *g)
{
    enum brio_err err = g->gave_way;
    g->gave_way = BRIO_OK;
    return err ? brio_fail(err, "a collective write of before failed here") : BRIO_OK;
}

void brio_ground_forget(struct brio_ground *g)
{
    *g = (struct brio_ground){.fd = g->fd, .gave_way = g->gave_way};
}
