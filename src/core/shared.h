/* The shared pointer of a file: where the module has a number, taking places; where it keeps
 * logs instead, moving them to the file. */
#ifndef BRIO_CORE_SHARED_H
#define BRIO_CORE_SHARED_H

#include <stdatomic.h>

#include "core/file.h"

/* The door to the logs, or NULL. */
static inline const struct brio_sharedlog *brio_file_log(const struct brio_file *f)
{
    return brio_file_sharedfp(f) ? brio_file_sharedfp(f)->log : NULL;
}

/* That there is a pointer, or why not. */
static inline BRIO_ERR brio_shared_need(const struct brio_file *f)
{
    const char *why = f->chosen[BRIO_SHAREDFP].why;
    if (__builtin_expect(brio_file_sharedfp(f) != NULL, 1))
        return BRIO_OK;
    return brio_fail(BRIO_EUNSUPOP, "%s",
                     *why ? why : "no sharedfp module can serve this file");
}

/* Moves the number on by n >= 0 etypes, unless that is more than a file can hold. *at is where
 * it stood. */
BRIO_ERR brio_shared_take(struct brio_file *f, brio_off n, brio_off *at);

/* By rank 0, when the pointer is in use: tells the user, once, what killed jobs have left. */
void brio_shared_look(struct brio_file *f);

/* This rank uses the pointer. */
static inline void brio_shared_touch(struct brio_file *f)
{
    if (atomic_load_explicit(&f->shared_used, memory_order_relaxed) &&
        atomic_load_explicit(&f->shared_known, memory_order_relaxed))
        return;
    f->shared_used = f->shared_known = true;
    brio_shared_look(f);
}

/* Collective; the same on all ranks. All that is in the logs goes to the file, through its
 * fcoll module; no collective operation may be under way. */
BRIO_ERR brio_shared_settle(struct brio_file *f);

/* By all ranks, after a settle: the file's view is new. */
void brio_shared_view(struct brio_file *f);

/* After a settle: where the pointer stands, if a file can hold n etypes from there on. */
BRIO_ERR brio_shared_stand(const struct brio_file *f, brio_off n, brio_off *at);

/* The pointer in etypes, after a settle; and moves it, by all ranks alike. */
brio_off brio_shared_position(const struct brio_file *f);
void brio_shared_move(struct brio_file *f, brio_off at);

#endif
