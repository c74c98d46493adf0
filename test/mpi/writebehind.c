/* Write-behind against the oracle: random mixes of independent and collective writes of many
 * kinds, syncs, sizes, atomic mode, closing and opening, with pages so small that they are
 * always full or in the way. A byte belongs to one rank at a time, and only a sync hands it
 * on; within that time its rank may write it as often as it likes, and the last time counts.
 *
 * All ranks draw all ranks' parts from one seed. BRIO_SEED=s BRIO_CASES=n: n mixes from s on.
 */
#include "brio/brio.h"
#include "busy.h"
#include "calls.h"
#include "check_mpi.h"
#include "idle.h"
#include "nodes_comm.h"
#include "oracle.h"

enum {
    CAP = 1 << 18,
    MOST = 3000, /* bytes of one write */
    STEPS = 25   /* of a mix */
};

/* What a mix is made of. */
struct mix {
    MPI_File fh;
    MPI_Comm comm;
    MPI_Info info;
    int64_t unit;  /* bytes that belong to one rank, then to the next */
    int shift;     /* who comes first */
    int64_t limit; /* of the region written */
    int64_t own;   /* end of this rank's own writes since the last sync */
    uint64_t data;
    struct oracle image;
};

static void open_file(struct mix *m, int more)
{
    int rc = MPI_File_open(m->comm, test_file(), MPI_MODE_WRONLY | MPI_MODE_CREATE | more,
                           m->info, &m->fh);
    CHECK(rc == MPI_SUCCESS, "open: %d", rc);
}

static void compare(struct mix *m, const char *when)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        int64_t bad = oracle_compare(&m->image, test_file());
        CHECK(bad < 0, "%s: the file differs at %lld of %lld", when, (long long)bad,
              (long long)m->image.size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* n bytes of rank r's own, from position `pos` of them on: where byte i is. */
static int64_t place(const struct mix *m, int r, int64_t pos)
{
    int64_t slot = (r + m->shift) % test_nranks;
    return (pos / m->unit * test_nranks + slot) * m->unit + pos % m->unit;
}

/* ---- Steps ---------------------------------------------------------------------------------
 */

struct part {
    int64_t pos, len;
    int kind;
    unsigned char data[MOST];
};

static void draw_part(struct mix *m, int r, struct part *p, int64_t most)
{
    int64_t room = m->limit / test_nranks;
    p->pos = test_below(room);
    p->len = 1 + test_below(most < room - p->pos ? most : room - p->pos);
    for (int64_t i = 0; i < p->len; i++) {
        int64_t at = place(m, r, p->pos + i);
        m->data = m->data * 6364136223846793005u + 1442695040888963407u;
        p->data[i] = (unsigned char)(m->data >> 40);
        m->image.byte[at] = p->data[i];
        if (at >= m->image.size)
            m->image.size = at + 1;
        if (r == test_rank && at >= m->own)
            m->own = at + 1;
    }
}

/* The rank's bytes as a view: every nranks-th unit. */
static void set_view(struct mix *m)
{
    MPI_Datatype piece, type;
    int64_t first = place(m, test_rank, 0);
    MPI_Type_contiguous((int)m->unit, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)(m->unit * test_nranks), &type);
    MPI_Type_commit(&type);
    int rc = MPI_File_set_view(m->fh, first, MPI_BYTE, type, "native", MPI_INFO_NULL);
    CHECK(rc == MPI_SUCCESS, "set_view: %d", rc);
    MPI_Type_free(&type);
    MPI_Type_free(&piece);
}

static void check_count(const MPI_Status *st, int rc, int64_t want)
{
    int got = -1;
    MPI_Get_count(st, MPI_BYTE, &got);
    CHECK(rc == MPI_SUCCESS && got == want, "%d: %d bytes, not %lld", rc, got, (long long)want);
}

static void write_some(struct mix *m, int coll)
{
    static struct part p;
    int times = coll ? 1 : 1 + (int)test_below(12);
    int64_t most = test_below(3) ? 200 : MOST;
    int kind = coll ? INDEPENDENT_KINDS + (int)test_below(KINDS - INDEPENDENT_KINDS)
                    : (int)test_below(INDEPENDENT_KINDS);
    for (int i = 0; i < times; i++)
        for (int r = 0; r < test_nranks; r++) {
            draw_part(m, r, &p, most);
            if (r != test_rank)
                continue;
            MPI_Status st;
            MPI_File_seek(m->fh, p.pos, MPI_SEEK_SET);
            struct call c = {(enum kind)kind, p.pos, p.data, (int)p.len, MPI_BYTE, 0};
            int rc = call_write(m->fh, &c, &st);
            check_count(&st, rc, p.len);
        }
}

