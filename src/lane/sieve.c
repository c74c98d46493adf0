/* What a system call costs against what a byte costs, from the average piece of the patterns
 * and the real density of each window. */
#include "lane/sieve.h"

enum {
    PAGE = 4096,

    /* Reading one more piece by a call of its own pays if the next one is this far away:
     * measured on ext4 and tmpfs, a call costs 0.5 us, 8 KiB of window 0.7 us and less. */
    READ_CALL = 8192,

    /* What a mapping costs, in calls that write one piece each (0.7 us on tmpfs, 2 us on
     * ext4), at once and for each page. */
    MAP_ONCE = 16,
    MAP_PAGE = 2,

    /* Memory pieces shorter than this are cheaper to copy together than to hand over as
     * iovecs, if fewer calls come of it. */
    SMALL_PIECE = 256,
    PACK_BYTES = 256 << 10,

    /* Taken in stretches before the question is asked again. */
    STRETCH_BYTES = 64 << 10
};

/* Average bytes of a contiguous piece. */
static brio_off piece(const struct brio_map *map)
{
    if (map->contiguous)
        return BRIO_OFF_MAX;
    return brio_max(1, map->size / brio_max(1, map->npieces));
}

/* How far away the next piece may be. */
static brio_off reach(const struct brio_sieve *sieve)
{
    return sieve->call_bytes ? sieve->call_bytes : READ_CALL;
}

static bool worth(const struct brio_sieve *sieve, const struct brio_io *io, brio_off pieces,
                  brio_off span)
{
    if (pieces < 2)
        return false;
    if ((io->dir == BRIO_READ ? sieve->read : sieve->write) == BRIO_ON_ALWAYS)
        return true;
    if (io->dir == BRIO_READ)
        return span / pieces < reach(sieve);
    return pieces - MAP_ONCE >= MAP_PAGE * (span / PAGE);
}

/* Measures the window that begins at the next data byte. */
static void measure(const struct brio_sieve *sieve, const struct brio_io *io,
                    struct brio_bite *out)
{
    brio_off window = io->dir == BRIO_READ ? sieve->read_window : sieve->write_window;
    brio_off lo = io->base + brio_map_offset(io->file, io->pos);
    brio_off last = io->base + brio_map_offset(io->file, io->pos + io->bytes - 1);
    brio_off start = io->dir == BRIO_READ ? lo : lo - lo % PAGE;
    out->lo = lo;
    out->hi = last + 1;
    out->bytes = io->bytes;
    if (last - start < window)
        return;
    brio_off end = start + window;
    if (io->dir == BRIO_WRITE && window >= BRIO_LARGE_PAGE)
        end -= end % BRIO_LARGE_PAGE;
    out->bytes = brio_map_below(io->file, end - io->base) - io->pos;
    out->hi = io->base + brio_map_offset(io->file, io->pos + out->bytes - 1) + 1;
}

void brio_sieve_next(const struct brio_sieve *sieve, const struct brio_io *io,
                     struct brio_bite *out)
{
    brio_off in_file = piece(io->file), in_mem = piece(io->mem);
    enum brio_switch wanted = io->dir == BRIO_READ ? sieve->read : sieve->write;
    bool able = wanted != BRIO_OFF_NEVER && (io->dir == BRIO_READ || sieve->mapped) &&
                io->file->monotone && io->file->extent > 0 && !io->file->contiguous;
    brio_off bytes = io->bytes;
    if (able && (in_file < reach(sieve) || wanted == BRIO_ON_ALWAYS)) {
        measure(sieve, io, out);
        if (worth(sieve, io, out->bytes / in_file, out->hi - out->lo)) {
            out->way = BRIO_WAY_WINDOW;
            return;
        }
        bytes = brio_min(bytes, brio_max(out->bytes, STRETCH_BYTES));
    }
    bool pack = in_mem < SMALL_PIECE && in_mem <= in_file / 2;
    out->way = pack ? BRIO_WAY_PACK : BRIO_WAY_STRETCH;
    out->bytes = pack ? brio_min(bytes, PACK_BYTES) : bytes;
    out->lo = out->hi = 0;
}
