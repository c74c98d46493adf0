/* Flattening against the MPI itself: random datatypes of every combiner, packed by MPI_Pack
 * and by Brio's maps. Then bounds and scaling of maps for files, by the standard's rules. */
#include <mpi.h>
#include <pthread.h>

#include "check.h"
#include "unit/flatten_types.h"

#include "type/flatten.h"
#include "type/pack.h"

/* ---- In memory ---------------------------------------------------------------------- */

static unsigned char memory[2 * TEST_TYPE_REACH], packed[4 * TEST_TYPE_SIZE],
    want[4 * TEST_TYPE_SIZE];

static void check_facts(MPI_Datatype type, const struct brio_map *map)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    MPI_Type_size_x(type, &size);
    MPI_Type_get_extent_x(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
    CHECK(map->size == size, "size %ld, MPI says %ld", (long)map->size, (long)size);
    CHECK(map->lb == lb && map->extent == extent, "lb %ld extent %ld, MPI says %ld %ld",
          (long)map->lb, (long)map->extent, (long)lb, (long)extent);
    /* The MPIs are generous here where a part has a lower bound of its own. */
    if (size > 0)
        CHECK(map->lo >= true_lb && map->hi <= true_lb + true_extent,
              "touches [%ld,%ld), MPI says [%ld,%ld)", (long)map->lo, (long)map->hi,
              (long)true_lb, (long)(true_lb + true_extent));
}

/* `count` items as MPI_Pack gives them. */
static void check_bytes(MPI_Datatype type, const struct brio_map *map, int count)
{
    int place = 0;
    const unsigned char *base = memory + TEST_TYPE_REACH;
    MPI_Pack(base, count, type, want, sizeof want, &place, MPI_COMM_SELF);
    CHECK(place == count * map->size, "MPI packed %d bytes, not %ld", place,
          (long)(count * map->size));
    if (place == 0)
        return;
    memset(packed, 0, sizeof packed);
    brio_pack(packed, map, base, 0, count * map->size);
    CHECK(memcmp(packed, want, (size_t)place) == 0, "packed bytes differ");
}

static void try_memory(int n, struct test_taste taste)
{
    for (int i = 0; i < n && !test_failed; i++) {
        MPI_Datatype type = test_type_random(taste, 1 + (int)test_below(4));
        struct brio_map *map, *typed;
        if (test_type_derived(type))
            MPI_Type_commit(&type);
        REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
        REQUIRE(!brio_flatten_typed(type, &typed), "%s", brio_err_text());
        check_facts(type, map);
        check_facts(type, typed);
        /* MPICH 4.0 divides by zero when it packs some types with empty parts. */
        if (map->size > 0 && !(taste.empties && MPI_VERSION >= 4)) {
            int count = taste.empties ? 1 : 1 + (int)test_below(3);
            check_bytes(type, map, count);
            check_bytes(type, typed, count);
        }
        if (test_failed) {
            fprintf(stderr, "type %d:\n", i);
            test_type_show(type, 0);
        }
        brio_map_unref(map);
        brio_map_unref(typed);
        test_type_free(&type);
    }
}

static void in_memory(void)
{
    try_memory(20000, (struct test_taste){0});
}

static void empty_parts(void)
{
    try_memory(5000, (struct test_taste){.empties = 1});
}

/* ---- In files ----------------------------------------------------------------------- */

static enum brio_err size_scaled(void *self, MPI_Datatype leaf, brio_off *out)
{
    MPI_Count size;
    if (MPI_Type_size_x(leaf, &size) != MPI_SUCCESS)
        return brio_fail(BRIO_ETYPE, "leaf without a size");
    *out = size * *(int *)self;
    return BRIO_OK;
}

/* Elements of one byte in the file, too: the map must be the one in memory, and bounds by
 * rule must be those that MPI finds. */
static void same_sizes(void)
{
    int scale = 1;
    struct brio_sizer sizer = {.size = size_scaled, .self = &scale};
    for (int i = 0; i < 20000 && !test_failed; i++) {
        MPI_Datatype type =
            test_type_random((struct test_taste){.bytes_only = 1}, 1 + (int)test_below(4));
        struct brio_map *map, *sized;
        REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
        REQUIRE(!brio_flatten_sized(type, &sizer, &sized), "%s", brio_err_text());
        check_facts(type, sized);
        CHECK(map->hash == sized->hash, "hash differs");
        for (int64_t pos = 0; pos < 2 * map->size && !test_failed; pos++)
            CHECK(brio_map_offset(map, pos) == brio_map_offset(sized, pos), "byte %ld",
                  (long)pos);
        if (test_failed) {
            fprintf(stderr, "type %d:\n", i);
            test_type_show(type, 0);
        }
        brio_map_unref(map);
        brio_map_unref(sized);
        test_type_free(&type);
    }
}

