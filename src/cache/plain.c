/* What caches have in common: their settings, and what one does that holds nothing back:
 * nothing. */
#include <stdio.h>

#include "cache/cache.h"
#include "mod/hint.h"

const struct brio_hint brio_cache_hints[] = {
    {.name = "cache_page",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct brio_cache_conf, page),
     .def = "0",
     .max = 1 << 30,
     .same = true,
     .help = "Bytes of a page of the cache; 0: the file's stripe, or about 1 MiB, and 64 KiB "
             "with coherent."},
    {.name = "cache_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct brio_cache_conf, size),
     .def = "32m",
     .min = 4096,
     .max = (brio_off)1 << 40,
     .same = true,
     .help = "Bytes of pages that the cache may hold for each process and file; with "
             "writebehind and auto what was used of them stays for the next file until "
             "MPI_Finalize."},
    {.name = "cache_send",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct brio_cache_conf, send),
     .def = "64k",
     .min = 4096,
     .max = 64 << 20,
     .same = true,
     .help = "Bytes that one message to a rank of another node carries."},
    {.name = NULL},
};

bool brio_cache_plain_atomic(const struct brio_lane *lane, bool on)
{
    (void)lane;
    (void)on;
    return false;
}

enum brio_err brio_cache_plain_size(const struct brio_lane *lane, brio_off *size)
{
    (void)lane;
    (void)size;
    return BRIO_OK;
}

enum brio_err brio_cache_plain_resized(const struct brio_lane *lane, brio_off size)
{
    (void)lane;
    (void)size;
    return BRIO_OK;
}

enum brio_err brio_cache_plain_settle(const struct brio_lane *lane, const struct brio_io *io)
{
    (void)lane;
    (void)io;
    return BRIO_OK;
}

struct brio_lane brio_cache_plain_lane(const struct brio_lane *lane)
{
    return *lane;
}

void brio_cache_plain_tell(const struct brio_lane *lane, char *out, size_t size)
{
    (void)lane;
    snprintf(out, size, "%s", "");
}
