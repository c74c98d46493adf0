/* What the contract suites share: the modules of a framework with their settings, a file to
 * work on, and random patterns whose offsets are also listed byte by byte, by code that has
 * nothing in common with the library's maps. */
#ifndef BRIO_TEST_CONTRACT_H
#define BRIO_TEST_CONTRACT_H

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "core/registry.h"
#include "fbtl/fbtl.h"
#include "fs/fs.h"
#include "fs/probe.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "mod/settings.h"
#include "type/map.h"

/* Where the suite works: may have a prefix, such as ceph:, for a file system that is also
 * mounted on that name in the current directory, so that system calls reach it as well. */
static inline const char *here(void)
{
    const char *dir = getenv("BRIO_TEST_DIR");
    return dir ? dir : ".";
}

static inline const char *file_name(const char *what)
{
    static char name[512];
    snprintf(name, sizeof name, "%s/contract.%s.%ld", here(), what, (long)getpid());
    return name;
}

/* A name as modules get it. */
static inline const char *bare(const char *name)
{
    char prefix[16];
    return brio_fs_split(name, prefix);
}

/* Whether that is a file system that only a library of its own can reach. */
static inline int is_far(void)
{
    char prefix[16];
    brio_fs_split(here(), prefix);
    return brio_fs_foreign(prefix);
}

/* A setting as "name=value", applied to any module that knows it. NULL ends the list. */
static inline void *make_conf(const struct brio_module *module, const char *const *set)
{
    struct brio_settings *s;
    void *conf = calloc(1, module->conf_size + 1);
    if (!conf || brio_settings_new(&s)) {
        free(conf);
        return NULL;
    }
    enum brio_err err = BRIO_OK;
    for (; !err && set && *set; set++) {
        char name[64];
        const char *eq = strchr(*set, '=');
        snprintf(name, sizeof name, "%.*s", (int)(eq - *set), *set);
        err = brio_settings_set(
            s, &(struct brio_setting){
                   .name = name, .value = eq + 1, .source = BRIO_FROM_INFO, .where = "test"});
    }
    if (!err && module->hints)
        err = brio_settings_fill(s, module->hints, conf);
    brio_settings_free(s);
    CHECK(!err, "settings of %s: %s", module->name, brio_err_text());
    return conf;
}

/* The module that has most to say for itself; its settings are as they come. */
static inline const struct brio_module *best_module(enum brio_framework framework,
                                                    const struct brio_facts *facts)
{
    size_t n;
    const struct brio_module *const *modules = brio_registry(framework, &n);
    const struct brio_module *best = NULL;
    int most = -1;
    for (size_t i = 0; i < n; i++) {
        void *conf = make_conf(modules[i], NULL);
        int priority = modules[i]->query(facts, conf);
        free(conf);
        if (priority > most) {
            most = priority;
            best = modules[i];
        }
    }
    return best;
}

/* How the modules are told that the file is opened. */
static int contract_amode = MPI_MODE_RDWR | MPI_MODE_CREATE;

static inline struct brio_facts plain_facts(const char *path)
{
    struct brio_facts facts = {
        .nranks = 1, .nnodes = 1, .max_per_node = 1, .attach = true, .amode = contract_amode};
    brio_fs_probe(brio_fs_split(path, facts.prefix), &facts);
    const struct brio_fs *fs = (const struct brio_fs *)best_module(BRIO_FS, &facts);
    snprintf(facts.store, sizeof facts.store, "%s", fs ? fs->store : "");
    return facts;
}

/* Calls fn for every module of the framework that can serve a file at `path`; those that
 * cannot are named, and it is a failure if none can. */
static inline void each_module(enum brio_framework framework, const char *path,
                               void (*fn)(const struct brio_module *module))
{
    size_t n, served = 0;
    const struct brio_module *const *modules = brio_registry(framework, &n);
    struct brio_facts facts = plain_facts(path);
    for (size_t i = 0; i < n; i++) {
        void *conf = make_conf(modules[i], NULL);
        char why[BRIO_WHY];
        brio_answer_take(why);
        int priority = modules[i]->query(&facts, conf);
        brio_answer_take(why);
        free(conf);
        CHECK(priority >= -1 && priority <= 100, "%s says %d", modules[i]->name, priority);
        if (priority < 0) {
            CHECK(*why, "%s refuses without a reason", modules[i]->name);
            fprintf(stderr, "%s/%s cannot serve %s: %s\n", brio_framework_name(framework),
                    modules[i]->name, path, why);
            continue;
        }
        served++;
        int before = test_failed;
        fn(modules[i]);
        if (test_failed > before)
            fprintf(stderr, "  in %s/%s\n", brio_framework_name(framework), modules[i]->name);
    }
    CHECK(served > 0, "no module of %s can serve %s", brio_framework_name(framework), path);
}

/* ---- Patterns --------------------------------------------------------------------------- */

enum {
    PATTERN_BYTES = 1 << 15
}; /* of one tile, at most */

struct pattern {
    struct brio_map *map;
    int64_t size, extent;
    int64_t off[PATTERN_BYTES]; /* of every data byte of the first tile */
};

/* Offset of data byte i, without the base. */
static inline int64_t pattern_at(const struct pattern *p, int64_t i)
{
    return p->off[i % p->size] + i / p->size * p->extent;
}

static inline void pattern_add(struct pattern *p, int64_t off, int64_t len)
{
    for (int64_t i = 0; i < len; i++)
        p->off[p->size++] = off + i;
}

