/* Pieces taken together: no list is too long, nothing is lost, doubled or out of order. Every
 * byte of random accesses is followed through the batches. */
#include "contract/contract.h"
#include "fbtl/batch.h"

enum {
    MOST = BRIO_BATCH_PIECES
};

/* What a system that looks at single bytes would count: runs of bytes that lie one after the
 * other in the file, in memory and in one stripe. */
struct counted {
    int64_t runs;
    int64_t last_off;
    const char *last_mem;
};

static void count_byte(struct counted *c, int64_t off, const char *mem, int64_t stripe)
{
    c->runs += c->runs == 0 || off != c->last_off + 1 || mem != c->last_mem + 1 ||
               (stripe && off % stripe == 0);
    c->last_off = off;
    c->last_mem = mem;
}

/* The byte of the batch that is `at` bytes behind its first. */
static int64_t file_at(const struct brio_batch *b, int64_t at)
{
    int i = 0;
    for (; at >= b->file[i].len; i++)
        at -= b->file[i].len;
    return b->file[i].off + at;
}

static const char *mem_at(const struct brio_batch *b, int64_t at)
{
    int i = 0;
    for (; at >= (int64_t)b->mem[i].iov_len; i++)
        at -= (int64_t)b->mem[i].iov_len;
    return (const char *)b->mem[i].iov_base + at;
}

static void check_batch(const struct brio_batch *b, int64_t stripe, int64_t max_bytes)
{
    struct counted c = {0};
    CHECK(b->bytes > 0 && b->bytes <= max_bytes, "%lld bytes", (long long)b->bytes);
    CHECK(b->nfile >= 1 && b->nfile <= MOST && b->nmem >= 1 && b->nmem <= MOST, "%d and %d",
          b->nfile, b->nmem);
    for (int64_t i = 0; i < b->bytes; i++)
        count_byte(&c, file_at(b, i), mem_at(b, i), stripe);
    CHECK(c.runs <= MOST || (b->nfile == 1 && b->nmem == 1), "%lld pieces", (long long)c.runs);
}

static void one_access(struct pattern *file, struct pattern *mem)
{
    static char buf[1]; /* never touched: only where bytes would be */
    pattern_random(file);
    pattern_random(mem);
    int64_t stripe = test_below(3) ? 1 + test_below(5000) : 0;
    int64_t max_bytes = test_below(2) ? 1 + test_below(3000) : 1 << 20;
    struct brio_io io = {.file = file->map,
                         .base = test_below(10000),
                         .pos = test_below(2 * file->size),
                         .mem = mem->map,
                         .buf = buf,
                         .mem_pos = test_below(2 * mem->size),
                         .bytes = test_below(6000)};
    struct brio_walk walk;
    struct brio_batch b;
    int64_t done = 0;
    brio_walk_init(&walk, &io);
    while (brio_batch_next(&walk, max_bytes, stripe, &b) && !test_failed) {
        check_batch(&b, stripe, max_bytes);
        for (int64_t i = 0; i < b.bytes && !test_failed; i++, done++)
            CHECK(file_at(&b, i) == io.base + pattern_at(file, io.pos + done) &&
                      (uintptr_t)mem_at(&b, i) ==
                          (uintptr_t)buf + (uintptr_t)pattern_at(mem, io.mem_pos + done),
                  "byte %lld", (long long)done);
    }
    CHECK(done == io.bytes, "%lld bytes of %lld", (long long)done, (long long)io.bytes);
    pattern_free(file);
    pattern_free(mem);
}