/* Without a view: one call for each contiguous run, as programs do that know no better. */
static void write_runs(struct mix *m)
{
    static struct part p;
    MPI_File_set_view(m->fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (int i = 0; i < 10; i++)
        for (int r = 0; r < test_nranks; r++) {
            draw_part(m, r, &p, 1000);
            for (int64_t at = 0, n; r == test_rank && at < p.len; at += n) {
                MPI_Status st;
                n = m->unit - (p.pos + at) % m->unit;
                n = n < p.len - at ? n : p.len - at;
                int rc = MPI_File_write_at(m->fh, place(m, r, p.pos + at), p.data + at, (int)n,
                                           MPI_BYTE, &st);
                check_count(&st, rc, n);
            }
        }
    set_view(m);
}

/* The bytes have other owners from now on. */
static void hand_on(struct mix *m)
{
    int rc = MPI_File_sync(m->fh);
    CHECK(rc == MPI_SUCCESS, "sync: %d", rc);
    MPI_Barrier(MPI_COMM_WORLD);
    m->own = 0;
    compare(m, "sync");
    m->shift = (int)test_below(test_nranks);
    m->unit = 1 + test_below(test_below(2) ? 100 : 3000);
    set_view(m);
}

static void look_at_size(struct mix *m)
{
    MPI_Offset size = -1;
    MPI_Barrier(MPI_COMM_WORLD); /* who is ahead makes it larger */
    int rc = MPI_File_get_size(m->fh, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rc == MPI_SUCCESS && size >= m->own && size <= m->image.size,
          "%d: size %lld, own writes end at %lld, all at %lld", rc, (long long)size,
          (long long)m->own, (long long)m->image.size);
}

static void change_size(struct mix *m)
{
    int grow = (int)test_below(2);
    int64_t size = grow ? m->image.size + test_below(5000) : test_below(m->image.size + 1);
    int rc = grow && test_below(2) ? MPI_File_preallocate(m->fh, size)
                                   : MPI_File_set_size(m->fh, size);
    CHECK(rc == MPI_SUCCESS, "size %lld: %d", (long long)size, rc);
    if (size < m->image.size)
        memset(m->image.byte + size, 0, (size_t)(m->image.size - size));
    m->image.size = size;
    m->own = 0;
    compare(m, "size");
    MPI_Offset now = -1;
    MPI_File_get_size(m->fh, &now);
    CHECK(now == size, "%lld after it was set to %lld", (long long)now, (long long)size);
    MPI_Barrier(MPI_COMM_WORLD); /* who writes now makes it larger */
}

static void open_again(struct mix *m)
{
    int rc = MPI_File_close(&m->fh);
    CHECK(rc == MPI_SUCCESS, "close: %d", rc);
    m->own = 0;
    compare(m, "close");
    open_file(m, 0);
    set_view(m);
}

static void be_atomic(struct mix *m)
{
    int rc = MPI_File_set_atomicity(m->fh, 1);
    CHECK(rc == MPI_SUCCESS, "atomic: %d", rc);
    compare(m, "atomic");
    write_some(m, (int)test_below(2));
    compare(m, "atomic write");
    rc = MPI_File_set_atomicity(m->fh, 0);
    CHECK(rc == MPI_SUCCESS, "not atomic: %d", rc);
}

static void step(struct mix *m)
{
    switch (test_below(12)) {
    case 0:
    case 1:
        hand_on(m);
        break;
    case 2:
        look_at_size(m);
        break;
    case 3:
        change_size(m);
        break;
    case 4:
        if (test_below(3) == 0)
            open_again(m);
        break;
    case 5:
        if (test_below(3) == 0)
            be_atomic(m);
        break;
    case 6:
        write_some(m, 1);
        break;
    case 7:
    case 8:
        write_runs(m);
        break;
    default:
        write_some(m, 0);
    }
}

static void put(MPI_Info info, const char *key, long value)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    MPI_Info_set(info, key, text);
}