/* Elements of three bytes: everything counted in elements is three times as far. */
static void scaled(void)
{
    int scale = 3;
    struct brio_sizer sizer = {.size = size_scaled, .self = &scale};
    for (int i = 0; i < 10000 && !test_failed; i++) {
        MPI_Datatype type = test_type_random(
            (struct test_taste){.bytes_only = 1, .elements_only = 1}, 1 + (int)test_below(4));
        struct brio_map *map, *sized;
        REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
        REQUIRE(!brio_flatten_sized(type, &sizer, &sized), "%s", brio_err_text());
        CHECK(sized->size == 3 * map->size && sized->extent == 3 * map->extent &&
                  sized->lb == 3 * map->lb,
              "size %ld of %ld, extent %ld of %ld", (long)sized->size, (long)map->size,
              (long)sized->extent, (long)map->extent);
        for (int64_t pos = 0; pos < 2 * map->size && !test_failed; pos++)
            for (int64_t k = 0; k < 3; k++)
                CHECK(brio_map_offset(sized, 3 * pos + k) == 3 * brio_map_offset(map, pos) + k,
                      "byte %ld", (long)pos);
        if (test_failed)
            test_type_show(type, 0);
        brio_map_unref(map);
        brio_map_unref(sized);
        test_type_free(&type);
    }
}

/* The standard's own rule: markers win over data, wherever the data is. */
static void markers(void)
{
    int scale = 1;
    struct brio_sizer sizer = {.size = size_scaled, .self = &scale};
    MPI_Datatype part[2] = {MPI_BYTE}, type;
    struct brio_map *map;
    MPI_Type_create_resized(MPI_BYTE, -1, 23, &part[1]);
    MPI_Type_create_struct(2, (int[]){2, 2}, (MPI_Aint[]){-24, 72}, part, &type);
    REQUIRE(!brio_flatten_sized(type, &sizer, &map), "%s", brio_err_text());
    CHECK(map->lb == 71 && map->extent == 46, "lb %ld extent %ld", (long)map->lb,
          (long)map->extent);
    CHECK(map->size == 4 && map->lo == -24 && map->hi == 96, "touches [%ld,%ld)", (long)map->lo,
          (long)map->hi);
    brio_map_unref(map);
    MPI_Type_free(&type);
    MPI_Type_free(&part[1]);
}

/* The holes of pair types, and their members' kinds. */
static void check_pair(MPI_Datatype type, int first, int second_at, int extent)
{
    struct brio_map *map, *typed;
    struct brio_cursor c;
    struct brio_run run;
    REQUIRE(!brio_flatten(type, &map) && !brio_flatten_typed(type, &typed), "flatten");
    CHECK(map->size == first + 4 && map->extent == extent, "size %ld extent %ld",
          (long)map->size, (long)map->extent);
    CHECK(brio_map_offset(map, first) == second_at, "second member at %ld",
          (long)brio_map_offset(map, first));
    brio_cursor_init(&c, typed, 0);
    for (int64_t left = typed->size; left > 0; left -= run.len * run.count) {
        brio_cursor_next(&c, left, &run);
        CHECK(run.len == brio_kind_mem_size(run.kind), "element of %ld bytes", (long)run.len);
    }
    brio_map_unref(map);
    brio_map_unref(typed);
}

static void pairs(void)
{
    check_pair(MPI_FLOAT_INT, 4, 4, 8);
    check_pair(MPI_DOUBLE_INT, 8, 8, 16);
    check_pair(MPI_LONG_INT, 8, 8, 16);
    check_pair(MPI_SHORT_INT, 2, 4, 8);
    check_pair(MPI_LONG_DOUBLE_INT, 16, 16, 32);
    check_pair(MPI_2INT, 4, 4, 8);
}

