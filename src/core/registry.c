/* The modules, by framework: Brio's own, and those that were found on BRIO_MODULE_PATH. */
#include "core/registry.h"

#include <pthread.h>
#include <string.h>

#include "cache/cache.h"
#include "core/plugin.h"
#include "fbtl/fbtl.h"
#include "fcache/fcache.h"
#include "fcoll/engine.h"
#include "fs/fs.h"
#include "sharedfp/sharedfp.h"

static const struct brio_module *const fs[] = {&brio_fs_ufs.base,
                                               &brio_fs_lustre.base,
                                               &brio_fs_cephsys.base,
#if BRIO_HAVE_CEPH
                                               &brio_fs_ceph.base,
                                               &brio_fs_cephmount.base,
#endif
#if BRIO_HAVE_PVFS2
                                               &brio_fs_pvfs2.base,
#endif
                                               NULL};
static const struct brio_module *const fbtl[] = {&brio_fbtl_posix.base, &brio_fbtl_uring.base,
#if BRIO_HAVE_CEPH
                                                 &brio_fbtl_ceph.base,
#endif
#if BRIO_HAVE_PVFS2
                                                 &brio_fbtl_pvfs2.base,
#endif
                                                 NULL};
static const struct brio_module *const cache[] = {
    &brio_cache_none.base, &brio_cache_writebehind.base, &brio_cache_auto.base,
    &brio_cache_coherent.base, NULL};
static const struct brio_module *const fcache[] = {&brio_fcache_none.base,
                                                   &brio_fcache_stripe.base, NULL};
static const struct brio_module *const fcoll[] = {&brio_fcoll_individual.base,
                                                  &brio_fcoll_two_phase.fcoll.base,
                                                  &brio_fcoll_dynamic.fcoll.base,
                                                  &brio_fcoll_iec.fcoll.base,
                                                  &brio_fcoll_ioserver.fcoll.base,
                                                  &brio_fcoll_static.fcoll.base,
                                                  NULL};
static const struct brio_module *const sharedfp[] = {
    &brio_sharedfp_sm.base,      &brio_sharedfp_rma.base,        &brio_sharedfp_lockedfile.base,
    &brio_sharedfp_addproc.base, &brio_sharedfp_individual.base, NULL};

static const struct brio_module *const *const built_in[BRIO_FRAMEWORKS] = {
    [BRIO_FS] = fs,         [BRIO_FBTL] = fbtl,   [BRIO_CACHE] = cache,
    [BRIO_FCACHE] = fcache, [BRIO_FCOLL] = fcoll, [BRIO_SHAREDFP] = sharedfp,
};

enum {
    MANY = 64 /* of one framework */
};

/* The above, and then those from outside. */
static const struct brio_module *all[BRIO_FRAMEWORKS][MANY];
static size_t count[BRIO_FRAMEWORKS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_built_in(enum brio_framework framework, const char *name)
{
    for (const struct brio_module *const *m = built_in[framework]; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return true;
    return false;
}

static void join(void)
{
    const struct brio_module *module;
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        for (size_t k = 0; built_in[i][k]; k++)
            all[i][count[i]++] = built_in[i][k];
        for (size_t k = 0;
             (module = brio_plugin_at((enum brio_framework)i, k, is_built_in)) != NULL; k++)
            if (count[i] < MANY)
                all[i][count[i]++] = module;
    }
}

const struct brio_module *const *brio_registry(enum brio_framework framework, size_t *n)
{
    pthread_once(&once, join);
    *n = count[framework];
    return all[framework];
}