static void run_mix(uint64_t seed, const char *cache)
{
    static const long pages[] = {4096, 4096, 5000, 16384};
    struct mix m = {.data = seed, .unit = 1 + (int64_t)(seed % 200), .limit = CAP / 2};
    test_state = seed * 0x9e3779b97f4a7c15u + 1;
    oracle_init(&m.image, CAP);
    m.comm = nodes_comm(1 + (int)test_below(NODES));
    m.limit = 1000 + test_below(test_below(2) ? 10000 : CAP - 70000);
    MPI_Info_create(&m.info);
    MPI_Info_set(m.info, "cache", cache);
    long page = pages[test_below(4)];
    put(m.info, "cache_page", page);
    put(m.info, "cache_size", page * (1 + (long)test_below(8)));
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    open_file(&m, 0);
    set_view(&m);
    for (int i = 0; i < STEPS; i++)
        step(&m);
    int rc = MPI_File_close(&m.fh);
    CHECK(rc == MPI_SUCCESS, "close: %d", rc);
    compare(&m, "the end");
    MPI_Info_free(&m.info);
    oracle_free(&m.image);
}

static void run_mixes(const char *cache)
{
    uint64_t seed = test_seed();
    const char *text = getenv("BRIO_CASES");
    int cases = text ? atoi(text) : 40 / test_nranks + 10;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < cases; i++) {
        run_mix(seed + (uint64_t)i, cache);
        int all;
        MPI_Allreduce(&test_failed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (all) {
            test_failed = all;
            if (test_rank == 0)
                fprintf(stderr, "BRIO_SEED=%llu BRIO_CASES=1\n",
                        (unsigned long long)seed + (unsigned long long)i);
            return;
        }
    }
}

static void mixes(void)
{
    run_mixes("writebehind");
}

static void auto_mixes(void)
{
    run_mixes("auto");
}

/* ---- Small things ---------------------------------------------------------------------------
 */

static MPI_File open_cache(const char *cache, int nodes, int amode, int *rc)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cache", cache);
    MPI_Info_set(info, "cache_page", "16384");
    *rc = MPI_File_open(nodes_comm(nodes), test_file(), amode | MPI_MODE_CREATE, info, &fh);
    MPI_Info_free(&info);
    return fh;
}

static MPI_File open_with(int nodes, int amode, int *rc)
{
    return open_cache("writebehind", nodes, amode, rc);
}

