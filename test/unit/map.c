/* Maps, cursors and copy kernels against the obvious slow model: a random tree is built as
 * nodes and, side by side, written out as a list of byte offsets. */
#include "check.h"

#include "type/map.h"
#include "type/pack.h"
#include "type/stream.h"

enum {
    MODEL_MAX = 1500, /* bytes of a tree */
    REACH = 1 << 18,  /* offsets stay inside */
    TILES = 3
};

/* The bytes of a tree in typemap order. */
struct model {
    int n;
    int kind; /* of all leaves: 0 or the element length */
    int64_t off[MODEL_MAX];
};

struct tree {
    struct brio_node *node;
    struct model model;
};

static void fail_build(const char *what)
{
    CHECK(0, "%s: %s", what, brio_err_text());
}

static int64_t model_lo(const struct model *m)
{
    int64_t lo = m->n ? m->off[0] : 0;
    for (int i = 1; i < m->n; i++)
        lo = m->off[i] < lo ? m->off[i] : lo;
    return lo;
}

static int64_t model_hi(const struct model *m)
{
    int64_t hi = m->n ? m->off[0] + 1 : 0;
    for (int i = 1; i < m->n; i++)
        hi = m->off[i] + 1 > hi ? m->off[i] + 1 : hi;
    return hi;
}

/* Appends `from` shifted by off; false if there is no room. */
static int append(struct model *to, const struct model *from, int64_t off)
{
    if (to->n + from->n > MODEL_MAX)
        return 0;
    for (int i = 0; i < from->n; i++) {
        int64_t o = from->off[i] + off;
        if (o < -REACH || o >= REACH)
            return 0;
        to->off[to->n++] = o;
    }
    return 1;
}

/* ---- Random trees ------------------------------------------------------------------- */

/* `rising` asks for trees whose offsets rise, `kind` for typed ones. */
struct taste {
    int rising, kind;
};

static void grow(struct tree *t, struct taste taste, int depth);

static void grow_leaf(struct tree *t, struct taste taste)
{
    int64_t len = taste.kind ? taste.kind : test_below(20) ? 1 + test_below(9) : 0;
    t->model.kind = taste.kind;
    t->model.n = (int)len;
    for (int i = 0; i < len; i++)
        t->model.off[i] = i;
    if (brio_node_bytes(len, taste.kind, &t->node))
        fail_build("bytes");
}

/* A distance between copies: often one at which things join. */
static int64_t pick_stride(const struct model *m, struct taste taste)
{
    int64_t width = model_hi(m) - model_lo(m);
    int64_t gap = test_below(3) ? 0 : test_below(9);
    if (taste.rising)
        return width + gap;
    switch (test_below(6)) {
    case 0:
        return test_below(41) - 20;
    case 1:
        return -width - gap;
    default:
        return width + gap;
    }
}

static void grow_loop(struct tree *t, struct taste taste, int depth)
{
    struct tree child;
    grow(&child, taste, depth - 1);
    int64_t count = test_below(20) ? 1 + test_below(test_below(8) ? 5 : 40) : 0;
    int64_t stride = pick_stride(&child.model, taste);
    struct model m = {.kind = taste.kind};
    for (int64_t i = 0; i < count; i++)
        if (!append(&m, &child.model, i * stride)) {
            *t = child;
            return;
        }
    t->model = m;
    if (brio_node_loop(child.node, count, stride, &t->node))
        fail_build("loop");
}