/* Displacements in bytes stay as the user gave them. */
static void bytes_do_not_scale(void)
{
    int scale = 2;
    struct brio_sizer sizer = {.size = size_scaled, .self = &scale};
    MPI_Datatype type, resized;
    struct brio_map *map;
    MPI_Type_create_hvector(3, 2, 100, MPI_INT, &type);
    REQUIRE(!brio_flatten_sized(type, &sizer, &map), "%s", brio_err_text());
    CHECK(map->size == 48 && map->extent == 216, "size %ld extent %ld", (long)map->size,
          (long)map->extent);
    CHECK(brio_map_offset(map, 16) == 100 && brio_map_offset(map, 8) == 8, "offsets");
    brio_map_unref(map);
    MPI_Type_create_resized(type, -8, 1000, &resized);
    REQUIRE(!brio_flatten_sized(resized, &sizer, &map), "%s", brio_err_text());
    CHECK(map->lb == -8 && map->extent == 1000, "lb %ld extent %ld", (long)map->lb,
          (long)map->extent);
    brio_map_unref(map);
    MPI_Type_free(&resized);
    MPI_Type_free(&type);
}

/* ---- Cost and keeping --------------------------------------------------------------- */

/* A node takes some 200 bytes, an entry 16: nnodes * 256 is an upper bound. */
static void check_cost(MPI_Datatype type, MPI_Count size, const char *what)
{
    struct brio_map *map;
    REQUIRE(!brio_flatten(type, &map), "%s: %s", what, brio_err_text());
    CHECK(map->nnodes * 256 < 65536, "%s: %zu nodes", what, map->nnodes);
    CHECK(map->size == size, "%s: size %lld", what, (long long)map->size);
    brio_map_unref(map);
    MPI_Type_free(&type);
}

static void compact(void)
{
    enum {
        N = 16777216
    };
    MPI_Datatype type, inner;
    MPI_Type_vector(N, 1, 4, MPI_INT, &type);
    check_cost(type, 4LL * N, "vector");
    MPI_Type_vector(N, 3, 4, MPI_DOUBLE_INT, &type);
    check_cost(type, 36LL * N, "vector of pairs");
    MPI_Type_vector(1000, 1, 3, MPI_INT, &inner);
    MPI_Type_create_hvector(N, 1, 20000, inner, &type);
    MPI_Type_free(&inner);
    check_cost(type, 4000LL * N, "vector of vectors");
    MPI_Type_create_subarray(3, (int[]){4096, 4096, 4096}, (int[]){4095, 4095, 4095},
                             (int[]){1, 1, 1}, MPI_ORDER_C, MPI_FLOAT, &type);
    check_cost(type, 4LL * 4095 * 4095 * 4095, "subarray");
    MPI_Type_create_darray(4, 3, 2, (int[]){1 << 15, 1 << 15},
                           (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC}, (int[]){3, 5},
                           (int[]){2, 2}, MPI_ORDER_C, MPI_DOUBLE, &type);
    /* Of 32768 indices, dealt out by 3 and by 5 to two, those of the second. */
    check_cost(type, 8LL * 16383 * 16383, "darray");
    int *len = malloc(100000 * sizeof *len), *disp = malloc(100000 * sizeof *disp);
    REQUIRE(len && disp, "no memory");
    for (int i = 0; i < 100000; i++) {
        len[i] = 2;
        disp[i] = 7 * i;
    }
    MPI_Type_indexed(100000, len, disp, MPI_INT, &type);
    check_cost(type, 800000, "regular indexed");
    free(len);
    free(disp);
}

/* Beyond 2 GiB, 4 GiB, and what an int can count. */
static void large(void)
{
    MPI_Datatype gib, type;
    struct brio_map *map;
    MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib);
    MPI_Type_vector(1 << 20, 1, 2, gib, &type);
    REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
    CHECK(map->size == INT64_C(1) << 50 && map->nnodes < 5, "size %lld", (long long)map->size);
    CHECK(brio_map_offset(map, (INT64_C(1) << 49) + 5) == (INT64_C(1) << 50) + 5, "offset");
    brio_map_unref(map);
    MPI_Type_free(&type);
    MPI_Type_free(&gib);
#if MPI_VERSION >= 4
    MPI_Type_vector_c(INT64_C(1) << 33, 1, 3, MPI_INT, &type);
    REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
    CHECK(map->size == INT64_C(1) << 35 && map->nnodes == 1, "size %lld", (long long)map->size);
    brio_map_unref(map);
    MPI_Type_free(&type);
#endif
}

