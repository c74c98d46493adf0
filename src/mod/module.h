/* How a module declares itself: a name, its settings as a table, and one question. */
#ifndef BRIO_MOD_MODULE_H
#define BRIO_MOD_MODULE_H

#include "base/base.h"

BRIO_DOOR_BEGIN

/* What is known about a file and its ranks. Asked from the system on rank 0 and sent to
 * all, so that every rank answers every query alike. Plain data: no pointers. */
struct brio_facts {
    int nranks;           /* of the communicator of the open */
    int nnodes;           /* that they run on */
    int max_per_node;     /* ranks on the fullest node */
    bool attach;          /* every rank can map memory of rank 0 (then nnodes is 1) */
    bool thread_multiple; /* MPI may be called from any thread */
    int amode;            /* MPI's access mode bits */
    bool atomic;          /* atomic mode is on */
    int nservers;         /* that the file is spread over, 1 if it is not; 0: not open yet */
    brio_off stripe;      /* bytes on one of them before the next, 0 if there are none */
    bool exists;          /* before the open */
    bool unreached;       /* a module that has to be asked (brio_fs.reach) has said no */
    bool local;           /* a file system of this kernel alone: one page cache for all */
    long fs_type;         /* statfs f_type of the file or its directory */
    brio_off block_size;  /* preferred by the file system */
    brio_off k_write, k_read; /* saturation: the smallest access that reaches full speed, as
                                 `brio calibrate` found it there; 0: not known */
    int ring_cold, ring_warm; /* speed of scattered reads by io_uring, from the disk and from
                                 memory, in percent of that by plain calls; likewise */
    char fs_name[16];         /* "ext4", "tmpfs", ... or the number in hex */
    char prefix[16];          /* the known "name:" that the user wrote before the path, or "" */
    char store[16];           /* what the chosen fs module opens: "descriptor", "ceph", ... */
};

/* facts.store of files of the operating system: their names are its names, too. */
#define BRIO_STORE_DESCRIPTOR "descriptor"

/* What a setting may hold; the type of the field in the module's own struct. */
enum brio_hint_kind {
    BRIO_HINT_BYTES,  /* brio_off; accepts 64k, 4M, 1g */
    BRIO_HINT_INT,    /* brio_off */
    BRIO_HINT_BOOL,   /* bool; true/false, enable/disable, yes/no, on/off, 1/0 */
    BRIO_HINT_SWITCH, /* enum brio_switch; as bool, or "automatic" */
    BRIO_HINT_CHOICE, /* int: index into choices */
    BRIO_HINT_TEXT    /* char[BRIO_HINT_MAX] */
};

enum {
    BRIO_HINT_MAX = 1024
};

enum brio_switch {
    BRIO_OFF_NEVER,
    BRIO_ON_ALWAYS,
    BRIO_AUTO
};

/* One setting. The table ends with name == NULL. Names are at most 35 characters (Open
 * MPI's limit for info keys); the environment name is BRIO_ and the name in capitals. */
struct brio_hint {
    const char *name;
    const char *aliases; /* other spellings, separated by spaces, or NULL */
    enum brio_hint_kind kind;
    size_t offset;       /* offsetof the field in the module's struct */
    const char *def;     /* the default, as text */
    brio_off min, max;   /* for BYTES and INT; both 0: not negative */
    const char *choices; /* for CHOICE: names separated by spaces */
    bool same;           /* must be equal on all ranks */
    const char *help;    /* one sentence */
};

/* First member of every module. Module objects are const. */
struct brio_module {
    const char *name;              /* unique within its framework */
    const char *about;             /* one line for `brio info` */
    const struct brio_hint *hints; /* or NULL */
    size_t conf_size;              /* of the struct that the hints fill; 0 without hints */
    /* Priority 0..100, or -1: cannot serve this file. Looks, never touches; the same
     * answer on every rank, since facts and settings are the same there. */
    int (*query)(const struct brio_facts *facts, const void *conf);
};

/* How a query answers: returns the priority and keeps the reason in words for this thread.
 * Say what decided it, with the numbers: "37 ranks on 4 nodes have no common memory". */
int brio_answer(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum {
    BRIO_WHY = 160
};

/* Takes the reason of the last answer of this thread; "" if none was given since. */
void brio_answer_take(char why[BRIO_WHY]);

enum brio_framework {
    BRIO_FS,
    BRIO_FBTL,
    BRIO_CACHE,
    BRIO_FCACHE,
    BRIO_FCOLL,
    BRIO_SHAREDFP,
    BRIO_FRAMEWORKS
};

/* "fs", "fbtl", ...: also the name of the hint that forces a module. */
const char *brio_framework_name(enum brio_framework framework);

BRIO_DOOR_END

#endif
