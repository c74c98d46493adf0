/* Random views, memory types, offsets, counts, directions and kinds of call, by all ranks at
 * once, against the oracle: the whole file and every byte of every buffer are compared.
 *
 * All ranks draw all ranks' parts of a case from one seed, so each of them knows the whole
 * truth and no word is exchanged about it. BRIO_SEED=s BRIO_CASES=n runs n cases beginning
 * with seed s; a failure prints the seed that alone (BRIO_CASES=1) brings it back. */
#include "calls.h"
#include "check_mpi.h"
#include "oracle.h"
#include "shape_random.h"

enum {
    MAX_RANKS = 64,
    FILE_CAP = 1 << 20, /* no access ends beyond this */
    GUARD = 32,         /* bytes around a buffer that must stay as they are */
    BAD_ENOUGH = 3,     /* failed cases after which the rest is not run */
};

/* One rank's part. */
struct part {
    struct oracle_view view;
    struct oracle_access a;
    struct shape *mem;
    enum kind kind;
    unsigned char *block; /* the buffer with its guards */
    int64_t block_len;
    uint64_t fill; /* what the buffer is filled from */
};

struct scene {
    uint64_t seed;
    int write, coll, turns;
    int64_t prefill; /* bytes that are in the file before; -1: there is no file */
    struct shape *base, *etype;
    struct part part[MAX_RANKS];
};

static struct oracle image;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 1;
    z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 29);
}

/* ---- Drawing a case ---------------------------------------------------------------------- */

static struct shape *draw_filetype(const struct scene *s)
{
    struct shape_rules rules = {s->etype, 1, shape_extent(s->etype), 1500};
    return shape_random(&rules, shape_between(0, 3));
}

static void draw_etype(struct scene *s)
{
    s->base = shape_random_named();
    struct shape_rules rules = {s->base, 1, shape_extent(s->base), 64};
    do {
        shape_unref(s->etype);
        s->etype = shape_random(&rules, shape_between(0, 2));
    } while (s->etype->nbytes == 0 || s->etype->off[0] >= shape_extent(s->etype));
}

/* A tile of slots dealt out to the ranks; this rank's ones as an indexed type. */
static struct shape *deal_slots(const struct scene *s, uint64_t deal, int rank)
{
    struct shape *t = shape_new(test_below(2) ? SHAPE_INDEXED_BLOCK : SHAPE_HINDEXED_BLOCK,
                                shape_ref(s->etype));
    int slots = 3 * test_nranks;
    t->len[0] = 1;
    for (int i = 0; i < slots && t->n < SHAPE_MAX; i++)
        if ((int)(mix(deal, (uint64_t)i) % (uint64_t)(test_nranks + 1)) == rank) {
            t->disp[t->n] = i;
            t->adisp[t->n++] = (MPI_Aint)(i * shape_extent(s->etype));
        }
    shape_expand(t);
    struct shape *w = shape_new(SHAPE_RESIZED, t);
    w->extent = (MPI_Aint)(slots * shape_extent(s->etype));
    shape_expand(w);
    return w;
}

/* A global array, this rank's piece of it. */
static struct shape *deal_array(const struct scene *s, uint64_t deal, int rank)
{
    struct shape *t = shape_new(SHAPE_DARRAY, shape_ref(s->etype));
    t->n = 2;
    t->order = deal & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    t->nprocs = test_nranks;
    t->rank = rank;
    for (int d = 0; d < 2; d++) {
        t->size[d] = 3 + (int)(mix(deal, (uint64_t)d) % 9);
        t->psize[d] = d == (int)(deal >> 1 & 1) ? test_nranks : 1;
        t->darg[d] = MPI_DISTRIBUTE_DFLT_DARG;
        t->distrib[d] = deal >> (2 + d) & 1 ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
    }
    shape_expand(t);
    return t;
}