static void grow_list(struct tree *t, struct taste taste, int depth)
{
    static struct tree child[6][4];
    struct brio_node *node[4];
    int64_t off[4], end = 0;
    int n = test_below(20) ? 1 + (int)test_below(4) : 0;
    struct model m = {.kind = taste.kind};
    for (int i = 0; i < n; i++) {
        struct tree *c = &child[depth][i];
        if (i > 0 && test_below(3) == 0) {
            *c = child[depth][i - 1];
            brio_node_ref(c->node);
        } else
            grow(c, taste, depth - 1);
    }
    for (int i = 0; i < n; i++) {
        struct tree *c = &child[depth][i];
        node[i] = c->node;
        off[i] = taste.rising || test_below(3) ? end + (test_below(2) ? 0 : test_below(12))
                                               : test_below(100) - 50;
        off[i] -= taste.rising ? model_lo(&c->model) : 0;
        if (!append(&m, &c->model, off[i])) {
            for (int k = 0; k < n; k++)
                brio_node_unref(child[depth][k].node);
            grow_leaf(t, taste);
            return;
        }
        end = model_hi(&m);
    }
    t->model = m;
    if (brio_node_list((size_t)n, node, off, &t->node))
        fail_build("list");
}

static void grow_blocks(struct tree *t, struct taste taste, int depth)
{
    struct tree child;
    grow(&child, taste, depth - 1);
    int64_t unit = pick_stride(&child.model, taste), len[12], off[12], end = 0;
    int n = (int)test_below(13), even = test_below(3) == 0, equal = test_below(2) == 0;
    int64_t gap = test_below(10), same = 1 + test_below(4);
    struct model m = {.kind = taste.kind};
    for (int i = 0; i < n; i++) {
        len[i] = equal ? same : test_below(4);
        off[i] = end + (even ? gap : test_below(2) ? 0 : test_below(10));
        if (taste.rising)
            off[i] -= model_lo(&child.model);
        else if (test_below(4) == 0 && !even)
            off[i] = test_below(200) - 100;
        for (int64_t k = 0; k < len[i]; k++)
            if (!append(&m, &child.model, off[i] + k * unit)) {
                *t = child;
                return;
            }
        end = taste.rising ? model_hi(&m) : off[i] + len[i] * unit;
    }
    t->model = m;
    if (brio_node_blocks(child.node, unit, (size_t)n, len, off, &t->node))
        fail_build("blocks");
}

static void grow(struct tree *t, struct taste taste, int depth)
{
    int64_t what = depth > 0 ? test_below(8) : 0;
    if (what < 1)
        grow_leaf(t, taste);
    else if (what < 4)
        grow_loop(t, taste, depth);
    else if (what < 6)
        grow_list(t, taste, depth);
    else
        grow_blocks(t, taste, depth);
}

/* ---- A map and its model, tiled ----------------------------------------------------- */

struct pair {
    struct brio_map *map;
    struct model model;
    int64_t extent;
};

static int64_t at(const struct pair *p, int64_t pos)
{
    return p->model.off[pos % p->model.n] + pos / p->model.n * p->extent;
}

static struct pair make_pair(struct taste taste)
{
    struct tree t;
    struct pair p;
    grow(&t, taste, 1 + (int)test_below(5));
    p.model = t.model;
    int64_t lo = model_lo(&t.model), hi = model_hi(&t.model);
    switch (test_below(5)) {
    case 0:
        p.extent = hi - lo + test_below(20);
        break;
    case 1:
        p.extent = t.model.n;
        break;
    case 2:
        p.extent = taste.rising ? hi - lo : test_below(100) - 50;
        break;
    default:
        p.extent = hi - lo;
    }
    if (brio_map_new(t.node, lo, p.extent, &p.map)) {
        fail_build("map");
        p.map = NULL;
    }
    return p;
}

/* ---- What is asked ------------------------------------------------------------------ */

static int model_monotone(const struct pair *p)
{
    for (int64_t i = 1; i < 2 * p->model.n; i++)
        if (at(p, i) <= at(p, i - 1))
            return 0;
    return 1;
}