/* A type is decoded once; its duplicate shares the map. */
static void kept(void)
{
    MPI_Datatype type, dup;
    struct brio_map *a, *b, *c;
    MPI_Type_vector(5, 1, 3, MPI_INT, &type);
    REQUIRE(!brio_flatten(type, &a) && !brio_flatten(type, &b), "%s", brio_err_text());
    MPI_Type_dup(type, &dup);
    REQUIRE(!brio_flatten(dup, &c), "%s", brio_err_text());
    CHECK(a == b && a == c, "decoded again");
    MPI_Type_free(&type);
    MPI_Type_free(&dup);
    CHECK(a->refs == 3, "%d references left", a->refs);
    CHECK(a->size == 20, "the map is gone with the type");
    brio_map_unref(a);
    brio_map_unref(b);
    brio_map_unref(c);
    /* Decoding a type leaves what is kept on its parts alone. */
    MPI_Type_vector(5, 1, 3, MPI_INT, &type);
    MPI_Type_create_hvector(3, 1, 1000, type, &dup);
    REQUIRE(!brio_flatten(type, &a) && !brio_flatten(dup, &b) && !brio_flatten(type, &c), "%s",
            brio_err_text());
    CHECK(a == c && b->size == 60, "the part was decoded again");
    MPI_Type_free(&dup);
    brio_map_unref(c);
    REQUIRE(!brio_flatten(type, &c), "%s", brio_err_text());
    CHECK(a == c, "the part was decoded again after the whole was freed");
    MPI_Type_free(&type);
    brio_map_unref(a);
    brio_map_unref(b);
    brio_map_unref(c);
    REQUIRE(!brio_flatten(MPI_DOUBLE_INT, &a) && !brio_flatten(MPI_DOUBLE_INT, &b), "named");
    CHECK(a == b && a->size == 12 && a->extent == 16 && !a->contiguous, "MPI_DOUBLE_INT");
    brio_map_unref(a);
    brio_map_unref(b);
}

enum {
    THREADS = 4,
    TYPES = 200
};
static MPI_Datatype shared_types[TYPES];
static struct brio_map *found[THREADS][TYPES];

static void *flatten_all(void *arg)
{
    struct brio_map **mine = arg;
    for (int i = 0; i < TYPES; i++)
        if (brio_flatten(shared_types[i], &mine[i]))
            mine[i] = NULL;
    return NULL;
}

/* Several threads flatten the same new types at once, and all get the same maps. */
static void threads(void)
{
    pthread_t thread[THREADS];
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE)
        SKIP("the MPI has no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < TYPES; i++)
        MPI_Type_vector(i + 1, 1, 2, MPI_INT, &shared_types[i]);
    for (int t = 0; t < THREADS; t++)
        REQUIRE(!pthread_create(&thread[t], NULL, flatten_all, found[t]), "no thread");
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int i = 0; i < TYPES; i++) {
        for (int t = 0; t < THREADS; t++) {
            CHECK(found[t][i] && found[t][i] == found[0][i], "type %d: thread %d has its own",
                  i, t);
            brio_map_unref(found[t][i]);
        }
        MPI_Type_free(&shared_types[i]);
    }
}

static void committed(void)
{
    MPI_Datatype type, dup;
    struct brio_map *map;
    CHECK(brio_type_committed(MPI_INT), "MPI_INT");
    CHECK(!brio_type_committed(MPI_DATATYPE_NULL), "null");
    CHECK(brio_flatten(MPI_DATATYPE_NULL, &map) == BRIO_ETYPE, "null was flattened");
    MPI_Type_vector(5, 1, 3, MPI_INT, &type);
    CHECK(!brio_type_committed(type), "not yet");
    REQUIRE(!brio_flatten(type, &map), "%s", brio_err_text());
    CHECK(!brio_type_committed(type), "not yet, flattened");
    MPI_Type_commit(&type);
    CHECK(brio_type_committed(type), "committed");
    CHECK(brio_type_committed(type), "still committed");
    MPI_Type_dup(type, &dup);
    CHECK(brio_type_committed(dup), "duplicate");
    MPI_Type_free(&type);
    MPI_Type_free(&dup);
    brio_map_unref(map);
}

static const struct test_case cases[] = {TEST(in_memory),
                                         TEST(empty_parts),
                                         TEST(pairs),
                                         TEST(same_sizes),
                                         TEST(scaled),
                                         TEST(bytes_do_not_scale),
                                         TEST(markers),
                                         TEST(compact),
                                         TEST(large),
                                         TEST(kept),
                                         TEST(threads),
                                         TEST(committed),
                                         {0}};

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("seed %llu\n", (unsigned long long)test_seed());
    test_type_random_from(test_below);
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)test_random();
    int rc = test_main(argc, argv, cases);
    brio_flatten_finalize();
    MPI_Finalize();
    return rc;
}