/* Memory for about `target` bytes in whole etypes. */
static void draw_memory(const struct scene *s, struct part *p, int64_t target, int write)
{
    int any = s->etype->comb == SHAPE_NAMED && s->etype->nbytes == 1 && !s->etype->pairs;
    for (int try = 0; try < 6; try++) {
        struct shape *leaf = any             ? shape_random_named()
                             : test_below(2) ? shape_ref(s->base)
                                             : shape_ref(s->etype);
        struct shape_rules rules = {leaf, 0, leaf->align, 600};
        shape_unref(p->mem);
        p->mem = shape_random(&rules, try == 5 ? 0 : shape_between(0, 3));
        shape_unref(leaf);
        int64_t count = p->mem->nbytes ? target / p->mem->nbytes : test_below(3);
        while (count * p->mem->nbytes % s->etype->nbytes != 0)
            count--;
        p->a.count = count;
        if (write || !shape_overlaps(p->mem, count))
            break;
        p->a.count = 0;
    }
    p->a.mem = p->mem;
    if (p->view.filetype->nbytes == 0 && p->mem->nbytes > 0)
        p->a.count = 0; /* there is no byte to access in an empty view */
}

static void draw_views(struct scene *s, int layout)
{
    uint64_t deal = test_random();
    int64_t disp = test_below(2) ? 0 : test_below(100);
    struct shape *common = draw_filetype(s);
    for (int r = 0; r < test_nranks; r++) {
        struct oracle_view *v = &s->part[r].view;
        v->disp = disp;
        v->etype = s->etype;
        if (layout == 1)
            v->filetype = shape_ref(common);
        else if (layout == 2)
            v->filetype = deal_slots(s, deal, r);
        else if (layout == 3)
            v->filetype = deal_array(s, deal, r);
        else
            v->filetype = draw_filetype(s);
    }
    shape_unref(common);
}

/* What each rank accesses, so that no two of them touch one byte unless they may. */
static void draw_accesses(struct scene *s, int layout)
{
    int64_t running = 0, size = s->etype->nbytes;
    static const int64_t targets[] = {0, 100, 1000, 5000, 20000};
    int64_t target = targets[test_below(5)];
    for (int r = 0; r < test_nranks; r++) {
        struct part *p = &s->part[r];
        p->a.view = &p->view;
        draw_memory(s, p, test_below(8) ? test_below(target + 1) : 0, s->write);
        p->kind = (enum kind)test_below(INDEPENDENT_KINDS);
        p->a.off = test_below(3) ? test_below(20) : test_below(500);
        if (layout == 1) {
            p->a.off = running / size;
            running += oracle_bytes(&p->a) + size * test_below(3);
        } else if (layout == 0) {
            p->view.disp += running;
            running = oracle_end(&p->a) > running ? oracle_end(&p->a) : running;
        }
        if (oracle_end(&p->a) > FILE_CAP)
            p->a.count = 0;
        p->fill = test_random();
    }
}

/* The ranks' bytes must be apart in a concurrent write; who comes second writes nothing. */
static void separate(struct scene *s)
{
    unsigned char *taken = calloc(1, FILE_CAP);
    if (!taken)
        abort();
    for (int r = 0; r < test_nranks; r++) {
        struct oracle_access *a = &s->part[r].a;
        int clash = 0;
        for (int64_t i = 0; i < oracle_bytes(a); i++)
            clash |= taken[oracle_file_offset(a, i)];
        if (clash)
            a->count = 0;
        for (int64_t i = 0; i < oracle_bytes(a); i++)
            taken[oracle_file_offset(a, i)] = 1;
    }
    free(taken);
}

static void draw(struct scene *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed;
    test_state = mix(seed, 7);
    s->write = test_below(3) > 0;
    s->coll = test_below(2) > 0;
    s->turns = s->write && !s->coll && test_below(6) == 0;
    s->prefill = test_below(3) ? test_below(30000) : test_below(2) ? 0 : -1;
    int layout = s->turns || !s->write ? (int)test_below(5) : (int)test_below(4);
    draw_etype(s);
    draw_views(s, layout);
    draw_accesses(s, layout);
    if (s->coll) {
        enum kind all = (enum kind)shape_between(AT_ALL, KINDS - 1);
        for (int r = 0; r < test_nranks; r++)
            s->part[r].kind = all;
    }
    if (s->write && !s->turns)
        separate(s);
}

