/* The contract of fbtl: every module, on random accesses against a model of bytes. What it
 * does on a system that fails is in fbtl_faults.c. */
#include "bed.h"

static void one_random(struct bed *bed, struct pattern *file, struct pattern *mem)
{
    pattern_random(file);
    pattern_random(mem);
    enum brio_dir dir = test_below(2) ? BRIO_READ : BRIO_WRITE;
    enum brio_wait how = test_below(2) ? BRIO_POLL : BRIO_BLOCK;
    struct brio_io io = make_io(dir, file, test_below(5000), mem, NULL, 0);
    io.pos = test_below(3 * file->size);
    io.mem_pos = test_below(3 * mem->size);
    /* As far as the model goes: the last tile of a swapped pattern may turn back. */
    int64_t limit = (MODEL - io.base) / file->extent - 4;
    int64_t most = limit > 0 ? limit * file->size - io.pos : 0;
    int64_t enough = bed->s.store.fd < 0 ? 2000 : 60000; /* a call is far away */
    io.bytes = most > 0 ? test_below(1 + (most < enough ? most : enough)) : 0;
    int64_t tiles = (io.mem_pos + io.bytes) / mem->size + 1;
    size_t size = (size_t)(tiles * mem->extent + 16);
    unsigned char *buf = malloc(size), *expected = malloc(size);
    random_bytes(buf, size);
    memcpy(expected, buf, size);
    io.buf = buf;
    int64_t want = dir == BRIO_READ ? prefix_below(&io, file, bed->size) : io.bytes;
    struct brio_result r = submit(bed, &io, how);
    CHECK(r.err == BRIO_OK, "%s", brio_err_text());
    CHECK(r.bytes == want, "%s of %lld bytes moved %lld, not %lld",
          dir == BRIO_READ ? "read" : "write", (long long)io.bytes, (long long)r.bytes,
          (long long)want);
    if (dir == BRIO_WRITE)
        model_write(bed, &io, file, mem, r.bytes);
    else
        check_memory(bed, &io, file, mem, r.bytes, (struct memory){expected, size});
    check_file(bed);
    free(buf);
    free(expected);
    pattern_free(file);
    pattern_free(mem);
}

static int bed_rounds(const struct bed *bed)
{
    return bed->s.store.fd < 0 ? 25 : sys.at_most ? 50 : 150;
}

static void random_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL))
            for (int j = 0; j < bed_rounds(&bed) && !test_failed; j++)
                one_random(&bed, &file, &mem);
        bed_close(&bed);
    }
}

static void random_accesses(void)
{
    uint64_t seed = test_seed();
    heal();
    each_module(BRIO_FBTL, here(), random_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
}

/* The same on a system that interrupts, and moves little at a time. */
static void random_on_a_poor_system(void)
{
    uint64_t seed = test_seed();
    heal();
    sys.at_most = 100 + test_below(3000);
    sys.interrupt = 2 + test_below(3);
    each_module(BRIO_FBTL, here(), random_on);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu at most %ld, every %ld\n", (unsigned long long)seed,
                sys.at_most, sys.interrupt);
    heal();
}

/* The same with an io_uring that is refused, and with one that does not take everything. */
static void random_without_rings(void)
{
    uint64_t seed = test_seed();
    if (is_far())
        SKIP("not a file of the system");
    heal();
    sys.no_ring = 1;
    each_module(BRIO_FBTL, here(), random_on);
    CHECK(sys.rings == 0, "%ld calls of a ring that is not there", sys.rings);
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
    heal();
}

static void random_with_busy_rings(void)
{
    uint64_t seed = test_seed();
    if (is_far())
        SKIP("not a file of the system");
    heal();
    sys.busy_ring = 2 + test_below(3);
    each_module(BRIO_FBTL, here(), random_on);
    if (sys.rings == 0)
        fprintf(stderr, "this kernel has no io_uring\n");
    if (test_failed)
        fprintf(stderr, "BRIO_SEED=%llu\n", (unsigned long long)seed);
    heal();
}