static inline struct brio_node *bytes_node(int64_t len)
{
    struct brio_node *node = NULL;
    CHECK(brio_node_bytes(len, 0, &node) == BRIO_OK, "%s", brio_err_text());
    return node;
}

static inline void pattern_close(struct pattern *p, struct brio_node *root, int64_t extent)
{
    p->extent = extent;
    p->map = NULL;
    CHECK(brio_map_new(root, 0, extent, &p->map) == BRIO_OK, "%s", brio_err_text());
}

/* `count` pieces of `len` bytes, `stride` apart, the first at `off`; tail bytes at the end of
 * the tile. */
static inline void pattern_vector(struct pattern *p, int64_t count, int64_t len, int64_t stride,
                                  int64_t off, int64_t tail)
{
    struct brio_node *child = bytes_node(len), *loop = NULL, *root = NULL;
    p->size = 0;
    for (int64_t i = 0; i < count; i++)
        pattern_add(p, off + i * stride, len);
    CHECK(brio_node_loop(child, count, stride, &loop) == BRIO_OK, "%s", brio_err_text());
    CHECK(brio_node_list(1, &loop, &off, &root) == BRIO_OK, "%s", brio_err_text());
    pattern_close(p, root, off + (count - 1) * stride + len + tail);
}

/* Irregular blocks in rising order. */
static inline void pattern_blocks(struct pattern *p, int64_t n, int64_t max_len,
                                  int64_t max_gap)
{
    int64_t len[64], off[64], at = test_below(max_gap + 1);
    struct brio_node *root = NULL;
    p->size = 0;
    for (int64_t i = 0; i < n; i++) {
        len[i] = 1 + test_below(max_len);
        off[i] = at;
        pattern_add(p, at, len[i]);
        at += len[i] + test_below(max_gap + 1);
    }
    CHECK(brio_node_blocks(bytes_node(1), 1, (size_t)n, len, off, &root) == BRIO_OK, "%s",
          brio_err_text());
    pattern_close(p, root, at);
}

/* Two pieces, the later one in the file first. */
static inline void pattern_swapped(struct pattern *p, int64_t len, int64_t gap)
{
    struct brio_node *child[2] = {bytes_node(len), bytes_node(len)}, *root = NULL;
    brio_off off[2] = {len + gap, 0};
    p->size = 0;
    pattern_add(p, off[0], len);
    pattern_add(p, off[1], len);
    CHECK(brio_node_list(2, child, off, &root) == BRIO_OK, "%s", brio_err_text());
    pattern_close(p, root, 2 * len + gap);
}

/* Loops in a loop. */
static inline void pattern_nested(struct pattern *p)
{
    int64_t len = 1 + test_below(9), n = 1 + test_below(6), m = 1 + test_below(8);
    int64_t inner = len + test_below(20), outer = n * inner + test_below(40);
    struct brio_node *a = NULL, *b = NULL;
    p->size = 0;
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < n; i++)
            pattern_add(p, j * outer + i * inner, len);
    CHECK(brio_node_loop(bytes_node(len), n, inner, &a) == BRIO_OK, "%s", brio_err_text());
    CHECK(brio_node_loop(a, m, outer, &b) == BRIO_OK, "%s", brio_err_text());
    pattern_close(p, b, m * outer + test_below(10));
}

/* Anything, without overlap. */
static inline void pattern_random(struct pattern *p)
{
    switch (test_below(7)) {
    case 0:
        pattern_vector(p, 1, 1 + test_below(200), 0, 0, 0); /* contiguous */
        break;
    case 1:
        pattern_vector(p, 1, 1 + test_below(5000), 0, test_below(100), test_below(9000));
        break;
    case 2: {
        int64_t len = 1 + test_below(16);
        pattern_vector(p, 1 + test_below(500), len, len + test_below(64), test_below(50),
                       test_below(50));
        break;
    }
    case 3:
        pattern_blocks(p, 1 + test_below(64), 1 + test_below(300), test_below(2000));
        break;
    case 4:
        pattern_blocks(p, 1 + test_below(64), 1 + test_below(8), test_below(10));
        break;
    case 5:
        pattern_swapped(p, 1 + test_below(100), test_below(100));
        break;
    default:
        pattern_nested(p);
    }
}

static inline void pattern_free(struct pattern *p)
{
    brio_map_unref(p->map);
    p->map = NULL;
}

/* ---- A store ------------------------------------------------------------------------------
 */

struct store {
    const struct brio_fs *fs;
    void *self;
    struct brio_store store;
};

/* The best fs module opens the path, created anew. */
static inline int store_open(struct store *s, const char *path)
{
    struct brio_facts facts = plain_facts(path);
    struct brio_fs_open how = {.path = bare(path),
                               .amode = MPI_MODE_RDWR | MPI_MODE_CREATE,
                               .create = true,
                               .perm = -1};
    s->fs = (const struct brio_fs *)best_module(BRIO_FS, &facts);
    CHECK(s->fs, "no fs module serves %s", path);
    if (!s->fs)
        return 0;
    void *conf = make_conf(&s->fs->base, NULL);
    enum brio_err err = s->fs->open(&how, conf, &s->self, &s->store);
    free(conf);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    return err == BRIO_OK;
}

static inline void store_close(struct store *s)
{
    CHECK(s->fs->close(s->self) == BRIO_OK, "%s", brio_err_text());
}

#endif
