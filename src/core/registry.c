/* The modules, by framework. */
#include "core/registry.h"

#include "cache/cache.h"
#include "fbtl/fbtl.h"
#include "fcache/fcache.h"
#include "fcoll/engine.h"
#include "fs/fs.h"
#include "sharedfp/sharedfp.h"

static const struct brio_module *const fs[] = {&brio_fs_ufs.base, &brio_fs_lustre.base,
#if BRIO_HAVE_CEPH
                                               &brio_fs_ceph.base,
#endif
                                               NULL};
static const struct brio_module *const fbtl[] = {&brio_fbtl_posix.base, &brio_fbtl_uring.base,
#if BRIO_HAVE_CEPH
                                                 &brio_fbtl_ceph.base,
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

const struct brio_module *const *brio_registry(enum brio_framework framework, size_t *n)
{
    static const struct brio_module *const *const all[BRIO_FRAMEWORKS] = {
        [BRIO_FS] = fs,         [BRIO_FBTL] = fbtl,   [BRIO_CACHE] = cache,
        [BRIO_FCACHE] = fcache, [BRIO_FCOLL] = fcoll, [BRIO_SHAREDFP] = sharedfp,
    };
    for (*n = 0; all[framework][*n];)
        ++*n;
    return all[framework];
}