/* What get_info says of the cache. */
static const char *cache_state(MPI_File fh)
{
    static char text[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int flag = 0;
    text[0] = '\0';
    MPI_File_get_info(fh, &info);
    MPI_Info_get(info, "brio_cache_state", MPI_MAX_INFO_VAL - 1, text, &flag);
    MPI_Info_free(&info);
    return text;
}

/* It is an error to want it for a file that is read. */
static void only_to_write(void)
{
    int rc;
    MPI_File fh = open_with(1, MPI_MODE_RDWR, &rc);
    CHECK(rc != MPI_SUCCESS, "opened");
    if (rc == MPI_SUCCESS)
        MPI_File_close(&fh);
}

/* Writes of all ranks by the shared pointer, in any order, and from the end on in rank order:
 * no rank alone knows where that is. */
static void shared_pointers(void)
{
    enum {
        EACH = 100,
        LEN = 70
    };
    int rc;
    char buf[LEN];
    for (int nodes = 1; nodes <= NODES; nodes++) {
        MPI_File fh = open_with(nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        memset(buf, 'a' + test_rank, LEN);
        for (int i = 0; i < EACH; i++) {
            rc = MPI_File_write_shared(fh, buf, LEN, MPI_BYTE, MPI_STATUS_IGNORE);
            CHECK(rc == MPI_SUCCESS, "write_shared: %d", rc);
        }
        rc = MPI_File_seek_shared(fh, 0, MPI_SEEK_END);
        CHECK(rc == MPI_SUCCESS, "seek_shared: %d", rc);
        rc = MPI_File_write_ordered(fh, buf, LEN, MPI_BYTE, MPI_STATUS_IGNORE);
        CHECK(rc == MPI_SUCCESS, "write_ordered: %d", rc);
        MPI_File_close(&fh);
        if (test_rank == 0) {
            int seen[64] = {0}, records = (EACH + 1) * test_nranks;
            FILE *f = fopen(test_file(), "rb");
            for (int i = 0; f && i < records; i++) {
                char got[LEN];
                int n = (int)fread(got, 1, LEN, f), same = n == LEN;
                for (int j = 1; j < n; j++)
                    same &= got[j] == got[0];
                int from = got[0] - 'a';
                CHECK(same && from >= 0 && from < test_nranks, "record %d", i);
                if (same && from >= 0 && from < test_nranks)
                    seen[from]++;
                CHECK(i < records - test_nranks || from == i - (records - test_nranks),
                      "record %d is out of order", i);
            }
            for (int r = 0; r < test_nranks; r++)
                CHECK(seen[r] == EACH + 1, "%d records of rank %d", seen[r], r);
            CHECK(f && fgetc(f) == EOF, "more than that");
            if (f)
                fclose(f);
            unlink(test_file());
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A byte that nobody wrote is not written: the file keeps what other programs put there. */
static void leaves_gaps_alone(void)
{
    int rc, len = 50000;
    unsigned char *before = malloc((size_t)len), *after = malloc((size_t)len);
    MPI_File fh = open_with(1, MPI_MODE_WRONLY, &rc);
    REQUIRE(rc == MPI_SUCCESS && before && after, "open: %d", rc);
    for (int at = 100 * test_rank; at < len; at += 100 * test_nranks) {
        rc = MPI_File_write_at(fh, at, "xyz", 3, MPI_BYTE, MPI_STATUS_IGNORE);
        CHECK(rc == MPI_SUCCESS, "write: %d", rc);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) { /* another program, meanwhile */
        int fd = open(test_file(), O_WRONLY);
        memset(before, 'b', (size_t)len);
        CHECK(fd >= 0 && pwrite(fd, before, (size_t)len, 0) == len, "pwrite");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    rc = MPI_File_close(&fh);
    CHECK(rc == MPI_SUCCESS, "close: %d", rc);
    if (test_rank == 0) {
        int fd = open(test_file(), O_RDONLY), bad = 0;
        CHECK(pread(fd, after, (size_t)len, 0) == len, "pread");
        close(fd);
        for (int i = 0; i < len; i++)
            bad += i % 100 >= 3 && after[i] != 'b';
        CHECK(bad == 0, "%d bytes that nobody wrote", bad);
    }
    free(before);
    free(after);
}

/* Small blocks of all ranks in turn leave in whole pages, each in one call. */
static void whole_pages(void)
{
    enum {
        PAGES = 40,
        BLOCK = 512
    };
    char buf[BLOCK] = {0};
    for (int nodes = 1; nodes <= NODES; nodes++) {
        long long mine = -1, all = 0;
        int rc;
        MPI_File fh = open_with(nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        for (int at = test_rank * BLOCK; at < PAGES * 16384; at += test_nranks * BLOCK)
            MPI_File_write_at(fh, at, buf, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_sync(fh);
        rc = brio_counter(fh, "write.calls", &mine);
        MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(rc == MPI_SUCCESS && all > 0 && all <= PAGES, "%d pages in %lld calls", PAGES,
              all);
        MPI_File_close(&fh);
    }
}

/* Where each rank has a core, those who wait in a sync write the pages that rank 0 fills. */
static void who_waits_writes(void)
{
    enum {
        PAGES = 40,
        PAGE = 16384
    };
    static char buf[PAGE / 4], got[PAGES * PAGE];
    long long mine = -1, most = 0;
    int rc;
    MPI_File fh = open_with(1, MPI_MODE_WRONLY, &rc);
    REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
    for (int i = 0; i < 4 * PAGES && test_rank == 0; i++) {
        if (i % 40 == 0)
            usleep(200000);
        memset(buf, 'a' + i % 26, sizeof buf);
        rc = MPI_File_write_at(fh, i * PAGE / 4, buf, PAGE / 4, MPI_BYTE, MPI_STATUS_IGNORE);
        CHECK(rc == MPI_SUCCESS, "write: %d", rc);
    }
    MPI_File_sync(fh);
    rc = brio_counter(fh, "write.calls", &mine);
    mine = test_rank == 0 ? 0 : mine;
    MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (test_nranks > 1 && test_nranks <= sysconf(_SC_NPROCESSORS_ONLN))
        CHECK(rc == MPI_SUCCESS && most > 0, "rank 0 writes all pages itself");
    int fd = open(test_file(), O_RDONLY);
    CHECK(pread(fd, got, sizeof got, 0) == (ssize_t)sizeof got, "pread");
    close(fd);
    for (int i = 0; i < PAGES * PAGE; i++)
        if (got[i] != 'a' + i / (PAGE / 4) % 26) {
            CHECK(0, "byte %d is %d", i, got[i]);
            break;
        }
    MPI_File_close(&fh);
}

/* What is kept back is said. */
static void says_what_it_does(void)
{
    int rc;
    MPI_File fh = open_with(1, MPI_MODE_WRONLY, &rc);
    REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
    CHECK(strstr(cache_state(fh), "16384 bytes"), "cache_state: %s", cache_state(fh));
    MPI_File_close(&fh);
    fh = open_cache("auto", 1, MPI_MODE_RDWR, &rc);
    REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
    CHECK(strstr(cache_state(fh), "left alone"), "cache_state: %s", cache_state(fh));
    MPI_File_close(&fh);
}

/* Small records anywhere in a few pages, whoever owns them. */
static void write_for_a_while(MPI_File fh)
{
    char buf[100];
    memset(buf, 'a' + test_rank, sizeof buf);
    for (int i = 0; i < 2000; i++) {
        MPI_Offset at = (MPI_Offset)(i * test_nranks + test_rank) * (int)sizeof buf;
        int rc = MPI_File_write_at(fh, at, buf, sizeof buf, MPI_BYTE, MPI_STATUS_IGNORE);
        CHECK(rc == MPI_SUCCESS, "write: %d", rc);
    }
}

/* Rank 0, which owns pages, computes, sits in MPI_Recv, and is the first to close; each until
 * the others have written. */
static void busy_owner(void)
{
    for (int nodes = 1; nodes <= NODES && test_nranks > 1; nodes++) {
        int rc, token = 0;
        MPI_File fh = open_with(nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        if (test_rank == 0) {
            busy_compute();
            for (int r = 1; r < test_nranks; r++)
                MPI_Recv(&token, 1, MPI_INT, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            write_for_a_while(fh);
            busy_done();
            write_for_a_while(fh);
            MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
            write_for_a_while(fh);
        }
        rc = MPI_File_close(&fh);
        CHECK(rc == MPI_SUCCESS, "close: %d", rc);
        if (test_rank == 0) {
            FILE *f = fopen(test_file(), "rb");
            for (int i = 0; f && i < 2000 * test_nranks * 100; i++) {
                int got = fgetc(f), from = i / 100 % test_nranks;
                if (got != (from ? 'a' + from : 0)) {
                    CHECK(0, "byte %d is %d", i, got);
                    break;
                }
            }
            CHECK(f != NULL, "no file");
            if (f)
                fclose(f);
            unlink(test_file());
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void idle_costs_nothing(void)
{
    for (int nodes = 1; nodes <= 2; nodes++) {
        int rc;
        MPI_File fh = open_with(nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        write_for_a_while(fh);
        MPI_Barrier(MPI_COMM_WORLD);
        double share = idle_share();
        CHECK(share < IDLE_SHARE, "an idle open file takes %.2f %% of a core", 100 * share);
        MPI_File_close(&fh);
    }
}

/* `auto` keeps back what is costly to write, and nothing else; what one file has taught is
 * remembered for the next. DELAY_US says that this test's directory is slow. */
static void auto_finds_out(void)
{
    char buf[100] = {0};
    int rc, slow = getenv("DELAY_US") != NULL;
    for (int nodes = 1; nodes <= 2; nodes++) {
        MPI_File fh = open_cache("auto", nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        for (int i = 0; i < 200; i++)
            MPI_File_write_at(fh, (i * test_nranks + test_rank) * 100, buf, 100, MPI_BYTE,
                              MPI_STATUS_IGNORE);
        MPI_File_sync(fh);
        const char *state = cache_state(fh), *want = slow ? "are kept back" : "not kept back";
        CHECK(strstr(state, want) && (slow || strstr(state, "less than 20 us")), "%s", state);
        MPI_File_close(&fh);
        fh = open_cache("auto", nodes, MPI_MODE_WRONLY, &rc);
        REQUIRE(rc == MPI_SUCCESS, "open: %d", rc);
        state = cache_state(fh);
        CHECK(strstr(state, want), "the second time: %s", state);
        MPI_File_close(&fh);
    }
}

static const struct test_case cases[] = {
    TEST(mixes),         TEST(auto_mixes),         TEST(auto_finds_out),
    TEST(only_to_write), TEST(shared_pointers),    TEST(leaves_gaps_alone),
    TEST(whole_pages),   TEST(who_waits_writes),   TEST(says_what_it_does),
    TEST(busy_owner),    TEST(idle_costs_nothing), {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int code = test_main_mpi(argc, argv, cases);
    nodes_forget();
    MPI_Finalize();
    return code;
}
