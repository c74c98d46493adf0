/* The one thread of a process that looks after what other ranks want of it, whatever the
 * program's own threads do. It lives from the first door opened to the last one closed, and
 * sleeps while nobody rings; only doors that cannot be rung at (MPI's messages) are looked at
 * from time to time, the less often the longer nothing came. */
#ifndef BRIO_COMM_PORTER_H
#define BRIO_COMM_PORTER_H

#include "comm/page.h"

struct brio_porter_door {
    /* Does what there is to do; true if there was something. On the porter's thread. */
    bool (*serve)(void *self);
    void *self;
    bool polled; /* nobody rings when there is something: it must be looked for */
    struct brio_porter_door *next;
};

/* Begins to look after the door. *bell is where others of this node ring for this process. */
BRIO_ERR brio_porter_join(struct brio_porter_door *door, struct brio_page_ref *bell);

/* Not to be called by serve. When it returns, serve is not running and will not be called. */
void brio_porter_leave(struct brio_porter_door *door);

/* Wakes the porter of the process whose bell it is: after something has been put where its
 * doors look. */
void brio_porter_ring(struct brio_page_slot *bell);

/* Some door of this process's porter is looked at by calls of MPI: other threads better do not
 * stay inside of MPI for long. */
bool brio_porter_looks(void);

/* This process's own porter looks often again: it is about to be asked. */
void brio_porter_hurry(void);

#endif