/* ---- Buffers ------------------------------------------------------------------------------
 */

static void fill(struct part *p)
{
    int64_t lo, hi;
    shape_bounds(p->mem, p->a.count, &lo, &hi);
    lo -= ((lo % 16) + 16) % 16;
    p->block_len = hi - lo + 2 * GUARD;
    free(p->block);
    p->block = aligned_alloc(32, (size_t)(p->block_len + 31) / 32 * 32);
    if (!p->block)
        abort();
    for (int64_t i = 0; i < p->block_len; i++)
        p->block[i] = (unsigned char)mix(p->fill, (uint64_t)i);
    p->a.origin = p->block + GUARD - lo;
}

/* A copy of a part with a buffer of its own, filled alike. */
static struct part twin(const struct part *p)
{
    struct part t = *p;
    t.block = NULL;
    fill(&t);
    return t;
}

static void clear(struct scene *s)
{
    for (int r = 0; r < test_nranks; r++) {
        free(s->part[r].block);
        shape_unref(s->part[r].mem);
        shape_unref(s->part[r].view.filetype);
    }
    shape_unref(s->etype);
    shape_unref(s->base);
}

/* ---- One access and what must come of it
 * ------------------------------------------------------ */

static int64_t elements_in(const struct shape *m, int64_t bytes)
{
    int64_t n = 0;
    for (int64_t i = 0; i < bytes; i++)
        n += m->begin[i % m->nbytes];
    return n;
}

/* `least` .. `most` data bytes were moved; the counts of the status must agree. */
static int64_t check_status(const struct part *p, const MPI_Status *st, int64_t least,
                            int64_t most)
{
    MPI_Count got = -1, elements = -1;
    int count = -1;
    const struct shape *m = p->mem;
    MPI_Get_elements_x(st, MPI_BYTE, &got);
    CHECK(got >= least && got <= most, "kind %d: %lld bytes, not %lld..%lld", p->kind,
          (long long)got, (long long)least, (long long)most);
    if (m->nbytes == 0 || got < 0)
        return got;
    MPI_Get_count(st, m->type, &count);
    CHECK(count == (got % m->nbytes ? MPI_UNDEFINED : (int)(got / m->nbytes)),
          "count %d for %lld of %lld bytes", count, (long long)got, (long long)m->nbytes);
    int whole = got == oracle_bytes(&p->a) || m->begin[got % m->nbytes];
    /* What MPIs say of parts of elements, pairs and nested constructors is their own. */
    if (!whole || m->pairs || m->complex)
        return got;
    MPI_Get_elements_x(st, m->type, &elements);
    CHECK(elements == elements_in(m, got), "%lld elements, not %lld", (long long)elements,
          (long long)elements_in(m, got));
    return got;
}

static void check_buffer(const struct part *got, const struct part *want)
{
    for (int64_t i = 0; i < got->block_len; i++)
        if (got->block[i] != want->block[i]) {
            CHECK(0, "kind %d: buffer byte %lld is %02x, not %02x", got->kind,
                  (long long)(i - (got->a.origin - got->block)), got->block[i], want->block[i]);
            return;
        }
}

static void check_read(struct part *p, const MPI_Status *st)
{
    struct part want = twin(p);
    int64_t size = p->view.etype->nbytes, exact = oracle_read(&image, &want.a);
    /* End of file inside an etype: the part of it may count or not. */
    int64_t got = check_status(p, st, exact / size * size, exact);
    if (got == exact / size * size)
        for (int64_t i = got; i < exact; i++) {
            int64_t at = oracle_mem_offset(&p->a, i);
            want.a.origin[at] = p->a.origin[at];
        }
    check_buffer(p, &want);
    free(want.block);
}

