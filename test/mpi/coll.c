/* Collective access by every fcoll module against the oracle: random views, many calls on
 * one view, tiny buffers, any number of owners, several pretended nodes, every kind of call.
 *
 * BRIO_SEED=s BRIO_CASES=1 with the name of the case brings a printed seed back;
 * COLL_MODULE=name runs one module only. */
#include "coll_modules.h"

#include "calls.h"
#include "coll_scene.h"

enum {
    BAD_ENOUGH = 2, /* failed scenes after which the rest of a case is not run */
    STEPS = 5,      /* accesses on one view, at most */
    SLOW = 5        /* seconds of a scene that are worth a word */
};

static struct oracle image;

/* ---- One access -------------------------------------------------------------------------- */

static void check_buffer(const struct scene_part *got, const struct scene_part *want)
{
    for (int64_t i = 0; i < got->block_len; i++)
        if (got->block[i] != want->block[i]) {
            CHECK(0, "buffer byte %lld is %02x, not %02x", (long long)(i - SCENE_GUARD),
                  got->block[i], want->block[i]);
            return;
        }
}

/* `got` bytes were said to be read into p. If the file ends inside an etype, the part of it
 * may count or not. */
static void check_read(const struct scene_part *p, int64_t got)
{
    struct scene_part want = scene_twin(p);
    int64_t size = p->view.etype->nbytes, exact = oracle_read(&image, &want.a);
    int64_t whole = exact / size * size;
    CHECK(got == exact || got == whole, "read %lld bytes, not %lld", (long long)got,
          (long long)exact);
    for (int64_t i = whole; got == whole && i < exact; i++) {
        int64_t at = oracle_mem_offset(&p->a, i);
        want.a.origin[at] = p->a.origin[at];
    }
    check_buffer(p, &want);
    free(want.block);
}

static void check_write(const struct scene_part *p, int64_t got)
{
    struct scene_part want = scene_twin(p);
    CHECK(got == oracle_bytes(&p->a), "wrote %lld bytes, not %lld", (long long)got,
          (long long)oracle_bytes(&p->a));
    check_buffer(p, &want);
    free(want.block);
}

/* All ranks' writes, in the image. */
static void imagine(const struct scene *s)
{
    for (int r = 0; r < test_nranks; r++) {
        struct scene_part t = scene_twin(&s->part[r]);
        oracle_write(&image, &t.a);
        free(t.block);
    }
}

static void access_once(MPI_File fh, const struct scene *s, enum kind kind, int write)
{
    struct scene_part p = scene_twin(&s->part[test_rank]);
    MPI_Status st;
    shape_build(p.mem);
    struct call c = {kind, p.a.off, p.a.origin, (int)p.a.count, p.mem->type, (int)(p.fill & 1)};
    if (uses_pointer(kind))
        OK(MPI_File_seek(fh, p.a.off, MPI_SEEK_SET));
    if (write)
        imagine(s);
    int err = write ? call_write(fh, &c, &st) : call_read(fh, &c, &st);
    CHECK(err == MPI_SUCCESS, "%s, kind %d: %s", write ? "write" : "read", kind,
          error_text(err));
    if (!err && write)
        check_write(&p, status_bytes(&st));
    else if (!err)
        check_read(&p, status_bytes(&st));
    free(p.block);
}

/* ---- A scene ----------------------------------------------------------------------------- */

static void explain(const struct scene *s, const struct coll_setup *setup, uint64_t seed)
{
    const struct scene_part *p = &s->part[test_rank];
    fprintf(stderr, "rank %d of %d, BRIO_SEED=%llu BRIO_CASES=1 COLL_MODULE=%s: %s\n",
            test_rank, test_nranks, (unsigned long long)seed, setup->module, coll_text(setup));
    fprintf(stderr, " last access: disp %lld off %lld count %lld, filetype ",
            (long long)p->view.disp, (long long)p->a.off, (long long)p->a.count);
    shape_print(stderr, p->view.filetype);
    fprintf(stderr, "\n");
}

