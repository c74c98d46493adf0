/* Collective accesses beside something else: a writer in their gaps, other files, other
 * views, ranks that come late or are busy elsewhere. Every fcoll module. */
#include "coll_modules.h"

#include "brio/brio.h"
#include "calls.h"

enum {
    BLOCK = 24,
    NBLOCKS = 300,
    BYTES = BLOCK * NBLOCKS,
    ROUNDS = 12
};

static void each_module(void (*body)(const struct coll_setup *setup))
{
    for (int m = 0; m < coll_count && test_failed < 5; m++) {
        struct coll_setup setup = {.module = coll_name[m], .nodes = 1, .buffer = 4096};
        int before = test_failed;
        body(&setup);
        if (test_failed > before)
            fprintf(stderr, "  rank %d: %s\n", test_rank, coll_text(&setup));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static unsigned char value_at(int rank, int i, int generation)
{
    return (unsigned char)((rank * 31 + i * 7 + generation * 83) % 251);
}

static void fill(unsigned char *buf, int rank, int generation)
{
    for (int i = 0; i < BYTES; i++)
        buf[i] = value_at(rank, i, generation);
}

static int same(const unsigned char *buf, int rank, int generation)
{
    for (int i = 0; i < BYTES; i++)
        if (buf[i] != value_at(rank, i, generation))
            return 0;
    return 1;
}

/* Blocks in turn, `turn` of them, this rank's being number `mine`. */
static void deal_view(MPI_File fh, int mine, int turn)
{
    MPI_Datatype vector;
    MPI_Type_vector(NBLOCKS, BLOCK, BLOCK * turn, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)mine * BLOCK, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
}

/* The blocks of `rank` among `turn`, as they are in the file. */
static void check_blocks(const char *path, int rank, int turn, int generation)
{
    static unsigned char got[BYTES];
    size_t size = (size_t)turn * BYTES;
    unsigned char *all = malloc(size);
    if (!all)
        abort();
    load_file(path, 0, all, size);
    for (int i = 0; i < NBLOCKS; i++)
        memcpy(got + (size_t)i * BLOCK, all + ((size_t)i * (size_t)turn + (size_t)rank) * BLOCK,
               BLOCK);
    CHECK(same(got, rank, generation), "blocks of %d are not those of generation %d", rank,
          generation);
    free(all);
}

/* ---- A writer in the gaps ------------------------------------------------------------- */

/* Every second block is the collective's; those between are written by the same ranks,
 * independently, through another handle, while it is under way. Neither may undo what the
 * other did. */
static void gaps(const struct coll_setup *setup)
{
    static unsigned char mine[BYTES], other[BYTES];
    int turn = 2 * test_nranks, second = 2 * test_rank + 1;
    MPI_File fh = coll_open(setup), alone = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_SELF, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &alone));
    deal_view(fh, 2 * test_rank, turn);
    deal_view(alone, second, turn);
    for (int g = 0; g < ROUNDS && test_failed == 0; g++) {
        fill(mine, 2 * test_rank, g);
        fill(other, second, g);
        OK(MPI_File_write_at_all_begin(fh, 0, mine, BYTES, MPI_BYTE));
        for (int i = 0; i < BYTES; i += BYTES / 6)
            OK(MPI_File_write_at(alone, i, other + i, BYTES / 6, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all_end(fh, mine, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        check_blocks(test_file(), 2 * test_rank, turn, g);
        check_blocks(test_file(), second, turn, g);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&alone));
    OK(MPI_File_close(&fh));
}

static void writer_in_the_gaps(void)
{
    each_module(gaps);
}

/* ---- Several files, and several views of one ------------------------------------------- */

/* Two files, begun in the same order and completed in different ones. */
static void two(const struct coll_setup *setup)
{
    static unsigned char buf[2][BYTES], back[2][BYTES];
    char saved[sizeof test_path];
    MPI_File fh[2];
    MPI_Request req[2];
    MPI_Status st[2];
    snprintf(saved, sizeof saved, "%s", test_path);
    fh[0] = coll_open(setup);
    snprintf(test_path, sizeof test_path, "%.500s.two", saved);
    fh[1] = coll_open(setup);
    for (int f = 0; f < 2; f++)
        deal_view(fh[f], test_rank, test_nranks);
    for (int g = 0; g < ROUNDS; g++) {
        for (int f = 0; f < 2; f++) {
            fill(buf[f], test_rank, 2 * g + f);
            OK(MPI_File_iwrite_at_all(fh[f], 0, buf[f], BYTES, MPI_BYTE, &req[f]));
        }
        int first = (test_rank + g) % 2;
        OK(MPI_Wait(&req[first], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&req[!first], MPI_STATUS_IGNORE));
        for (int f = 0; f < 2; f++)
            OK(MPI_File_iread_at_all(fh[f], 0, back[f], BYTES, MPI_BYTE, &req[f]));
        OK(MPI_Waitall(2, req, st));
        for (int f = 0; f < 2; f++)
            CHECK(same(back[f], test_rank, 2 * g + f), "file %d round %d", f, g);
    }
    for (int f = 0; f < 2; f++)
        OK(MPI_File_close(&fh[f]));
    if (test_rank == 0)
        unlink(test_path);
    snprintf(test_path, sizeof test_path, "%s", saved);
}

static void two_files_at_once(void)
{
    each_module(two);
}

/* Views, numbers of owners and sizes of buffers in turn on one handle: what one access left
 * in shared memory means nothing to the next. */
static void turns(const struct coll_setup *setup)
{
    static const char *const buffers[] = {"512", "65536", "1", "4096", "1000000", "64"};
    static unsigned char buf[BYTES], back[BYTES];
    MPI_File fh = coll_open(setup);
    for (int g = 0; g < ROUNDS; g++) {
        MPI_Info info;
        char owners[16];
        int mine = (test_rank + g) % test_nranks, n = g % 6 == 2 ? BLOCK * 5 : BYTES;
        snprintf(owners, sizeof owners, "%d", 1 + g % test_nranks);
        MPI_Info_create(&info);
        MPI_Info_set(info, "cb_buffer_size", buffers[g % 6]);
        MPI_Info_set(info, "cb_nodes", owners);
        OK(MPI_File_set_info(fh, info));
        MPI_Info_free(&info);
        deal_view(fh, mine, test_nranks + g % 3);
        fill(buf, test_rank, g);
        OK(MPI_File_write_at_all(fh, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE));
        memset(back, 0xEE, BYTES);
        OK(MPI_File_read_at_all(fh, 0, back, n, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(buf, back, (size_t)n) == 0, "round %d", g);
    }
    OK(MPI_File_close(&fh));
}

static void views_in_turn(void)
{
    each_module(turns);
}

/* ---- Ranks that are not there ----------------------------------------------------------- */

/* One rank comes late to each call, another one each time; nobody may go on with old data. */
static void late(const struct coll_setup *setup)
{
    static unsigned char buf[BYTES], back[BYTES];
    MPI_File fh = coll_open(setup);
    deal_view(fh, test_rank, test_nranks);
    for (int g = 0; g < ROUNDS; g++) {
        if (g % test_nranks == test_rank)
            usleep(3000);
        fill(buf, test_rank, g);
        OK(MPI_File_write_at_all(fh, 0, buf, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        if ((g + 1) % test_nranks == test_rank)
            usleep(3000);
        OK(MPI_File_read_at_all(fh, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(same(back, test_rank, g), "round %d", g);
    }
    OK(MPI_File_close(&fh));
}

static void late_ranks(void)
{
    each_module(late);
}

/* The same write again and again, so that its plan is kept, but at times one rank, another one
 * each time, brings only half of its blocks, or fails: what the others prepared for the plan
 * must not get into the file in its stead. */
static void differing(const struct coll_setup *setup)
{
    static unsigned char buf[BYTES], back[BYTES];
    MPI_File fh = coll_open(setup);
    deal_view(fh, test_rank, test_nranks);
    for (int g = 0; g < ROUNDS; g++) {
        int odd = g / 2 % test_nranks == test_rank, half = g % 4 == 1 && odd;
        int bytes = half ? BYTES / 2 : BYTES;
        fill(buf, test_rank, g);
        if (g % 4 == 3) {
            int err = MPI_File_write_at_all(fh, odd ? -1 : 0, buf, BYTES, MPI_BYTE,
                                            MPI_STATUS_IGNORE);
            CHECK(err != MPI_SUCCESS, "round %d: one rank failed, not this one", g);
        }
        OK(MPI_File_write_at_all(fh, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(fh, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int i = 0; i < BYTES; i++)
            CHECK(back[i] == value_at(test_rank, i, i < bytes ? g : g - 1), "round %d, byte %d",
                  g, i);
    }
    OK(MPI_File_close(&fh));
}

static void one_rank_differs(void)
{
    each_module(differing);
}

/* Reads of one block each, which need no owner; at times some ranks, not always the same, read
 * many blocks, which go through owners where there are any, and others come late. */
static void one_or_many(const struct coll_setup *setup)
{
    static unsigned char buf[BYTES], want[BYTES];
    static const enum kind kinds[] = {AT_ALL, IAT_ALL, AT_SPLIT};
    MPI_File fh = coll_open(setup);
    deal_view(fh, test_rank, test_nranks);
    for (int i = 0; i < 240 && test_failed == 0; i++) {
        int many = (i * 7 + 3) % 23 == 0 && (i + test_rank) % 3 != 1;
        int first = many ? 0 : (int)test_below(NBLOCKS);
        int n = many ? BYTES : BLOCK, got;
        MPI_Status st;
        if (i % 60 == 0) {
            fill(want, test_rank, i);
            OK(MPI_File_write_at_all(fh, 0, want, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        if (test_below(20) == 0)
            usleep((useconds_t)test_below(400));
        memset(buf, 0xEE, BYTES);
        struct call call = {.kind = kinds[i / 5 % 3],
                            .off = (MPI_Offset)first * BLOCK,
                            .buf = buf,
                            .count = n,
                            .type = MPI_BYTE};
        OK(call_read(fh, &call, &st));
        MPI_Get_count(&st, MPI_BYTE, &got);
        CHECK(got == n && memcmp(buf, want + (size_t)first * BLOCK, (size_t)n) == 0,
              "read %d: %d bytes, or others", i, got);
    }
    OK(MPI_File_close(&fh));
}

static void some_read_many(void)
{
    each_module(one_or_many);
}

/* A view that one rank cannot set is set on none, and neither are its hints for owners: they
 * all go on with the view, the module and the buffers that they had. */
static void refusing(const struct coll_setup *setup)
{
    static const char *const modules[] = {"iec", "two_phase", "static", "individual"};
    static unsigned char buf[BYTES], back[BYTES];
    MPI_File fh = coll_open(setup);
    deal_view(fh, test_rank, test_nranks);
    for (int g = 0; g < 4; g++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "fcoll", modules[g]);
        MPI_Info_set(info, "cb_buffer_size", g % 2 ? "100" : "1000000");
        int err = MPI_File_set_view(fh, g % test_nranks == test_rank ? -1 : 0, MPI_BYTE,
                                    MPI_BYTE, "native", info);
        CHECK(err != MPI_SUCCESS, "round %d: one rank failed, not this one", g);
        MPI_Info_free(&info);
        coll_check_module(fh, setup);
        fill(buf, test_rank, g);
        OK(MPI_File_write_at_all(fh, 0, buf, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(fh, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(same(back, test_rank, g), "round %d", g);
    }
    deal_view(fh, test_rank, test_nranks);
    OK(MPI_File_close(&fh));
}

static void one_rank_refuses_the_view(void)
{
    each_module(refusing);
}

/* Rank 0 completes a nonblocking access before it comes to a blocking one on another file,
 * in which all others wait meanwhile: they must help it along from there. */
static void elsewhere(const struct coll_setup *setup)
{
    static unsigned char buf[BYTES], more[BYTES];
    char saved[sizeof test_path];
    MPI_Request req;
    snprintf(saved, sizeof saved, "%s", test_path);
    MPI_File fh = coll_open(setup);
    snprintf(test_path, sizeof test_path, "%.500s.two", saved);
    MPI_File other = coll_open(setup);
    deal_view(fh, test_rank, test_nranks);
    deal_view(other, test_rank, test_nranks);
    for (int g = 0; g < 3; g++) {
        fill(buf, test_rank, g);
        fill(more, test_rank, g + 1);
        OK(MPI_File_iwrite_at_all(fh, 0, buf, BYTES, MPI_BYTE, &req));
        if (test_rank == 0)
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        OK(MPI_File_write_at_all(other, 0, more, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        if (test_rank != 0)
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        check_blocks(saved, test_rank, test_nranks, g);
        check_blocks(test_path, test_rank, test_nranks, g + 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&fh));
    OK(MPI_File_close(&other));
    if (test_rank == 0)
        unlink(test_path);
    snprintf(test_path, sizeof test_path, "%s", saved);
}

static void waiting_in_another_file(void)
{
    each_module(elsewhere);
}

/* Two halves of the ranks, each with a file of its own, at the same time. */
static void halves(const struct coll_setup *setup)
{
    static unsigned char buf[BYTES], back[BYTES];
    char path[600];
    MPI_Comm half;
    MPI_File fh;
    MPI_Info info;
    int rank, n;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &n);
    snprintf(path, sizeof path, "%s.%d", test_file(), test_rank % 2);
    MPI_Info_create(&info);
    MPI_Info_set(info, "fcoll", setup->module);
    MPI_Info_set(info, "cb_buffer_size", "4096");
    OK(MPI_File_open(half, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     info, &fh));
    MPI_Info_free(&info);
    deal_view(fh, rank, n);
    for (int g = 0; g < ROUNDS; g++) {
        fill(buf, test_rank, g);
        OK(MPI_File_write_all(fh, buf, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(fh, (MPI_Offset)g * BYTES, back, BYTES, MPI_BYTE,
                                MPI_STATUS_IGNORE));
        CHECK(same(back, test_rank, g), "round %d", g);
    }
    OK(MPI_File_close(&fh));
    MPI_Comm_free(&half);
}

static void halves_of_the_ranks(void)
{
    each_module(halves);
}

/* ---- Large boxes between nodes ---------------------------------------------------------- */

/* Every rank is an owner and has data with every owner, and what goes from node to node is
 * more than the MPI sends at once: an owner that has done its part must still see to its
 * messages while it waits for data of another, who waits for it. */
static void boxes(const struct coll_setup *plain)
{
    enum {
        LARGE = 512,
        MANY = 2048
    };
    struct coll_setup setup = *plain;
    MPI_Datatype vector;
    unsigned char *buf = malloc((size_t)LARGE * MANY), *back = malloc((size_t)LARGE * MANY);
    setup.nodes = 2;
    setup.owners = test_nranks;
    setup.buffer = 4 << 20;
    MPI_File fh = coll_open(&setup);
    if (fh == MPI_FILE_NULL || !buf || !back)
        goto free_memory;
    MPI_Type_vector(MANY, LARGE, LARGE * test_nranks, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * LARGE, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
    for (int g = 0; g < 3; g++) {
        for (int i = 0; i < LARGE * MANY; i++)
            buf[i] = value_at(test_rank, i, g);
        memset(back, 0xEE, (size_t)LARGE * MANY);
        OK(MPI_File_write_at_all(fh, 0, buf, LARGE * MANY, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at_all(fh, 0, back, LARGE * MANY, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK(memcmp(buf, back, (size_t)LARGE * MANY) == 0, "round %d", g);
    }
    OK(MPI_File_close(&fh));
free_memory:
    free(buf);
    free(back);
}

static void large_boxes_between_nodes(void)
{
    each_module(boxes);
}

/* Every rank reads the same blocks: what an owner sends to a node is more than it reads, by as
 * many ranks as the node has, but no message, and so no buffer, is larger than was allowed. */
static void same_blocks(const struct coll_setup *plain)
{
    static unsigned char buf[BYTES], back[BYTES];
    struct coll_setup setup = *plain;
    long long messages = 0, bytes = 0;
    MPI_Datatype vector;
    setup.nodes = 2;
    MPI_File fh = coll_open(&setup);
    if (fh == MPI_FILE_NULL)
        return;
    MPI_Type_vector(NBLOCKS, BLOCK, BLOCK + 1, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, vector, "native", MPI_INFO_NULL));
    MPI_Type_free(&vector);
    fill(buf, 0, 5);
    OK(MPI_File_write_at_all(fh, 0, buf, test_rank == 0 ? BYTES : 0, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    OK(brio_counter(fh, "messages", &messages));
    OK(brio_counter(fh, "message_bytes", &bytes));
    long long sent = messages, before = bytes;
    OK(MPI_File_read_at_all(fh, 0, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(same(back, 0, 5), "other blocks");
    OK(brio_counter(fh, "messages", &messages));
    OK(brio_counter(fh, "message_bytes", &bytes));
    if (strcmp(setup.module, "iec") != 0) /* which passes on what goes to many ranks */
        CHECK(bytes - before <= (messages - sent) * (setup.buffer + 64),
              "%lld bytes in %lld messages", bytes - before, messages - sent);
    OK(MPI_File_close(&fh));
}

static void all_read_the_same(void)
{
    each_module(same_blocks);
}

/* ---- What small blocks take of memory --------------------------------------------------- */

/* The most memory that was in use since the last reset, in KiB; -1: it cannot be known, as
 * where a sanitizer has its own beside. */
static long peak(int reset)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)reset;
    return -1;
#endif
    long kib = -1;
    char line[256];
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (reset && (!f || fputs("5", f) < 0 || fflush(f) != 0))
        kib = -2;
    if (f)
        fclose(f);
    f = kib == -1 ? fopen("/proc/self/status", "r") : NULL;
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmHWM: %ld", &kib);
    if (f)
        fclose(f);
    return kib < 0 ? -1 : kib;
}

/* Sixteen million blocks of four bytes. A list of them would take 64 MiB on each of four ranks;
 * allowed are two mappings of 16 MiB, the largest buffers of any module, and half as much. */
static void blocks(const struct coll_setup *plain)
{
    enum {
        ALL = 16 << 20,
        ROOM = 48 << 10 /* KiB */
    };
    const int mine = ALL / test_nranks;
    struct coll_setup setup = *plain;
    MPI_Datatype vector;
    int *buf = malloc((size_t)mine * sizeof *buf);
    setup.buffer = 4 << 20;
    MPI_File fh = coll_open(&setup);
    if (fh == MPI_FILE_NULL || !buf)
        goto free_memory;
    for (int i = 0; i < mine; i++)
        buf[i] = i;
    MPI_Type_vector(mine, 1, test_nranks, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * 4, MPI_INT, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
    long before = peak(1);
    OK(MPI_File_write_at_all(fh, 0, buf, mine, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(fh, 0, buf, mine, MPI_INT, MPI_STATUS_IGNORE));
    long after = peak(0);
    CHECK(before < 0 || after - before < ROOM, "%s: %ld KiB more", coll_text(&setup),
          after - before);
    CHECK(buf[0] == 0 && buf[mine - 1] == mine - 1, "%s: other data", coll_text(&setup));
    OK(MPI_File_close(&fh));
free_memory:
    free(buf);
}

static void memory_for_small_blocks(void)
{
    each_module(blocks);
}

/* ---- Windows that an owner puts in order ------------------------------------------------- */

/* The i-th number of a rank. */
static int number(int rank, int i, int generation)
{
    return i * test_nranks + rank + 1000 * generation;
}

/* The first `n` numbers of this rank are there, and nothing behind them. */
static void check_numbers(const int *buf, int n, int generation)
{
    for (int i = 0; i < 2 * n; i++)
        if (buf[i] != (i < n ? number(test_rank, i, generation) : 0)) {
            CHECK(0, "number %d is %d", i, buf[i]);
            return;
        }
}

/* Single numbers, dealt to the ranks in turn and one to nobody, in windows several times as
 * large as an owner's desk. */
static void numbers(const struct coll_setup *plain, int nodes)
{
    const int turn = test_nranks + 1, mine = (3 << 20) / 4 / turn;
    const size_t size = (size_t)mine * (size_t)turn * sizeof(int);
    struct coll_setup setup = *plain;
    MPI_Datatype number_in_turn;
    MPI_Status st;
    int *file = malloc(size), *buf = malloc(2 * (size_t)mine * sizeof *buf);
    setup.nodes = nodes;
    setup.buffer = 4 << 20;
    setup.packed = 1;
    MPI_File fh = coll_open(&setup);
    if (fh == MPI_FILE_NULL || !file || !buf)
        goto free_memory;
    MPI_Type_create_resized(MPI_INT, 0, turn * (MPI_Aint)sizeof(int), &number_in_turn);
    MPI_Type_commit(&number_in_turn);
    OK(MPI_File_set_size(fh, 0));
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * (MPI_Offset)sizeof(int), MPI_INT,
                         number_in_turn, "native", MPI_INFO_NULL));
    MPI_Type_free(&number_in_turn);
    for (int g = 1; g < 3; g++) { /* the second time there is a plan */
        for (int i = 0; i < mine; i++)
            buf[i] = number(test_rank, i, g);
        OK(MPI_File_write_at_all(fh, 0, buf, mine, MPI_INT, MPI_STATUS_IGNORE));
        memset(buf, 0, 2 * (size_t)mine * sizeof *buf);
        OK(MPI_File_read_at_all(fh, 0, buf, 2 * mine, MPI_INT, &st));
        CHECK(status_bytes(&st) == mine * (int64_t)sizeof(int), "%lld bytes read",
              (long long)status_bytes(&st));
        check_numbers(buf, mine, g);
    }
    OK(MPI_File_close(&fh));
    load_file(test_file(), 0, file, size - sizeof *file);
    for (int i = 0; i < mine * turn - 1 && test_failed == 0; i++) {
        int rank = i % turn, want = rank < test_nranks ? number(rank, i / turn, 2) : 0;
        CHECK(file[i] == want, "number %d of the file is %d, not %d", i, file[i], want);
    }
free_memory:
    MPI_Barrier(MPI_COMM_WORLD);
    free(file);
    free(buf);
}

static void on_desks(const struct coll_setup *setup)
{
    numbers(setup, 1);
    numbers(setup, 2);
}

static void more_than_a_desk_holds(void)
{
    each_module(on_desks);
}

/* ---- Patterns that cannot be said in a few words ------------------------------------------
 */

/* Blocks of one to eleven bytes, in no order that repeats, dealt to the ranks in turn. */
static int irregular_view(MPI_File fh, int nblocks, unsigned char *buf)
{
    int *len = malloc(2 * (size_t)nblocks * sizeof *len), *at = len + nblocks;
    int mine = 0, bytes = 0;
    MPI_Datatype blocks;
    for (int i = 0, off = 0; i < nblocks * test_nranks; i++) {
        int n = 1 + (i * i / 3 + i * 7) % 11;
        if (i % test_nranks == test_rank) {
            len[mine] = n;
            at[mine++] = off;
            for (int k = 0; k < n; k++)
                buf[bytes++] = value_at(0, off + k, nblocks);
        }
        off += n;
    }
    MPI_Type_indexed(nblocks, len, at, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
    MPI_Type_free(&blocks);
    free(len);
    return bytes;
}

/* Letters that are longer each time than there was room for the last time. */
static void longer_letters(const struct coll_setup *setup)
{
    enum {
        MOST = 6000
    };
    unsigned char *buf = malloc(11 * MOST), *back = malloc(11 * MOST);
    MPI_File fh = coll_open(setup);
    for (int n = 20; fh != MPI_FILE_NULL && n <= MOST; n *= 17) {
        int bytes = irregular_view(fh, n, buf);
        MPI_Request request;
        memset(back, 0, 11 * MOST);
        OK(MPI_File_write_at_all(fh, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_iread_at_all(fh, 0, back, bytes, MPI_BYTE, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(memcmp(buf, back, (size_t)bytes) == 0, "other data in %d blocks", n);
    }
    if (fh != MPI_FILE_NULL)
        OK(MPI_File_close(&fh));
    free(back);
    free(buf);
}

static void letters_get_longer(void)
{
    each_module(longer_letters);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(writer_in_the_gaps),
                                             TEST(two_files_at_once),
                                             TEST(views_in_turn),
                                             TEST(late_ranks),
                                             TEST(one_rank_differs),
                                             TEST(some_read_many),
                                             TEST(one_rank_refuses_the_view),
                                             TEST(waiting_in_another_file),
                                             TEST(halves_of_the_ranks),
                                             TEST(large_boxes_between_nodes),
                                             TEST(all_read_the_same),
                                             TEST(memory_for_small_blocks),
                                             TEST(more_than_a_desk_holds),
                                             TEST(letters_get_longer),
                                             {0}};
    MPI_Init(&argc, &argv);
    coll_list();
    int code = test_main_mpi(argc, argv, cases);
    coll_forget();
    MPI_Finalize();
    return code;
}
