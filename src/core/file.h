/* An open file on one rank. Only core/ sees inside; mpi/ holds it by pointer. */
#ifndef BRIO_CORE_FILE_H
#define BRIO_CORE_FILE_H

#include <mpi.h>
#include <pthread.h>

#include "cache/cache.h"
#include "comm/nodes.h"
#include "core/view.h"
#include "fbtl/fbtl.h"
#include "fcache/fcache.h"
#include "fcoll/fcoll.h"
#include "fs/fs.h"
#include "lane/lane.h"
#include "mod/select.h"
#include "sharedfp/sharedfp.h"

struct brio_op;

struct brio_file {
    char *path; /* as the user wrote it, without a known prefix */
    int amode;
    MPI_Comm comm; /* our own duplicate of the user's */
    int rank, nranks;
    bool atomic;

    struct brio_facts facts;
    struct brio_settings *settings;
    struct brio_chosen chosen[BRIO_FRAMEWORKS];
    void *self[BRIO_FRAMEWORKS]; /* state of fs, fcache, fcoll, sharedfp; lanes are below */

    struct brio_store store;
    struct brio_lane bottom; /* fbtl */
    struct brio_lane lane;   /* top: what accesses go through */

    struct brio_view view;

    pthread_mutex_t lock;         /* guards what follows, and the view while it changes */
    pthread_cond_t idle;          /* signalled when an operation leaves the queue */
    brio_off pointer;             /* individual file pointer, in etypes */
    struct brio_op *first, *last; /* collectives under way, in the order they were begun */
    int nactive;                  /* all nonblocking operations under way */
    struct brio_op *split;        /* the split collective between begin and end */
    pthread_mutex_t atomic_lock;  /* one thread at a time in atomic mode */
};

/* The casts that the doors leave to core. */
static inline const struct brio_fs *brio_file_fs(const struct brio_file *f)
{
    return (const struct brio_fs *)f->chosen[BRIO_FS].module;
}

#endif