/* Scattered pieces that are not in memory: few calls of the ring for many of them. */
static void uring_reads_many_at_once(void)
{
    enum {
        PIECES = 60,
        PIECE = 8192 + 64,
        STRIDE = 16384
    };
    static struct pattern file, mem;
    struct bed bed;
    char params[256] = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 1, params);
    if (fd < 0 || is_far())
        SKIP("no io_uring here");
    close(fd);
    heal();
    if (!bed_open(&bed, &brio_fbtl_uring.base, never, NULL))
        return;
    unsigned char *data = malloc(PIECES * PIECE);
    CHECK(ftruncate(bed.s.store.fd, MODEL) == 0, "no file");
    random_bytes(bed.model, MODEL);
    CHECK(pwrite(bed.s.store.fd, bed.model, MODEL, 0) == MODEL, "no data");
    pattern_vector(&file, 1, PIECE, 0, 0, STRIDE - PIECE);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    struct brio_io io = make_io(BRIO_READ, &file, 64, &mem, data, (int64_t)PIECES * PIECE);
    struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
    CHECK(r.err == BRIO_OK && r.bytes == io.bytes, "%lld bytes", (long long)r.bytes);
    for (int i = 0; i < PIECES; i++)
        CHECK(memcmp(data + i * PIECE, bed.model + 64 + i * STRIDE, PIECE) == 0, "piece %d", i);
    CHECK(sys.rings > 0 && sys.rings < PIECES, "%ld calls of the ring", sys.rings);
    free(data);
    pattern_free(&file);
    pattern_free(&mem);
    bed_close(&bed);
}

/* ---- Single points of the contract
 * ----------------------------------------------------------- */

static void many_pieces_on(const struct brio_module *module)
{
    static struct pattern flat, sparse, gaps;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    pattern_vector(&sparse, 3000, 2, 300, 0, 298);
    pattern_vector(&gaps, 5000, 3, 5, 0, 2);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            round_trip(&bed, &flat, &gaps, 15000);  /* more than IOV_MAX pieces of memory */
            round_trip(&bed, &sparse, &flat, 6000); /* of the file */
            round_trip(&bed, &gaps, &sparse, 6000); /* of both */
        }
        bed_close(&bed);
    }
    pattern_free(&flat);
    pattern_free(&sparse);
    pattern_free(&gaps);
}

static void many_pieces(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), many_pieces_on);
}

/* The file ends at every place there is, in the data and between them. */
static void ends_on(const struct brio_module *module)
{
    static struct pattern file, mem;
    static unsigned char out[400], in[400], expected[400];
    pattern_vector(&file, 10, 3, 7, 1, 5);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    random_bytes(out, sizeof out);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &file, 3, &mem, out, 60);
            CHECK(submit(&bed, &io, BRIO_BLOCK).bytes == 60, "%s", brio_err_text());
            model_write(&bed, &io, &file, &mem, 60);
            io.dir = BRIO_READ;
            io.buf = in;
            for (int64_t end = bed.size; end >= 0; end--) {
                CHECK(bed.s.fs->set_size(bed.s.self, end) == BRIO_OK, "%s", brio_err_text());
                memset(in, 0xaa, sizeof in);
                memset(expected, 0xaa, sizeof expected);
                int64_t want = prefix_below(&io, &file, end);
                struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
                CHECK(r.err == BRIO_OK && r.bytes == want, "%lld bytes of %lld, end %lld",
                      (long long)r.bytes, (long long)want, (long long)end);
                check_memory(&bed, &io, &file, &mem, want,
                             (struct memory){expected, sizeof expected});
            }
        }
        bed_close(&bed);
    }
    pattern_free(&file);
    pattern_free(&mem);
}

static void every_end_of_file(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), ends_on);
}