static void check_facts(const struct pair *p)
{
    const struct brio_map *m = p->map;
    CHECK(m->size == p->model.n, "size %ld, model %d", (long)m->size, p->model.n);
    CHECK(m->lo == model_lo(&p->model) && m->hi == model_hi(&p->model), "lo %ld hi %ld",
          (long)m->lo, (long)m->hi);
    CHECK(m->monotone == model_monotone(p), "monotone is %d", m->monotone);
    if (m->size == 0)
        return;
    int piece = 1;
    for (int64_t i = 0; i < 2 * m->size && piece; i++)
        piece = at(p, i) == i;
    CHECK(!m->contiguous || piece, "contiguous, but it is not");
    CHECK(m->npieces >= 1 && m->npieces <= m->size, "npieces %ld", (long)m->npieces);
}

static void check_offsets(const struct pair *p)
{
    int64_t total = TILES * p->model.n;
    for (int i = 0; i < 10; i++) {
        int64_t pos = test_below(total);
        int64_t got = brio_map_offset(p->map, pos);
        CHECK(got == at(p, pos), "offset(%ld) = %ld, model %ld", (long)pos, (long)got,
              (long)at(p, pos));
    }
}

static void check_below(const struct pair *p)
{
    if (!p->map->monotone || p->extent <= 0)
        return;
    int64_t total = TILES * p->model.n;
    for (int i = 0; i < 10; i++) {
        /* Beyond the third tile the model ends. */
        int64_t x = p->map->lo - 5 + test_below((TILES - 1) * p->extent + 8), want = 0;
        while (want < total && at(p, want) < x)
            want++;
        if (want == total)
            continue;
        int64_t got = brio_map_below(p->map, x);
        CHECK(got == want, "below(%ld) = %ld, model %ld", (long)x, (long)got, (long)want);
    }
}

static void check_ranges(const struct pair *p)
{
    int64_t total = TILES * p->model.n;
    for (int i = 0; i < 8; i++) {
        int64_t pos = test_below(total), bytes = 1 + test_below(total - pos);
        if (i % 2)
            bytes = 1 + test_below(bytes < 8 ? bytes : 8);
        int64_t lo = at(p, pos), hi = lo + 1, got_lo, got_hi, off = -1;
        int piece = 1;
        for (int64_t k = 0; k < bytes; k++) {
            int64_t o = at(p, pos + k);
            piece = piece && o == at(p, pos) + k;
            lo = o < lo ? o : lo;
            hi = o + 1 > hi ? o + 1 : hi;
        }
        brio_map_bounds(p->map, pos, bytes, &got_lo, &got_hi);
        CHECK(got_lo == lo && got_hi == hi, "bounds [%ld,%ld), model [%ld,%ld)", (long)got_lo,
              (long)got_hi, (long)lo, (long)hi);
        int got = brio_map_is_piece(p->map, pos, bytes, &off);
        CHECK(got == piece, "is_piece(%ld, %ld) = %d", (long)pos, (long)bytes, got);
        CHECK(!got || off == at(p, pos), "piece at %ld", (long)off);
    }
}

static void check_cursor(const struct pair *p)
{
    int64_t total = TILES * p->model.n, pos = test_below(total), kind = p->model.kind;
    struct brio_cursor c;
    struct brio_run run;
    brio_cursor_init(&c, p->map, pos);
    int whole = test_below(2) == 0;
    /* Typed elements are never cut when the walk begins and ends at one. */
    if (kind && whole) {
        pos -= pos % kind;
        brio_cursor_init(&c, p->map, pos);
    }
    while (pos < total && !test_failed) {
        int64_t left = total - pos, max = whole ? left : 1 + test_below(left < 30 ? left : 30);
        brio_cursor_next(&c, max, &run);
        CHECK(run.count >= 1 && run.len >= 1 && run.len * run.count <= max,
              "run of %ld x %ld for %ld", (long)run.count, (long)run.len, (long)max);
        CHECK(run.kind == kind, "kind %d", run.kind);
        CHECK(!kind || !whole || run.len == kind, "element of %ld bytes", (long)run.len);
        for (int64_t i = 0; i < run.count && !test_failed; i++)
            for (int64_t k = 0; k < run.len; k++, pos++) {
                int64_t o = run.off + i * run.stride + k;
                CHECK(pos < total && o == at(p, pos), "pos %ld: run says %ld, model %ld",
                      (long)pos, (long)o, (long)at(p, pos));
            }
        CHECK(c.pos == pos, "cursor at %ld, not %ld", (long)c.pos, (long)pos);
    }
}