static void access_file(MPI_File fh, struct part *p, int write)
{
    MPI_Status st;
    int64_t bytes = oracle_bytes(&p->a);
    int moves = uses_pointer(p->kind);
    shape_build(p->mem);
    fill(p);
    if (moves) {
        int err = MPI_File_seek(fh, p->a.off, MPI_SEEK_SET);
        CHECK(err == MPI_SUCCESS, "seek: %d", err);
    }
    struct call c = {p->kind,         p->a.off,     p->a.origin,
                     (int)p->a.count, p->mem->type, (int)test_below(2)};
    int err = write ? call_write(fh, &c, &st) : call_read(fh, &c, &st);
    CHECK(err == MPI_SUCCESS, "kind %d: %d", p->kind, err);
    if (err)
        return;
    if (write) {
        struct part want = twin(p);
        check_status(p, &st, bytes, bytes);
        check_buffer(p, &want);
        free(want.block);
    } else {
        check_read(p, &st);
    }
    MPI_Offset now = -1, next = p->a.off + bytes / p->view.etype->nbytes;
    MPI_File_get_position(fh, &now);
    CHECK(!moves || now == next || p->view.filetype->nbytes == 0, "pointer at %lld, not %lld",
          (long long)now, (long long)next);
}

/* ---- A case
 * ------------------------------------------------------------------------------------ */