static void nothing_on(const struct brio_module *module)
{
    static struct pattern flat;
    struct bed bed;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (bed_open(&bed, module, as_it_comes, NULL)) {
        for (int i = 0; i < 4; i++) {
            struct brio_io io =
                make_io(i % 2 ? BRIO_READ : BRIO_WRITE, &flat, 1 << 20, &flat, NULL, 0);
            struct brio_result r = submit(&bed, &io, i / 2 ? BRIO_POLL : BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == 0, "moved %lld", (long long)r.bytes);
        }
        check_file(&bed);
        char byte;
        struct brio_io io = make_io(BRIO_READ, &flat, 1 << 20, &flat, &byte, 1);
        struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
        CHECK(r.err == BRIO_OK && r.bytes == 0, "read %lld behind the end", (long long)r.bytes);
        CHECK(bed.lane.ops->flush(bed.lane.self) == BRIO_OK, "%s", brio_err_text());
    }
    bed_close(&bed);
    pattern_free(&flat);
}

static void zero_bytes(void)
{
    heal();
    each_module(BRIO_FBTL, here(), nothing_on);
}

/* Offsets beyond 4 GiB, in a file that is nearly all hole. */
static void far_on(const struct brio_module *module)
{
    static struct pattern flat, gaps;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    pattern_vector(&gaps, 1000, 4, 16, 0, 12);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        unsigned char out[4000], in[4000] = {0}, one[4];
        random_bytes(out, sizeof out);
        int64_t base = ((int64_t)1 << 33) + 12345;
        if (bed_open(&bed, module, settings[i], NULL)) {
            struct brio_io io = make_io(BRIO_WRITE, &gaps, base, &flat, out, sizeof out);
            struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.err == BRIO_OK && r.bytes == sizeof out, "wrote %lld: %s",
                  (long long)r.bytes, brio_err_text());
            bed_peek(&bed, one, 4, base + 16 * 999);
            CHECK(memcmp(one, out + 4 * 999, 4) == 0, "not where it should be");
            io.dir = BRIO_READ;
            io.buf = in;
            r = submit(&bed, &io, BRIO_BLOCK);
            CHECK(r.bytes == sizeof in && memcmp(in, out, sizeof in) == 0, "not read back");
        }
        bed_close(&bed);
    }
    pattern_free(&flat);
    pattern_free(&gaps);
}

static void beyond_four_gigabytes(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), far_on);
}

/* More than a system call takes. /dev/null does not look at the bytes. */
static void huge_on(const struct brio_module *module)
{
    static struct pattern flat;
    struct bed bed;
    size_t len = (size_t)5 << 30;
    void *buf = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    if (buf != MAP_FAILED && bed_open(&bed, module, as_it_comes, "/dev/null")) {
        struct brio_io io = make_io(BRIO_WRITE, &flat, 0, &flat, buf, (int64_t)len);
        struct brio_result r = submit(&bed, &io, BRIO_BLOCK);
        CHECK(r.err == BRIO_OK && r.bytes == (int64_t)len, "wrote %lld: %s", (long long)r.bytes,
              brio_err_text());
        bed.fbtl->close(&bed.lane);
        store_close(&bed.s);
        free(bed.conf);
        free(bed.model);
    }
    munmap(buf, len);
    pattern_free(&flat);
}

static void more_than_a_call_takes(void)
{
    heal();
    each_module(BRIO_FBTL, "/dev/null", huge_on);
}

