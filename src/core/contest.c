/* fbtl/uring against fbtl/posix on one file, as both would serve it: for `brio calibrate`,
 * which loads the library. MPI is not initialised then. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stats.h"
#include "fbtl/fbtl.h"
#include "mod/select.h"

#define EXPORTED __attribute__((visibility("default")))

/* Bytes per second of scattered reads: speed[0] from the disk, speed[1] from memory, by posix
 * and by uring. 0, or 1 and a message on standard error. */
EXPORTED int brio_contest_rings(int fd, long long bytes, double seconds, double speed[2][2]);

enum {
    PIECE = 64 << 10,
    FEWEST = 3, /* rounds, so that a median means something */
    MOST = 99
};

struct contest {
    int fd;
    struct brio_lane lane[2];
    struct brio_map *file, *mem;
    void *buf;
    brio_off bytes; /* of one round */
};

static const struct brio_fbtl *const modules[2] = {&brio_fbtl_posix, &brio_fbtl_uring};

/* Every other piece of the file. */
static BRIO_ERR make_maps(struct contest *c, brio_off bytes)
{
    struct brio_node *piece, *all;
    c->bytes = bytes / (2 * PIECE) * PIECE;
    if (c->bytes == 0)
        return brio_fail(BRIO_EARG, "a file of %lld bytes is too short", (long long)bytes);
    enum brio_err err = brio_node_bytes(PIECE, 0, &piece);
    if (!err)
        err = brio_node_loop(piece, c->bytes / PIECE, 2 * PIECE, &all);
    if (!err)
        err = brio_map_new(all, 0, 2 * c->bytes, &c->file);
    if (!err)
        err = brio_map_bytes(1, &c->mem);
    return err ? err : brio_calloc(1, (size_t)c->bytes, &c->buf);
}

static BRIO_ERR open_lanes(struct contest *c)
{
    const struct brio_store store = {
        .fd = c->fd, .direct = -1, .readable = true, .local = true, .block_size = 4096};
    const struct brio_facts facts = {.local = true, .store = BRIO_STORE_DESCRIPTOR};
    struct brio_settings *settings;
    enum brio_err err = brio_settings_new(&settings);
    if (err)
        return err;
    for (int i = 0; i < 2 && !err; i++) {
        struct brio_chosen chosen;
        err = brio_ask(&modules[i]->base, &facts, settings, &chosen);
        if (err)
            break;
        err = modules[i]->open(&store, chosen.conf, &c->lane[i]);
        brio_chosen_free(&chosen);
    }
    brio_settings_free(settings);
    return err;
}

static BRIO_ERR run(struct contest *c, int who, bool warm, double *speed)
{
    const struct brio_io io = {
        .dir = BRIO_READ, .file = c->file, .mem = c->mem, .buf = c->buf, .bytes = c->bytes};
    if (!warm)
        (void)posix_fadvise(c->fd, 0, 0, POSIX_FADV_DONTNEED);
    int64_t began = brio_now();
    struct brio_result r = brio_lane_access(&c->lane[who], &io);
    int64_t took = brio_now() - began;
    if (!r.err && r.bytes != c->bytes)
        return brio_fail(BRIO_EIO, "the file ends too soon");
    *speed = (double)r.bytes / ((double)brio_max(took, 1) / 1e9);
    return r.err;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* In turn, so that a disturbance hits both; the medians. */
static BRIO_ERR compare(struct contest *c, bool warm, double seconds, double speed[2])
{
    double all[2][MOST];
    int64_t end = brio_now() + (int64_t)(seconds * 1e9);
    int n = 0;
    enum brio_err err = BRIO_OK;
    for (int who = 0; who < 2 && !err; who++) /* not counted: rings are made, pages come in */
        err = run(c, who, warm, &all[who][0]);
    for (; !err && n < MOST && (n < FEWEST || brio_now() < end); n++)
        for (int k = 0; k < 2 && !err; k++)
            err = run(c, (n + k) % 2, warm, &all[(n + k) % 2][n]);
    for (int who = 0; who < 2 && !err; who++) {
        qsort(all[who], (size_t)n, sizeof all[who][0], by_value);
        speed[who] = (all[who][(n - 1) / 2] + all[who][n / 2]) / 2;
    }
    return err;
}

static void clean_up(struct contest *c)
{
    for (int i = 0; i < 2; i++)
        if (c->lane[i].self)
            modules[i]->close(&c->lane[i]);
    brio_map_unref(c->file);
    brio_map_unref(c->mem);
    free(c->buf);
}

int brio_contest_rings(int fd, long long bytes, double seconds, double speed[2][2])
{
    struct contest c = {.fd = fd};
    enum brio_err err = make_maps(&c, bytes);
    if (!err)
        err = open_lanes(&c);
    for (int warm = 0; warm < 2 && !err; warm++)
        err = compare(&c, warm, seconds / 2, speed[warm]);
    clean_up(&c);
    if (err)
        fprintf(stderr, "brio: io_uring is not measured: %s\n", brio_err_text());
    return err != BRIO_OK;
}