static unsigned char from[2 * REACH + 65536], to[2 * REACH + 65536], want[2 * REACH + 65536];
static unsigned char flat[48 << 10];

/* The address of offset 0 in one of the arrays, with every alignment. */
static unsigned char *origin(unsigned char *array)
{
    return array + REACH + 32768 + test_below(8);
}

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)test_random();
}

/* How many tiles the arrays of this test have room for: many turns of few pieces are packed
 * in another way than few. */
static int64_t many_tiles(const struct pair *p)
{
    int64_t tiles = (int64_t)sizeof flat / p->model.n, extent = p->extent;
    int64_t room = (REACH - p->map->hi) / (extent < 0 ? -extent + 1 : extent + 1);
    int64_t down = (REACH + p->map->lo) / (extent < 0 ? -extent + 1 : extent + 1);
    tiles = room < tiles ? room : tiles;
    tiles = down < tiles ? down : tiles;
    return tiles < TILES ? TILES : tiles;
}

static void check_pack(const struct pair *p)
{
    int64_t tiles = test_below(2) ? TILES : many_tiles(p);
    int64_t total = tiles * p->model.n, pos = test_below(test_below(2) ? total : p->model.n);
    int64_t bytes = test_below(total - pos + 1);
    const unsigned char *base = origin(from);
    brio_pack(flat, p->map, base, pos, bytes);
    for (int64_t i = 0; i < bytes; i++)
        CHECK(flat[i] == base[at(p, pos + i)], "packed byte %ld", (long)i);
    unsigned char *put = origin(to), *model = want + (put - to);
    int64_t lo, hi;
    if (bytes == 0)
        return;
    brio_map_bounds(p->map, pos, bytes, &lo, &hi);
    lo -= 16, hi += 16;
    memcpy(model + lo, put + lo, (size_t)(hi - lo));
    fill(flat, (size_t)bytes);
    brio_unpack(put, p->map, flat, pos, bytes);
    for (int64_t i = 0; i < bytes; i++)
        model[at(p, pos + i)] = flat[i];
    CHECK(memcmp(model + lo, put + lo, (size_t)(hi - lo)) == 0, "unpacked bytes differ");
}

/* From pattern to pattern, in two steps so that the cursors stop somewhere. */
static void check_copy(const struct pair *p, const struct pair *q)
{
    int64_t np = TILES * p->model.n, nq = TILES * q->model.n;
    int64_t pos_p = test_below(np), pos_q = test_below(nq), lo, hi;
    int64_t most = np - pos_p < nq - pos_q ? np - pos_p : nq - pos_q;
    int64_t bytes = 1 + test_below(most), first = test_below(bytes + 1);
    struct brio_cursor src, dst;
    const unsigned char *get = origin(from);
    unsigned char *put = origin(to), *model = want + (put - to);
    brio_map_bounds(q->map, pos_q, bytes, &lo, &hi);
    lo -= 16, hi += 16;
    memcpy(model + lo, put + lo, (size_t)(hi - lo));
    brio_cursor_init(&src, p->map, pos_p);
    brio_cursor_init(&dst, q->map, pos_q);
    brio_copy(put, &dst, get, &src, first);
    if (test_below(2))
        brio_copy(put, &dst, get, &src, bytes - first);
    else
        brio_stream_copy(put, &dst, get, &src, bytes - first);
    for (int64_t i = 0; i < bytes; i++)
        model[at(q, pos_q + i)] = get[at(p, pos_p + i)];
    CHECK(memcmp(model + lo, put + lo, (size_t)(hi - lo)) == 0, "copied bytes differ");
    CHECK(src.pos == pos_p + bytes && dst.pos == pos_q + bytes, "cursors stopped elsewhere");
}