static void prepare_file(void)
{
    image.size = test_below(3) ? test_below(60000) : 0;
    memset(image.byte, 0, SCENE_CAP);
    for (int64_t i = 0; i < image.size; i++)
        image.byte[i] = (unsigned char)scene_mix(99, (uint64_t)i);
    if (test_rank == 0)
        oracle_store(&image, test_file());
    MPI_Barrier(MPI_COMM_WORLD);
}

static void draw_setup(struct coll_setup *s, int64_t *most)
{
    static const long buffers[] = {1, 100, 4096, 4096, 65536, 0};
    static const int64_t bytes[] = {150, 5000, 20000, 20000, 30000, 30000};
    int k = (int)test_below(6);
    s->buffer = buffers[k];
    *most = test_below(4) ? bytes[k] : bytes[k] / 20;
    s->owners = test_below(4) ? shape_between(1, test_nranks) : 0;
    s->block = test_below(3) ? 0 : 512;
    s->exchange = test_below(2) ? (int)test_below(4) : 0;
    s->groups = test_below(2) ? (int)test_below(4) : 0;
    s->packed = (int)test_below(2);
}

static void set_scene_view(MPI_File fh, const struct scene *s)
{
    const struct scene_part *p = &s->part[test_rank];
    shape_build(s->etype);
    shape_build(p->view.filetype);
    OK(MPI_File_set_view(fh, p->view.disp, s->etype->type, p->view.filetype->type, "native",
                         MPI_INFO_NULL));
}