/* Many accesses under way at once, reaped in another order. */
static void crowd_on(const struct brio_module *module)
{
    enum {
        CROWD = 64,
        EACH = 1024
    };
    static struct pattern flat;
    static unsigned char out[CROWD * EACH], in[CROWD * EACH];
    static struct brio_ticket ticket[CROWD];
    struct bed bed;
    pattern_vector(&flat, 1, 1, 0, 0, 0);
    random_bytes(out, sizeof out);
    memset(in, 0, sizeof in);
    if (bed_open(&bed, module, as_it_comes, NULL)) {
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < CROWD; i++) {
                unsigned char *at = (pass ? in : out) + i * EACH;
                struct brio_io io =
                    make_io(pass ? BRIO_READ : BRIO_WRITE, &flat, i * EACH, &flat, at, EACH);
                ticket[i].done = false;
                bed.lane.ops->submit(bed.lane.self, &io, BRIO_POLL, &ticket[i]);
            }
            for (int i = CROWD - 1; i >= 0; i--) {
                bed.lane.ops->reap(bed.lane.self, &ticket[i], BRIO_BLOCK);
                CHECK(ticket[i].done && ticket[i].result.err == BRIO_OK &&
                          ticket[i].result.bytes == EACH,
                      "access %d moved %lld", i, (long long)ticket[i].result.bytes);
            }
        }
        CHECK(memcmp(in, out, sizeof in) == 0, "not what was written");
    }
    bed_close(&bed);
    pattern_free(&flat);
}

static void many_at_once(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), crowd_on);
    brio_pool_finalize();
    each_module(BRIO_FBTL, here(), crowd_on); /* the pool starts anew */
    brio_pool_finalize();
}

/* Two that write every other piece of the same pages at the same time; neither may lose a
 * byte of the other. */
struct half {
    struct bed *bed;
    const struct pattern *file, *mem;
    unsigned char *buf;
    int64_t base, bytes;
};

static void *write_half(void *arg)
{
    struct half *h = arg;
    struct brio_io io = make_io(BRIO_WRITE, h->file, h->base, h->mem, h->buf, h->bytes);
    struct brio_result r = brio_lane_access(&h->bed->lane, &io);
    h->bytes = r.err ? -1 : r.bytes;
    return NULL;
}

static void neighbours_on(const struct brio_module *module)
{
    enum {
        BYTES = MODEL / 2 - 64
    };
    static struct pattern file, mem;
    static unsigned char buf[2][BYTES];
    pattern_vector(&file, 1000, 4, 8, 0, 4);
    pattern_vector(&mem, 1, 1, 0, 0, 0);
    for (int i = 0; i < NSETTINGS; i++) {
        struct bed bed;
        if (bed_open(&bed, module, settings[i], NULL)) {
            const int64_t bytes = bed.s.store.fd < 0 ? 2000 : BYTES; /* a call is far away */
            struct half half[2];
            pthread_t thread[2];
            for (int k = 0; k < 2; k++) {
                random_bytes(buf[k], BYTES);
                half[k] = (struct half){&bed, &file, &mem, buf[k], 4 * k, bytes};
                pthread_create(&thread[k], NULL, write_half, &half[k]);
            }
            for (int k = 0; k < 2; k++) {
                pthread_join(thread[k], NULL);
                struct brio_io io = make_io(BRIO_WRITE, &file, 4 * k, &mem, buf[k], bytes);
                CHECK(half[k].bytes == bytes, "wrote %lld", (long long)half[k].bytes);
                model_write(&bed, &io, &file, &mem, bytes);
            }
            check_file(&bed);
        }
        bed_close(&bed);
    }
    pattern_free(&file);
    pattern_free(&mem);
}

static void neighbours_keep_their_bytes(void)
{
    test_seed();
    heal();
    each_module(BRIO_FBTL, here(), neighbours_on);
}

static const struct test_case cases[] = {TEST(random_accesses),
                                         TEST(random_on_a_poor_system),
                                         TEST(random_without_rings),
                                         TEST(random_with_busy_rings),
                                         TEST(uring_reads_many_at_once),
                                         TEST(many_pieces),
                                         TEST(zero_bytes),
                                         TEST(every_end_of_file),
                                         TEST(beyond_four_gigabytes),
                                         TEST(more_than_a_call_takes),
                                         TEST(many_at_once),
                                         TEST(neighbours_keep_their_bytes),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