/* ---- Cases -------------------------------------------------------------------------- */

static void try_trees(int n, struct taste taste)
{
    static struct pair last;
    last.map = NULL;
    for (int i = 0; i < n && !test_failed; i++) {
        uint64_t state = test_state;
        struct pair p = make_pair(taste);
        if (!p.map)
            break;
        check_facts(&p);
        if (p.map->size > 0) {
            check_offsets(&p);
            check_below(&p);
            check_ranges(&p);
            check_cursor(&p);
            check_pack(&p);
            if (last.map)
                check_copy(&p, &last), check_copy(&last, &p);
            brio_map_unref(last.map);
            last = p;
        } else
            brio_map_unref(p.map);
        CHECK(!test_failed, "tree %d, state 0x%llx", i, (unsigned long long)state);
    }
    brio_map_unref(last.map);
}

static void any_trees(void)
{
    try_trees(60000, (struct taste){0});
}

static void rising_trees(void)
{
    try_trees(60000, (struct taste){.rising = 1});
}

static void typed_trees(void)
{
    for (int kind = 1; kind <= 8; kind++)
        try_trees(2500, (struct taste){.kind = kind, .rising = kind % 2});
}

/* The same tree twice has the same hash; another extent another one. */
static void hashes(void)
{
    for (int i = 0; i < 2000; i++) {
        uint64_t state = test_state;
        struct pair p = make_pair((struct taste){0});
        test_state = state;
        struct pair q = make_pair((struct taste){0});
        struct brio_map *other;
        REQUIRE(p.map && q.map, "no maps");
        CHECK(p.map->hash == q.map->hash, "same tree, other hash");
        REQUIRE(!brio_map_new(brio_node_ref(p.map->root), p.map->lb, p.extent + 1, &other),
                "map");
        CHECK(p.map->hash != other->hash, "other extent, same hash");
        brio_map_unref(p.map);
        brio_map_unref(q.map);
        brio_map_unref(other);
    }
}

static struct brio_map *loops(int64_t len, int n, const int64_t *count, const int64_t *stride)
{
    struct brio_node *node;
    struct brio_map *map;
    if (brio_node_bytes(len, 0, &node))
        return NULL;
    for (int i = 0; i < n; i++)
        if (brio_node_loop(node, count[i], stride[i], &node))
            return NULL;
    return brio_map_new(node, 0, count[n - 1] * stride[n - 1], &map) ? NULL : map;
}

/* What is regular costs a few nodes, however many blocks it has. */
static void compact(void)
{
    struct brio_map *map = loops(4, 1, (int64_t[]){16777216}, (int64_t[]){16});
    REQUIRE(map, "%s", brio_err_text());
    CHECK(map->nnodes == 1 && map->npieces == 16777216, "%zu nodes", map->nnodes);
    CHECK(map->endless && map->run.count == 16777216 && map->run.stride == 16, "not one run");
    CHECK(brio_map_offset(map, 4 * 16777215 + 1) == INT64_C(16) * 16777215 + 1, "offset");
    CHECK(brio_map_below(map, INT64_C(16) * 16777215 + 2) == 4 * 16777215 + 2, "below");
    brio_map_unref(map);
    /* Touching loops collapse to bytes. */
    map = loops(4, 3, (int64_t[]){5, 7, 9}, (int64_t[]){4, 20, 140});
    REQUIRE(map, "%s", brio_err_text());
    CHECK(map->contiguous && map->nnodes == 1 && map->size == 4 * 5 * 7 * 9, "not contiguous");
    brio_map_unref(map);
    /* One common stride collapses to one loop. */
    map = loops(4, 3, (int64_t[]){5, 7, 9}, (int64_t[]){8, 40, 280});
    REQUIRE(map, "%s", brio_err_text());
    CHECK(map->nnodes == 1 && map->npieces == 5 * 7 * 9, "%zu nodes", map->nnodes);
    brio_map_unref(map);
}

