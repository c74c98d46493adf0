/* An open file on one rank. Only core/ sees inside; mpi/ holds it by pointer. */
#ifndef BRIO_CORE_FILE_H
#define BRIO_CORE_FILE_H

#include <mpi.h>
#include <pthread.h>

#include "cache/cache.h"
#include "comm/crew.h"
#include "comm/nodes.h"
#include "core/conf.h"
#include "core/view.h"
#include "fbtl/fbtl.h"
#include "fcache/fcache.h"
#include "fcoll/fcoll.h"
#include "fs/fs.h"
#include "lane/guard.h"
#include "lane/lane.h"
#include "lane/settle.h"
#include "mod/select.h"
#include "sharedfp/sharedfp.h"

struct brio_op;
struct brio_story;

/* What core/ordered.c keeps for a file; all zero until an ordered call needs it. */
struct brio_ordered {
    struct brio_region region;
    struct brio_ordered_head *head; /* in the region; NULL: not there */
    bool refused;                   /* there is no memory for it */
    struct brio_map *mem;           /* the records of the last access that this rank did, */
    brio_off *len;                  /* and their lengths; room for as many offsets behind */
};

struct brio_file {
    int handle;
    char *path; /* as the user wrote it, without a known prefix */
    int amode;
    struct brio_team team;    /* comm is our own duplicate of the user's */
    void *tag;                /* belongs to mpi/ */
    bool dry;                 /* nothing is touched; see explain.h */
    struct brio_story *story; /* what is told of it in words, or NULL */

    struct brio_stats *stats;
    bool report;       /* is written at the close */
    time_t opened;     /* if it is */
    int64_t opened_ns; /* by brio_now */
    struct brio_facts facts;
    bool calls_drive; /* as no thread of rank 0 may call MPI; the same on all ranks */
    struct brio_settings *settings;
    struct brio_conf conf;
    struct brio_chosen chosen[BRIO_FRAMEWORKS];

    void *fs, *fcache, *fcoll, *sharedfp; /* the modules' own */
    bool fcoll_atomic;                    /* the mode that fcoll was opened in */
    struct brio_places places;            /* fcache, for those who ask */
    struct brio_store store;
    struct brio_lane bottom;   /* fbtl */
    struct brio_lane plain;    /* with cache */
    struct brio_lane lane;     /* what accesses go through: plain, or guarded if atomic */
    struct brio_lane coll;     /* the same for collective ones */
    struct brio_settle settle; /* before both, if other nodes need a sync to see data */
    struct brio_guard *guard;  /* not NULL in atomic mode */
    struct brio_page_ref page; /* where the shared pointer may live */
    struct brio_page_slot *slot;
    struct brio_nodes *nodes; /* where the ranks are */
    struct brio_crew crew;    /* who shares memory, for collective accesses */
    struct brio_ordered ordered;

    struct brio_view view;

    pthread_mutex_t lock;       /* guards what follows */
    brio_off pointer;           /* individual file pointer, in etypes */
    _Atomic bool shared_used;   /* this rank moved the shared pointer since it was last reset */
    _Atomic bool shared_known;  /* this rank has used it at all */
    _Atomic bool shared_looked; /* rank 0: for what killed jobs have left */
    int nactive;                /* nonblocking operations under way */
    _Atomic int ncoll;          /* the collective ones among them */
    struct brio_op *split;      /* the split collective between begin and end */
};

/* The modules by their true types. */
static inline const struct brio_fs *brio_file_fs(const struct brio_file *f)
{
    return (const struct brio_fs *)f->chosen[BRIO_FS].module;
}
static inline const struct brio_cache *brio_file_cache(const struct brio_file *f)
{
    return (const struct brio_cache *)f->chosen[BRIO_CACHE].module;
}
static inline const struct brio_fcoll *brio_file_fcoll(const struct brio_file *f)
{
    return (const struct brio_fcoll *)f->chosen[BRIO_FCOLL].module;
}
/* NULL if no module can serve this file. */
static inline const struct brio_sharedfp *brio_file_sharedfp(const struct brio_file *f)
{
    return (const struct brio_sharedfp *)f->chosen[BRIO_SHAREDFP].module;
}

#endif
