/* Plain accesses through a port: loops until all is moved, or the file ends, or the system
 * refuses. */
#ifndef BRIO_FBTL_MOVE_H
#define BRIO_FBTL_MOVE_H

#include <sys/uio.h>

#include "base/stats.h"
#include "fs/fs.h"
#include "lane/lane.h"
#include "lane/walk.h"

enum {
    BRIO_MOVE_IOV = 256 /* pieces of memory in one call, which lie on the stack; systems take
                         * 1024, but the gain ends long before */
};

/* Names of calls, for messages: by direction, for one piece and for several. */
struct brio_calls {
    const char *name[2][2];
};

/* How a system moves bytes of one open file, and where that is counted. */
struct brio_port {
    /* One call, from or to offset `off`. Returns how many bytes it moved, which may be fewer
     * than asked for, or a negative errno. */
    brio_off (*move)(const struct brio_port *port, enum brio_dir dir, const struct iovec *iov,
                     int niov, brio_off off);
    int fd;        /* of a descriptor */
    int direct;    /* another one of the same file, to read past the page cache, or -1 */
    void *handle;  /* of what is none */
    brio_off most; /* bytes that one call may be asked for */
    /* Where a read is a copy by this processor, which may mind where it goes (even.h), what is
     * known of that; else NULL. */
    struct brio_trial *evenness;
    /* Where a long write waits for those of other ranks (warm.h), likewise; with it comes
     * whether the file has data at `off`. */
    struct brio_trial *warmth;
    bool (*holds)(const struct brio_port *port, brio_off off);
    const struct brio_calls *calls;
    brio_off block;           /* a power of two: calls of whole blocks are the aligned ones */
    struct brio_stats *stats; /* or NULL */
};

/* What a module takes over from its store. */
struct brio_port brio_port_of(const struct brio_store *store);

/* `len` bytes at `addr`, from or to offset `off`. */
struct brio_result brio_move_flat(const struct brio_port *port, enum brio_dir dir, void *addr,
                                  brio_off off, brio_off len);

/* One stretch of the file; the iovecs are used up. */
struct brio_result brio_move_vector(const struct brio_port *port, enum brio_dir dir,
                                    struct iovec *iov, const struct brio_stretch *s);

/* Any access: one call for each stretch of the file. */
struct brio_result brio_move_stretches(const struct brio_port *port, const struct brio_io *io);

#endif