static void all_write(MPI_File fh, struct scene *s)
{
    for (int r = 0; r < test_nranks; r++) {
        struct part t = twin(&s->part[r]);
        oracle_write(&image, &t.a);
        free(t.block);
    }
    if (!s->turns) {
        access_file(fh, &s->part[test_rank], 1);
        return;
    }
    for (int r = 0; r < test_nranks; r++) {
        if (r == test_rank)
            access_file(fh, &s->part[r], 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same access again, with other data; now and then with less of it on some rank. What
 * was learned from the first one may be used, but only where it still holds. */
static void vary(struct scene *s)
{
    for (int r = 0; r < test_nranks; r++) {
        struct part *p = &s->part[r];
        p->fill = test_random();
        if (test_below(6) == 0)
            p->a.count = test_below(p->a.count + 1);
        while (oracle_bytes(&p->a) % s->etype->nbytes != 0)
            p->a.count--;
    }
}

/* Each rank reads from what it wrote, with another memory type and another kind of call. */
static void read_back(MPI_File fh, struct scene *s)
{
    enum kind all = (enum kind)shape_between(AT_ALL, KINDS - 1);
    for (int r = 0; r < test_nranks; r++) {
        struct part *p = &s->part[r];
        int64_t written = oracle_bytes(&p->a), size = s->etype->nbytes;
        draw_memory(s, p, test_below(4) ? written : test_below(written + 1), 0);
        int64_t slack = written > oracle_bytes(&p->a) ? written - oracle_bytes(&p->a) : 0;
        if (written == 0)
            p->a.count = 0;
        p->a.off += test_below(slack / size + 1);
        p->kind = s->coll ? all : (enum kind)test_below(INDEPENDENT_KINDS);
        p->fill = test_random();
    }
    uint64_t state = test_state;
    access_file(fh, &s->part[test_rank], 0);
    test_state = state;
}

static MPI_Info draw_hints(void)
{
    static const char *const keys[] = {"cb_nodes",      "cb_buffer_size",     "romio_ds_write",
                                       "romio_ds_read", "romio_cb_write",     "romio_cb_read",
                                       "cb_block_size", "ind_wr_buffer_size", "striping_unit"};
    static const char *const values[][3] = {{"1", "2", "4"},
                                            {"64", "1000", "65536"},
                                            {"enable", "disable", "automatic"},
                                            {"enable", "disable", "automatic"},
                                            {"enable", "disable", "automatic"},
                                            {"enable", "disable", "automatic"},
                                            {"512", "4096", "1024"},
                                            {"4096", "512", "65536"},
                                            {"4096", "65536", "8192"}};
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < 9; i++)
        if (test_below(3) == 0)
            MPI_Info_set(info, keys[i], values[i][test_below(3)]);
    return info;
}

static void prepare_file(const struct scene *s)
{
    memset(image.byte, 0, (size_t)image.cap);
    image.size = s->prefill < 0 ? 0 : s->prefill;
    for (int64_t i = 0; i < image.size; i++)
        image.byte[i] = (unsigned char)mix(s->seed, (uint64_t)i);
    if (test_rank == 0) {
        unlink(test_file());
        if (s->prefill >= 0)
            oracle_store(&image, test_file());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void explain(const struct scene *s)
{
    const struct part *p = &s->part[test_rank];
    fprintf(stderr,
            "rank %d of %d, BRIO_SEED=%llu BRIO_CASES=1: %s%s kind %d disp %lld off %lld count "
            "%lld\n etype ",
            test_rank, test_nranks, (unsigned long long)s->seed, s->write ? "write" : "read",
            s->turns ? " in turns" : "", p->kind, (long long)p->view.disp, (long long)p->a.off,
            (long long)p->a.count);
    shape_print(stderr, s->etype);
    fprintf(stderr, "\n filetype ");
    shape_print(stderr, p->view.filetype);
    fprintf(stderr, "\n memory ");
    shape_print(stderr, p->mem);
    fprintf(stderr, "\n");
}

static void check_type(const struct shape *s, const char *what)
{
    MPI_Aint lb = 0, extent = 0;
    int size = 0;
    MPI_Type_get_extent(s->type, &lb, &extent);
    MPI_Type_size(s->type, &size);
    /* The bounds of a type without data are nobody's business. */
    CHECK(size == s->nbytes && (size == 0 || (extent == shape_extent(s) && lb == s->lb)),
          "%s: the MPI says size %d lb %ld extent %ld, the oracle %lld %lld %lld", what, size,
          (long)lb, (long)extent, (long long)s->nbytes, (long long)s->lb,
          (long long)shape_extent(s));
    if (size != s->nbytes || extent != shape_extent(s)) {
        shape_print(stderr, s);
        fputc('\n', stderr);
    }
}

static int run_case(uint64_t seed)
{
    static struct scene s;
    int before = test_failed;
    draw(&s, seed);
    struct part *p = &s.part[test_rank];
    prepare_file(&s);
    MPI_Info info = draw_hints();
    MPI_File fh;
    int err =
        MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh);
    MPI_Info_free(&info);
    CHECK(err == MPI_SUCCESS, "open: %d", err);
    if (err)
        return 1;
    shape_build(s.etype);
    shape_build(p->view.filetype);
    shape_build(p->mem);
    check_type(p->view.filetype, "filetype");
    check_type(p->mem, "memory");
    err = MPI_File_set_view(fh, p->view.disp, s.etype->type, p->view.filetype->type, "native",
                            MPI_INFO_NULL);
    CHECK(err == MPI_SUCCESS, "set_view: %d", err);
    if (s.turns)
        MPI_File_set_atomicity(fh, 1);
    int times = test_below(3) ? 1 : shape_between(2, 4);
    for (int i = 0; i < times; i++) {
        if (i > 0)
            vary(&s);
        uint64_t state = test_state;
        if (s.write)
            all_write(fh, &s);
        else
            access_file(fh, p, 0);
        test_state = state;
    }
    if (s.write && test_below(2))
        read_back(fh, &s);
    err = MPI_File_close(&fh);
    CHECK(err == MPI_SUCCESS, "close: %d", err);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        int64_t bad = oracle_compare(&image, test_file());
        CHECK(bad < 0, "file differs at byte %lld of %lld, %lld of them there before",
              (long long)bad, (long long)image.size, (long long)s.prefill);
    }
    int mine = test_failed > before, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any && test_failed < 10)
        explain(&s);
    clear(&s);
    return any;
}

static void random_cases(void)
{
    const char *text = getenv("BRIO_CASES");
    int n = text ? atoi(text) : 100 + 900 / test_nranks, bad = 0;
    uint64_t seed = test_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("random: seed %llu, %d cases, %d ranks\n", (unsigned long long)seed, n,
               test_nranks);
    for (int i = 0; i < n && bad < BAD_ENOUGH; i++)
        bad += run_case(seed + (uint64_t)i);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(random_cases), {0}};
    MPI_Init(&argc, &argv);
    oracle_init(&image, FILE_CAP);
    int code = test_main_mpi(argc, argv, cases);
    oracle_free(&image);
    MPI_Finalize();
    return code;
}
