/* The conversion kernels of external32. */
#include "type/external32.h"

#include <string.h>

#include "type/node.h"

/* ---- Sizes -------------------------------------------------------------------------- */

static brio_off file_size(const struct brio_node *n)
{
    brio_off sum = 0;
    switch (n->shape) {
    case BRIO_SHAPE_RUN:
    case BRIO_SHAPE_FRAGS:
        return n->size ? n->size / n->len * brio_kind_file_size(n->kind) : 0;
    case BRIO_SHAPE_LOOP:
        return n->count * file_size(n->child);
    case BRIO_SHAPE_BLOCKS:
        return brio_node_start(n, n->count) * file_size(n->child);
    case BRIO_SHAPE_LIST:
        for (brio_off i = 0; i < n->count; i++)
            sum += file_size(n->kids[i]);
    }
    return sum;
}

brio_off brio_external32_size(const struct brio_map *typed)
{
    return file_size(typed->root);
}

/* ---- Elements of one size in memory and in the file --------------------------------- */

static inline char *at(const void *base, brio_off off)
{
    return (char *)((uintptr_t)base + (uintptr_t)off);
}

/* `size` is a constant wherever this is inlined. */
static inline __attribute__((always_inline)) void swap_one(char *to, const char *from,
                                                           size_t size)
{
    uint16_t v2;
    uint32_t v4;
    uint64_t v8, w8;
    switch (size) {
    case 2:
        memcpy(&v2, from, 2);
        v2 = __builtin_bswap16(v2);
        memcpy(to, &v2, 2);
        return;
    case 4:
        memcpy(&v4, from, 4);
        v4 = __builtin_bswap32(v4);
        memcpy(to, &v4, 4);
        return;
    case 8:
        memcpy(&v8, from, 8);
        v8 = __builtin_bswap64(v8);
        memcpy(to, &v8, 8);
        return;
    default:
        memcpy(&v8, from, 8);
        memcpy(&w8, from + 8, 8);
        v8 = __builtin_bswap64(v8);
        w8 = __builtin_bswap64(w8);
        memcpy(to, &w8, 8);
        memcpy(to + 8, &v8, 8);
        return;
    }
}

static inline __attribute__((always_inline)) void swap_many(char *to, brio_off to_stride,
                                                            const char *from,
                                                            brio_off from_stride,
                                                            brio_off count, size_t size)
{
    for (brio_off i = 0; i < count; i++) {
        swap_one(to, from, size);
        to = at(to, to_stride);
        from = at(from, from_stride);
    }
}

/* Elements of 2 or 4 bytes side by side, eight bytes at a time; returns how many. */
static inline __attribute__((always_inline)) brio_off swap_words(char *to, const char *from,
                                                                 brio_off count, size_t size)
{
    const uint64_t odd = UINT64_C(0xff00ff00ff00ff00);
    brio_off per = (brio_off)(8 / size), done = 0;
    for (; done + per <= count; done += per, to += 8, from += 8) {
        uint64_t v;
        memcpy(&v, from, 8);
        if (size == 4) {
            v = __builtin_bswap64(v);
            v = v << 32 | v >> 32;
        } else
            v = (v & odd) >> 8 | (v << 8 & odd);
        memcpy(to, &v, 8);
    }
    return done;
}

/* Both sides contiguous, which is most often the case, or with strides. */
static inline __attribute__((always_inline)) void swap_size(char *to, brio_off to_stride,
                                                            const char *from,
                                                            brio_off from_stride,
                                                            brio_off count, size_t size)
{
    if (to_stride == (brio_off)size && from_stride == (brio_off)size) {
        brio_off done = size < 8 ? swap_words(to, from, count, size) : 0;
        to += done * (brio_off)size;
        from += done * (brio_off)size;
        swap_many(to, (brio_off)size, from, (brio_off)size, count - done, size);
    } else
        swap_many(to, to_stride, from, from_stride, count, size);
}

/* The same bytes in the opposite order. False for a size that no element has. */
static bool swap(char *to, brio_off to_stride, const char *from, brio_off from_stride,
                 brio_off count, int size)
{
    switch (size) {
    case 1:
        if (to_stride == 1 && from_stride == 1)
            memcpy(to, from, (size_t)count);
        else
            for (brio_off i = 0; i < count; i++)
                *at(to, i * to_stride) = *at(from, i * from_stride);
        return true;
    case 2:
        swap_size(to, to_stride, from, from_stride, count, 2);
        return true;
    case 4:
        swap_size(to, to_stride, from, from_stride, count, 4);
        return true;
    case 8:
        swap_size(to, to_stride, from, from_stride, count, 8);
        return true;
    case 16:
        swap_size(to, to_stride, from, from_stride, count, 16);
        return true;
    default:
        return false;
    }
}