/* A list of regular blocks becomes a loop; an irregular one costs what it must. */
static void lists(void)
{
    enum {
        N = 100000
    };
    int64_t *len = malloc(N * sizeof *len), *off = malloc(N * sizeof *off);
    struct brio_node *node;
    struct brio_map *map;
    REQUIRE(len && off, "no memory");
    for (int64_t i = 0; i < N; i++) {
        len[i] = 3;
        off[i] = i * 40;
    }
    REQUIRE(!brio_node_bytes(8, 0, &node) && !brio_node_blocks(node, 8, N, len, off, &node) &&
                !brio_map_new(node, 0, N * 40, &map),
            "%s", brio_err_text());
    CHECK(map->nnodes == 1 && map->run.len == 24 && map->run.count == N, "regular blocks: %zu",
          map->nnodes);
    brio_map_unref(map);
    for (int64_t i = 0; i < N; i++)
        off[i] = i * 40 + i % 7;
    REQUIRE(!brio_node_bytes(8, 0, &node) && !brio_node_blocks(node, 8, N, len, off, &node) &&
                !brio_map_new(node, 0, N * 40, &map),
            "%s", brio_err_text());
    CHECK(map->nnodes == N + 1 && map->npieces == N, "irregular blocks: %zu", map->nnodes);
    CHECK(brio_map_offset(map, 24 * 70003) == 70003 * 40 + 70003 % 7, "offset in blocks");
    CHECK(brio_map_below(map, 70003 * 40 + 10) == 24 * 70003 + 10 - 70003 % 7, "below");
    brio_map_unref(map);
    free(len);
    free(off);
}

/* Offsets beyond 2, 4 and 8 GiB and a tile count that needs them. */
static void large(void)
{
    int64_t count[] = {1 << 20, 1 << 20}, stride[] = {1 << 13, INT64_C(1) << 34};
    struct brio_map *map = loops(4096, 2, count, stride);
    REQUIRE(map, "%s", brio_err_text());
    CHECK(map->size == INT64_C(1) << 52, "size %lld", (long long)map->size);
    int64_t pos = (INT64_C(1) << 51) + 12345, off = brio_map_offset(map, pos);
    CHECK(off == (INT64_C(1) << 53) + 3 * 8192 + 12345 - 3 * 4096, "offset %lld",
          (long long)off);
    CHECK(brio_map_below(map, off) == pos, "below is not the inverse");
    brio_map_unref(map);
}

