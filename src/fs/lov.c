/* Taking Lustre's layouts apart, without trust in any of their numbers.
 *
 *     version 1                 version 3, the same but     composite
 *      0  u32 magic             32  16 bytes: pool name      0  u32 magic
 *      4  u32 pattern           48  objects                  4  u32 size of all
 *      8  16 bytes: object id                               14  u16 number of entries
 *     24  u32 stripe size                                   32  entries of 48 bytes:
 *     28  u16 stripe count                                       0  u32 id, 4 u32 flags
 *     30  u16 first server or generation                         8  u64 start, 16 u64 end
 *     32  objects of 24 bytes:                                  24  u32 offset, 28 u32 size of
 *          0  16 bytes: object id                                   a version 1 or 3
 *         16  u32 generation, 20 u32 server
 */
#include "fs/lov.h"

#include <string.h>

#define MAGIC_V1        0x0BD10BD0u
#define MAGIC_V3        0x0BD30BD0u
#define MAGIC_COMPOSITE 0x0BD60BD0u

enum {
    HEAD_V1 = 32,
    HEAD_V3 = 48,
    OBJECT = 24,
    HEAD_COMPOSITE = 32,
    ENTRY = 48,

    STALE = 0x1,   /* flag of an entry */
    INLINE = 0x100 /* pattern: the data is on the metadata server */
};
#define ANY_COUNT  0xffffu
#define ANY_SERVER 0xffffffffu

/* The bytes, in either order. */
struct blob {
    const unsigned char *at;
    size_t size;
    bool swapped;
};

static uint64_t get(const struct blob *b, size_t off, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | b->at[off + (size_t)(b->swapped ? i : bytes - 1 - i)];
    return n;
}

static uint32_t get32(const struct blob *b, size_t off)
{
    return (uint32_t)get(b, off, 4);
}

/* Servers by Lustre's numbers, in the order in which they were met. */
struct servers {
    int n;
    uint32_t number[BRIO_LAYOUT_OBJECTS];
};

static int meet(struct servers *s, uint32_t number)
{
    for (int i = 0; i < s->n; i++)
        if (s->number[i] == number)
            return i;
    if (s->n == BRIO_LAYOUT_OBJECTS)
        return s->n - 1;
    s->number[s->n] = number;
    return s->n++;
}

static BRIO_ERR too_short(const struct blob *b, const char *what)
{
    return brio_fail(BRIO_EUNSUPOP, "a Lustre layout of %zu bytes is too short for %s", b->size,
                     what);
}

/* The objects of a component: as many as there is room for in the layout. */
static void decode_objects(const struct blob *b, size_t head, struct servers *servers,
                           struct brio_layout *l, struct brio_stripes *s)
{
    s->at = l->nobjects;
    s->n = 0;
    for (int k = 0; k < s->width && l->nobjects < BRIO_LAYOUT_OBJECTS; k++) {
        uint32_t number = get32(b, head + (size_t)k * OBJECT + 20);
        if (number == ANY_SERVER)
            break;
        l->objects[l->nobjects++] = (uint16_t)meet(servers, number);
        s->n++;
    }
    if (s->n == 0)
        s->at = 0;
}

/* A version 1 or 3: one component. The extent's bounds are filled in already. */
static BRIO_ERR decode_stripes(const struct blob *b, struct servers *servers,
                               struct brio_layout *l, struct brio_stripes *s)
{
    if (b->size < HEAD_V1)
        return too_short(b, "a component");
    uint32_t magic = get32(b, 0), pattern = get32(b, 4);
    size_t head = magic == MAGIC_V3 ? HEAD_V3 : HEAD_V1;
    if (magic != MAGIC_V1 && magic != MAGIC_V3)
        return brio_fail(BRIO_EUNSUPOP, "a Lustre layout with the number %#x", (unsigned)magic);
    if (b->size < head)
        return too_short(b, "a component");
    uint32_t width = (uint32_t)get(b, 28, 2);
    size_t objects = (b->size - head) / OBJECT;
    s->unit = get32(b, 24);
    if (s->unit == 0)
        return brio_fail(BRIO_EUNSUPOP, "a Lustre layout with stripes of no bytes");
    s->width = width == 0 || width == ANY_COUNT || pattern & INLINE ? 1 : (int)width;
    if (pattern & INLINE) {
        s->at = l->nobjects;
        s->n = l->nobjects < BRIO_LAYOUT_OBJECTS;
        if (s->n)
            l->objects[l->nobjects++] = (uint16_t)meet(servers, ANY_SERVER);
        else
            s->at = 0;
    } else if (objects == 0) {
        s->at = s->n = 0;
    } else if (objects < (size_t)s->width) {
        return too_short(b, "its objects");
    } else {
        decode_objects(b, head, servers, l, s);
    }
    return BRIO_OK;
}