/* ---- Integers that change their size ------------------------------------------------ */

/* An integer of 1, 2, 4 or 8 bytes in memory. */
static inline uint64_t load_native(const char *p, int size, bool is_signed)
{
    uint64_t v = 0;
    memcpy(&v, p, (size_t)size);
    int unused = 64 - 8 * size;
    return is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

static inline bool fits(uint64_t v, int size, bool is_signed)
{
    int unused = 64 - 8 * size;
    if (is_signed)
        return (uint64_t)((int64_t)(v << unused) >> unused) == v;
    return v << unused >> unused == v;
}

static enum brio_err misfit(uint64_t v, int size, bool is_signed)
{
    if (is_signed)
        return brio_fail(BRIO_ECONV, "external32: %lld does not fit in %d bytes", (long long)v,
                         size);
    return brio_fail(BRIO_ECONV, "external32: %llu does not fit in %d bytes",
                     (unsigned long long)v, size);
}

static BRIO_ERR resize_encode(char *file, const char *from, const struct brio_run *run)
{
    int mem = brio_kind_mem_size(run->kind), size = brio_kind_file_size(run->kind);
    bool is_signed = brio_kind_of(run->kind) == BRIO_KIND_INT;
    for (brio_off i = 0; i < run->count; i++, file += size) {
        uint64_t v = load_native(at(from, i * run->stride), mem, is_signed);
        if (!fits(v, size, is_signed))
            return misfit(v, size, is_signed);
        uint64_t big = __builtin_bswap64(v << (64 - 8 * size));
        memcpy(file, &big, (size_t)size);
    }
    return BRIO_OK;
}

static BRIO_ERR resize_decode(char *to, const char *file, const struct brio_run *run)
{
    int mem = brio_kind_mem_size(run->kind), size = brio_kind_file_size(run->kind);
    bool is_signed = brio_kind_of(run->kind) == BRIO_KIND_INT;
    int unused = 64 - 8 * size;
    for (brio_off i = 0; i < run->count; i++, file += size) {
        uint64_t v = 0;
        memcpy(&v, file, (size_t)size);
        v = __builtin_bswap64(v);
        v = is_signed ? (uint64_t)((int64_t)v >> unused) : v >> unused;
        if (!fits(v, mem, is_signed))
            return misfit(v, mem, is_signed);
        memcpy(at(to, i * run->stride), &v, (size_t)mem);
    }
    return BRIO_OK;
}

/* ---- Runs --------------------------------------------------------------------------- */

static enum brio_err unknown(int kind)
{
    return brio_fail(BRIO_EINTERN, "external32: no conversion for element kind 0x%x", kind);
}

/* Integers of up to 8 bytes on both sides. */
static bool resizable(int kind)
{
    return brio_kind_of(kind) != BRIO_KIND_FLOAT && brio_kind_mem_size(kind) <= 8 &&
           brio_kind_file_size(kind) <= 8;
}

BRIO_ERR brio_external32_encode(const void *base, const struct brio_run *run, void *file)
{
    int mem = brio_kind_mem_size(run->kind), size = brio_kind_file_size(run->kind);
    const char *from = at(base, run->off);
    if (brio_kind_of(run->kind) == BRIO_KIND_EXTENDED) {
        for (brio_off i = 0; i < run->count; i++)
            brio_extended_to_quad((unsigned char *)at(from, i * run->stride),
                                  (unsigned char *)file + i * size);
        return BRIO_OK;
    }
    if (mem != size)
        return resizable(run->kind) ? resize_encode(file, from, run) : unknown(run->kind);
    return swap(file, size, from, run->stride, run->count, size) ? BRIO_OK : unknown(run->kind);
}

BRIO_ERR brio_external32_decode(void *base, const struct brio_run *run, const void *file)
{
    int mem = brio_kind_mem_size(run->kind), size = brio_kind_file_size(run->kind);
    char *to = at(base, run->off);
    if (brio_kind_of(run->kind) == BRIO_KIND_EXTENDED) {
        for (brio_off i = 0; i < run->count; i++)
            brio_quad_to_extended((const unsigned char *)file + i * size,
                                  (unsigned char *)at(to, i * run->stride));
        return BRIO_OK;
    }
    if (mem != size)
        return resizable(run->kind) ? resize_decode(to, file, run) : unknown(run->kind);
    return swap(to, run->stride, file, size, run->count, size) ? BRIO_OK : unknown(run->kind);
}