static void accesses(void)
{
    static struct pattern file, mem;
    uint64_t seed = test_seed();
    for (int i = 0; i < 1000 && !test_failed; i++)
        one_access(&file, &mem);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* As many as fit: a list is not cut before it must be. */
static void lists_are_full(void)
{
    static struct pattern file, mem;
    struct brio_walk walk;
    struct brio_batch b;
    int64_t sizes[3];
    int n = 0;
    pattern_vector(&file, 150, 10, 100, 0, 0);
    pattern_vector(&mem, 1, 1500, 0, 0, 0);
    struct brio_io io = {.file = file.map, .mem = mem.map, .buf = &b, .bytes = 1500};
    brio_walk_init(&walk, &io);
    for (; n < 3 && brio_batch_next(&walk, 1 << 20, 0, &b); n++)
        sizes[n] = b.bytes;
    CHECK(n == 3 && sizes[0] == 640 && sizes[1] == 640 && sizes[2] == 220, "%d lists", n);
    CHECK(!brio_batch_next(&walk, 1 << 20, 0, &b), "one more");
    /* A long piece of many stripes is one request. */
    io.file = mem.map;
    brio_walk_init(&walk, &io);
    CHECK(brio_batch_next(&walk, 1 << 20, 4, &b) && b.bytes == 1500 && b.nfile == 1, "%lld",
          (long long)b.bytes);
    pattern_free(&file);
    pattern_free(&mem);
}

static void vectors(void)
{
    static char buf[100000];
    struct iovec iov[200];
    test_seed();
    for (int round = 0; round < 1000 && !test_failed; round++) {
        int niov = 1 + (int)test_below(200);
        int64_t at = 0, off = test_below(100000), stripe = 1 + test_below(2000);
        for (int i = 0; i < niov; i++) {
            iov[i] = (struct iovec){buf + at, 1 + (size_t)test_below(300)};
            at += (int64_t)iov[i].iov_len + test_below(3);
        }
        struct brio_batch b;
        int64_t most = test_below(2) ? 1 + test_below(5000) : 1 << 20;
        brio_batch_vector(iov, niov, off, most, stripe, &b);
        check_batch(&b, stripe, most);
        CHECK(b.nfile == 1 && b.file[0].off == off && b.file[0].len == b.bytes, "the stretch");
        int64_t seen = 0;
        for (int i = 0; i < niov && seen < b.bytes; i++)
            for (size_t k = 0; k < iov[i].iov_len && seen < b.bytes; k++, seen++)
                CHECK(mem_at(&b, seen) == (char *)iov[i].iov_base + k, "byte %lld",
                      (long long)seen);
    }
}

/* Every byte of the batch is in the part of its object, once, and in order. */
static void check_parts(const struct brio_batch *b, int64_t stripe, int nobjects)
{
    struct brio_batch part;
    int64_t seen = 0, most = 0, told;
    int nparts = 0;
    for (int from = 0; brio_batch_part(b, stripe, nobjects, &from, &part); nparts++) {
        int64_t k = 0, object = file_at(&part, 0) / stripe % nobjects;
        check_batch(&part, stripe, b->bytes);
        for (int64_t i = 0; i < b->bytes; i++)
            if (file_at(b, i) / stripe % nobjects == object) {
                CHECK(k < part.bytes && file_at(&part, k) == file_at(b, i) &&
                          mem_at(&part, k) == mem_at(b, i),
                      "byte %lld of object %lld", (long long)k, (long long)object);
                k++;
            }
        CHECK(k == part.bytes, "%lld bytes too many", (long long)(part.bytes - k));
        seen += part.bytes;
        most = part.bytes > most ? part.bytes : most;
    }
    CHECK(seen == b->bytes && nparts >= 1, "%lld bytes of %lld", (long long)seen,
          (long long)b->bytes);
    CHECK(brio_batch_is_one(b, stripe, nobjects, &told) == (nparts == 1), "%d parts", nparts);
    CHECK(told <= most && (nparts > 1 || told == most), "%lld, not %lld", (long long)told,
          (long long)most);
}

static void parts_of_objects(void)
{
    static struct pattern file, mem;
    uint64_t seed = test_seed();
    for (int i = 0; i < 500 && !test_failed; i++) {
        pattern_random(&file);
        pattern_random(&mem);
        int64_t stripe = 100 + test_below(3000);
        struct brio_batch b;
        struct brio_walk walk;
        struct brio_io io = {.file = file.map,
                             .base = test_below(10000),
                             .mem = mem.map,
                             .buf = &b,
                             .bytes = 1 + test_below(4000)};
        brio_walk_init(&walk, &io);
        while (brio_batch_next(&walk, 20 * stripe, stripe, &b) && !test_failed)
            check_parts(&b, stripe, 1 + (int)test_below(5));
        pattern_free(&file);
        pattern_free(&mem);
    }
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

static const struct test_case cases[] = {
    TEST(accesses), TEST(lists_are_full), TEST(vectors), TEST(parts_of_objects), {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