/* What does not fit in 63 bits is refused, or said to be out of reach. */
static void overflow(void)
{
    struct brio_node *node;
    struct brio_map *map;
    int64_t huge = INT64_C(1) << 61, off;
    REQUIRE(!brio_node_bytes(huge, 0, &node), "bytes");
    CHECK(brio_node_loop(node, 8, huge, &node) == BRIO_ETYPE, "2^64 bytes were taken");
    REQUIRE(!brio_node_bytes(1, 0, &node), "bytes");
    CHECK(brio_node_loop(node, 3, INT64_MAX, &node) == BRIO_ETYPE, "stride was taken");
    REQUIRE(!brio_node_bytes(1, 0, &node), "bytes");
    CHECK(brio_node_loop(node, 3, INT64_MIN, &node) == BRIO_ETYPE, "stride was taken");
    struct brio_node *two[2];
    REQUIRE(!brio_node_bytes(1, 0, &two[0]) && !brio_node_bytes(2, 0, &two[1]), "bytes");
    CHECK(brio_node_list(2, two, (int64_t[]){INT64_MIN, INT64_MAX - 2}, &node) == BRIO_ETYPE,
          "a list of all addresses was taken");
    REQUIRE(!brio_node_bytes(4, 0, &node), "bytes");
    CHECK(brio_node_blocks(node, 4, 2, (int64_t[]){huge, huge * 3}, (int64_t[]){0, 0}, &node) ==
              BRIO_ETYPE,
          "blocks were taken");
    REQUIRE(!brio_node_bytes(4, 0, &node) && !brio_map_new(node, 0, 1 << 20, &map), "map");
    CHECK(brio_map_offset(map, INT64_C(1) << 60) == INT64_MAX, "offset out of reach");
    int64_t lo;
    brio_map_bounds(map, 0, INT64_C(1) << 60, &lo, &off);
    CHECK(lo == 0 && off == INT64_MAX, "bounds out of reach");
    brio_map_unref(map);
    CHECK(brio_map_bytes(-1, &map) == BRIO_EARG, "negative length was taken");
    REQUIRE(!brio_node_bytes(4, 0, &node), "bytes");
    CHECK(brio_node_loop(node, -1, 4, &node) == BRIO_EARG, "negative count was taken");
}

/* Nested ever deeper: splicing keeps lists flat, loops are refused in the end. */
static void deep(void)
{
    struct brio_node *node, *pair[2];
    REQUIRE(!brio_node_bytes(4, 0, &node), "bytes");
    for (int i = 0; i < 200; i++) {
        REQUIRE(!brio_node_bytes(4, 0, &pair[1]), "bytes");
        pair[0] = node;
        REQUIRE(!brio_node_list(2, pair, (int64_t[]){0, 8 + i * 9}, &node), "level %d: %s", i,
                brio_err_text());
    }
    CHECK(brio_node_size(node) == 4 * 201, "size");
    brio_node_unref(node);
    REQUIRE(!brio_node_bytes(1, 0, &node), "bytes");
    enum brio_err err = BRIO_OK;
    int level = 0;
    for (int64_t stride = 3; !err && level < 60; level++, stride *= 3)
        err = brio_node_loop(node, 2, stride, &node);
    CHECK(err == BRIO_ETYPE && level > BRIO_MAP_DEPTH / 2, "%d levels", level);
}

/* Nothing at all, in every way. */
static void empty(void)
{
    struct brio_node *node, *two[2];
    struct brio_map *map;
    REQUIRE(!brio_node_bytes(0, 0, &two[0]) && !brio_node_bytes(8, 0, &two[1]), "bytes");
    REQUIRE(!brio_node_loop(two[1], 0, 100, &two[1]), "loop");
    REQUIRE(!brio_node_list(2, two, (int64_t[]){100, 200}, &node), "list");
    REQUIRE(!brio_map_new(node, 5, 77, &map), "map");
    CHECK(map->size == 0 && map->lo == 0 && map->hi == 0 && map->npieces == 0, "not empty");
    CHECK(map->monotone && !map->endless && map->extent == 77 && map->lb == 5, "facts");
    CHECK(brio_map_below(map, 1000) == 0, "bytes below");
    brio_pack(NULL, map, NULL, 0, 0);
    brio_map_unref(map);
    REQUIRE(!brio_node_list(0, NULL, NULL, &node) && brio_node_size(node) == 0, "no children");
    brio_node_unref(node);
}

static const struct test_case cases[] = {TEST(any_trees),
                                         TEST(rising_trees),
                                         TEST(typed_trees),
                                         TEST(hashes),
                                         TEST(compact),
                                         TEST(lists),
                                         TEST(large),
                                         TEST(overflow),
                                         TEST(deep),
                                         TEST(empty),
                                         {0}};

int main(int argc, char **argv)
{
    printf("seed %llu\n", (unsigned long long)test_seed());
    fill(from, sizeof from);
    fill(to, sizeof to);
    return test_main(argc, argv, cases);
}