static int agree_bad(int before)
{
    int mine = test_failed > before, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

static void check_file(MPI_File *fh)
{
    OK(MPI_File_close(fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        int64_t bad = oracle_compare(&image, test_file());
        CHECK(bad < 0, "file differs at byte %lld of %lld", (long long)bad,
              (long long)image.size);
    }
}

/* Several calls on one view. */
static void in_sequence(MPI_File fh, struct scene *s)
{
    int steps = shape_between(1, STEPS), only_reads = s->layout == OVERLAP;
    for (int i = 0; i < steps; i++) {
        enum kind kind = (enum kind)shape_between(AT_ALL, KINDS - 1);
        int write = !only_reads && test_below(2);
        if (i > 0)
            scene_vary(s);
        if (write)
            scene_separate(s);
        access_once(fh, s, kind, write);
    }
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Several nonblocking calls under way at the same time, each some tiles behind the last. */
static void at_once(MPI_File fh, struct scene *s)
{
    struct scene_part p[3];
    MPI_Request req[3];
    MPI_Status st[3];
    int write = s->layout != OVERLAP && test_below(2);
    int64_t tiles = 0, etype = s->etype->nbytes;
    for (int r = 0; r < test_nranks; r++)
        if (s->part[r].view.filetype->nbytes)
            tiles = most_of(
                tiles, 1 + oracle_bytes(&s->part[r].a) / s->part[r].view.filetype->nbytes + 1);
    if (write)
        scene_separate(s);
    for (int i = 0; i < 3; i++) {
        for (int r = 0; i > 0 && r < test_nranks; r++) {
            s->part[r].fill = test_random();
            s->part[r].a.off += tiles * (s->part[r].view.filetype->nbytes / etype);
            scene_fit(&s->part[r]);
        }
        if (write)
            imagine(s);
        p[i] = scene_twin(&s->part[test_rank]);
        shape_build(p[i].mem);
        void *buf = p[i].a.origin;
        int count = (int)p[i].a.count;
        MPI_Datatype type = p[i].mem->type;
        OK(write ? MPI_File_iwrite_at_all(fh, p[i].a.off, buf, count, type, &req[i])
                 : MPI_File_iread_at_all(fh, p[i].a.off, buf, count, type, &req[i]));
    }
    OK(MPI_Waitall(3, req, st));
    for (int i = 0; i < 3; i++) {
        write ? check_write(&p[i], status_bytes(&st[i]))
              : check_read(&p[i], status_bytes(&st[i]));
        free(p[i].block);
    }
}

/* 1 if it failed on any rank, -1 if the module refused, the same on all ranks. */
static int run_scene(struct coll_setup *setup, enum layout layout,
                     void (*play)(MPI_File fh, struct scene *s), uint64_t seed)
{
    static struct scene s;
    int64_t most;
    int before = test_failed;
    test_state = scene_mix(seed, 11);
    draw_setup(setup, &most);
    scene_draw(&s, layout, most);
    prepare_file();
    MPI_File fh = coll_open(setup);
    int refused = fh == MPI_FILE_NULL;
    if (!refused) {
        set_scene_view(fh, &s);
        play(fh, &s);
        check_file(&fh);
    }
    int bad = agree_bad(before);
    if (bad && test_failed < 10)
        explain(&s, setup, seed);
    scene_clear(&s);
    return bad ? 1 : refused ? -1 : 0;
}

/* ---- Cases ------------------------------------------------------------------------------- */

struct plan {
    enum layout layout;
    int nodes, atomic;
    void (*play)(MPI_File fh, struct scene *s);
};

static void play_all(const struct plan *plan)
{
    const char *text = getenv("BRIO_CASES");
    int each = text ? atoi(text) : 2 + (12 + 24 / test_nranks) / (2 * coll_count);
    int bad = 0, served = 0;
    uint64_t seed = test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("coll: seed %llu, %d scenes a module\n", (unsigned long long)seed, each);
    fflush(stdout); /* what hangs does not say it later */
    for (int m = 0; m < coll_count; m++)
        for (int i = 0; i < each && bad < BAD_ENOUGH; i++) {
            struct coll_setup setup = {
                .module = coll_name[m], .nodes = plan->nodes, .atomic = plan->atomic};
            double start = MPI_Wtime();
            int got = run_scene(&setup, plan->layout, plan->play, seed + (uint64_t)i);
            if (MPI_Wtime() - start > SLOW && test_rank == 0)
                printf("coll: %.0f s for seed %llu, %s\n", MPI_Wtime() - start,
                       (unsigned long long)seed + (unsigned long long)i, coll_text(&setup));
            bad += got > 0;
            served += got >= 0;
            if (got < 0)
                break;
        }
    CHECK(served > 0 || getenv("COLL_MODULE"), "no module serves %d nodes", plan->nodes);
}

/* The bytes of one scene by each kind of call, with many ranks by those with an offset, written
 * and read. One rank, another one each time, has nothing. */
static void by_every_kind(MPI_File fh, struct scene *s)
{
    const int every = test_nranks > 4 ? 2 : 1;
    for (int kind = AT_ALL; kind < KINDS; kind += every) {
        struct scene_part *idle = &s->part[kind % test_nranks];
        int64_t count = idle->a.count;
        for (int r = 0; r < test_nranks; r++)
            s->part[r].fill = test_random();
        if (test_nranks > 1)
            idle->a.count = 0;
        scene_separate(s);
        access_once(fh, s, (enum kind)kind, 1);
        access_once(fh, s, (enum kind)kind, 0);
        idle->a.count = count;
    }
}

/* What is otherwise left to chance, once: module, exchange, nodes, atomic mode, kind of call.
 */
static void every_combination(void)
{
    static const enum layout layouts[] = {CYCLIC, IRREGULAR, TILES, MIXED};
    static struct scene s;
    uint64_t seed = test_seed();
    int n = 0, bad = 0;
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int m = 0; m < coll_count; m++)
        for (int nodes = 1; nodes <= COLL_NODES; nodes += test_nranks > 4 ? 2 : 1)
            for (int way = 0; way <= 4 && bad < BAD_ENOUGH; way++, n++) {
                struct coll_setup setup = {.module = coll_name[m],
                                           .nodes = nodes,
                                           .owners = n % (test_nranks + 1),
                                           .buffer = n % 2 ? 4096 : 512,
                                           .exchange = way % 4,
                                           .atomic = way == 4};
                int before = test_failed;
                test_state = scene_mix(seed, (uint64_t)n);
                scene_draw(&s, layouts[n % 4], 2000);
                prepare_file();
                MPI_File fh = coll_open(&setup);
                if (fh != MPI_FILE_NULL) {
                    set_scene_view(fh, &s);
                    by_every_kind(fh, &s);
                    check_file(&fh);
                }
                bad += agree_bad(before);
                if (test_failed > before && test_failed < 10)
                    explain(&s, &setup, seed);
                scene_clear(&s);
            }
}

static void modules_listed(void)
{
    for (int k = 0; !getenv("COLL_MODULE") && coll_known[k]; k++)
        CHECK(coll_listed(coll_known[k]) == 1, "%s is listed %d times", coll_known[k],
              coll_listed(coll_known[k]));
    for (int m = 0; test_rank == 0 && m < coll_count; m++)
        printf("coll: %s\n", coll_name[m]);
}

#define CASE(name, ...)                                                                        \
    static void name(void)                                                                     \
    {                                                                                          \
        play_all(&(struct plan){__VA_ARGS__});                                                 \
    }

CASE(cyclic, CYCLIC, 1, 0, in_sequence)
CASE(tiles, TILES, 1, 0, in_sequence)
CASE(darrays, DARRAY, 1, 0, in_sequence)
CASE(irregular, IRREGULAR, 1, 0, in_sequence)
CASE(mixed, MIXED, 1, 0, in_sequence)
CASE(anything, ANYTHING, 1, 0, in_sequence)
CASE(overlapping_reads, OVERLAP, 1, 0, in_sequence)
CASE(at_once_cyclic, CYCLIC, 1, 0, at_once)
CASE(at_once_tiles, TILES, 1, 0, at_once)
CASE(at_once_irregular, IRREGULAR, 1, 0, at_once)
CASE(atomic_cyclic, CYCLIC, 1, 1, in_sequence)
CASE(atomic_irregular, IRREGULAR, 1, 1, in_sequence)
CASE(two_nodes_cyclic, CYCLIC, 2, 0, in_sequence)
CASE(two_nodes_tiles, TILES, 2, 0, in_sequence)
CASE(two_nodes_at_once, IRREGULAR, 2, 0, at_once)
CASE(three_nodes_cyclic, CYCLIC, 3, 0, in_sequence)
CASE(three_nodes_darrays, DARRAY, 3, 0, in_sequence)
CASE(three_nodes_irregular, IRREGULAR, 3, 0, in_sequence)
CASE(three_nodes_mixed, MIXED, 3, 0, in_sequence)
CASE(three_nodes_overlapping_reads, OVERLAP, 3, 0, in_sequence)

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(modules_listed),
                                             TEST(every_combination),
                                             TEST(cyclic),
                                             TEST(tiles),
                                             TEST(darrays),
                                             TEST(irregular),
                                             TEST(mixed),
                                             TEST(anything),
                                             TEST(overlapping_reads),
                                             TEST(at_once_cyclic),
                                             TEST(at_once_tiles),
                                             TEST(at_once_irregular),
                                             TEST(atomic_cyclic),
                                             TEST(atomic_irregular),
                                             TEST(two_nodes_cyclic),
                                             TEST(two_nodes_tiles),
                                             TEST(two_nodes_at_once),
                                             TEST(three_nodes_cyclic),
                                             TEST(three_nodes_darrays),
                                             TEST(three_nodes_irregular),
                                             TEST(three_nodes_mixed),
                                             TEST(three_nodes_overlapping_reads),
                                             {0}};
    MPI_Init(&argc, &argv);
    coll_list();
    oracle_init(&image, SCENE_CAP);
    int code = test_main_mpi(argc, argv, cases);
    oracle_free(&image);
    coll_forget();
    MPI_Finalize();
    return code;
}