static int mirror_of(uint32_t id)
{
    return (int)(id >> 16 & 0x7fff);
}

/* The mirror that is taken: that of the first entry which is not stale. */
static int choose_mirror(const struct blob *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = HEAD_COMPOSITE + i * ENTRY;
        if (!(get32(b, at + 4) & STALE))
            return mirror_of(get32(b, at));
    }
    return mirror_of(get32(b, HEAD_COMPOSITE));
}

static brio_off bound(uint64_t n)
{
    return n > (uint64_t)BRIO_OFF_MAX ? BRIO_OFF_MAX : (brio_off)n;
}

/* One entry of a composite layout; false in *more when there is no room for another. */
static BRIO_ERR decode_entry(const struct blob *b, size_t at, struct servers *servers,
                             struct brio_layout *l, bool *more)
{
    brio_off lo = bound(get(b, at + 8, 8)), hi = bound(get(b, at + 16, 8));
    uint32_t offset = get32(b, at + 24), size = get32(b, at + 28);
    brio_off end = l->nextents ? l->extents[l->nextents - 1].hi : 0;
    if (lo >= hi) /* not begun */
        return BRIO_OK;
    if (lo < end)
        return brio_fail(BRIO_EUNSUPOP, "a Lustre layout whose components overlap");
    if (offset > b->size || size > b->size - offset)
        return too_short(b, "its components");
    if (l->nextents == BRIO_LAYOUT_EXTENTS) {
        l->extents[l->nextents - 1].hi = BRIO_OFF_MAX;
        *more = false;
        return BRIO_OK;
    }
    struct brio_stripes s = {.lo = lo, .hi = hi};
    const struct blob part = {.at = b->at + offset, .size = size, .swapped = b->swapped};
    enum brio_err err = decode_stripes(&part, servers, l, &s);
    if (!err)
        l->extents[l->nextents++] = s;
    return err;
}

static BRIO_ERR decode_composite(const struct blob *b, struct servers *servers,
                                 struct brio_layout *l)
{
    if (b->size < HEAD_COMPOSITE)
        return too_short(b, "a composite one");
    size_t count = (size_t)get(b, 14, 2);
    if (count > (b->size - HEAD_COMPOSITE) / ENTRY)
        return too_short(b, "its entries");
    int mirror = count > 0 ? choose_mirror(b, count) : 0;
    bool more = true;
    enum brio_err err = BRIO_OK;
    for (size_t i = 0; i < count && more && !err; i++) {
        size_t at = HEAD_COMPOSITE + i * ENTRY;
        if (mirror_of(get32(b, at)) == mirror)
            err = decode_entry(b, at, servers, l, &more);
    }
    return err;
}

/* What the extents have in common. */
static void summarize(const struct servers *servers, struct brio_layout *l)
{
    l->nservers = servers->n > 0 ? servers->n : 1;
    for (int i = 0; i < l->nextents; i++) {
        const struct brio_stripes *s = &l->extents[i];
        if (s->n == 0 && s->width > l->nservers)
            l->nservers = s->width;
        l->stripe = s->unit;
    }
    if (l->nservers == 1)
        brio_layout_plain(l);
}

BRIO_ERR brio_lov_decode(const void *value, size_t size, struct brio_layout *out)
{
    static const uint32_t magics[] = {MAGIC_V1, MAGIC_V3, MAGIC_COMPOSITE};
    struct blob b = {.at = value, .size = size};
    struct servers servers;
    servers.n = 0;
    if (size < 4)
        return too_short(&b, "anything");
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        b.swapped |= get32(&b, 0) == __builtin_bswap32(magics[i]);
    brio_layout_plain(out);
    enum brio_err err;
    if (get32(&b, 0) == MAGIC_COMPOSITE) {
        err = decode_composite(&b, &servers, out);
    } else {
        struct brio_stripes s = {.hi = BRIO_OFF_MAX};
        err = decode_stripes(&b, &servers, out, &s);
        out->nextents = 1;
        out->extents[0] = s;
    }
    if (err)
        return err;
    summarize(&servers, out);
    return brio_layout_check(out);
}

static void put(unsigned char *at, uint64_t n, int bytes)
{
    uint32_t word = (uint32_t)n;
    uint16_t half = (uint16_t)n;
    memcpy(at, bytes == 4 ? (const void *)&word : &half, (size_t)bytes);
}

void brio_lov_encode(int nservers, brio_off stripe, unsigned char out[BRIO_LOV_WISH])
{
    memset(out, 0, BRIO_LOV_WISH);
    put(out, MAGIC_V1, 4);
    put(out + 4, 1, 4); /* a stripe after the other */
    put(out + 24, (uint64_t)stripe, 4);
    put(out + 28, (uint64_t)(nservers > 0 && nservers < (int)ANY_COUNT ? nservers : 0), 2);
    put(out + 30, 0xffff, 2); /* any server may be the first */
}
