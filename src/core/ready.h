/* One data access made ready: the user's call checked and turned into an io. */
#ifndef BRIO_CORE_READY_H
#define BRIO_CORE_READY_H

#include "core/core.h"
#include "core/file.h"

struct brio_ready {
    struct brio_io io;
    struct brio_map *mem; /* our reference to io.mem */
    brio_off etypes;      /* how many are moved */
    bool logged;          /* the data is in the shared pointer's log, not to be moved now */
    /* Only for representations other than native: the data in the file's form, and what is
     * needed to turn it back. */
    void *staged;
    const struct brio_datarep *rep;
    void *buf;
    brio_off count;
    MPI_Datatype type; /* our duplicate, or a named type */
};

/* Everything but where in the file; moves no pointer. On failure *out is an access of no
 * bytes, good enough to take part in a collective with. */
BRIO_ERR brio_ready_make(struct brio_file *f, const struct brio_call *call,
                         struct brio_ready *out);

/* Where in the file: takes the pointer that the call is about and moves it. For an ordered
 * call this is collective, `mine` is what is already known to be wrong here, and a rank that
 * failed takes no room. */
BRIO_ERR brio_ready_place(struct brio_file *f, const struct brio_call *call, enum brio_err mine,
                          struct brio_ready *r);

/* The access itself, of one rank alone. */
struct brio_result brio_ready_move(struct brio_file *f, const struct brio_ready *r);

/* After the access: data read is converted. Returns what the user's status says: data bytes
 * in memory. May replace result->err. */
brio_off brio_ready_finish(struct brio_ready *r, struct brio_result *result);

/* True if a collective call needs a second verdict after brio_ready_finish: data that was
 * read is converted on each rank for itself, by functions that may fail. The same on all
 * ranks. */
bool brio_ready_converts(const struct brio_file *f, const struct brio_call *call);

void brio_ready_free(struct brio_ready *r);

#endif
