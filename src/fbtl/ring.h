/* Many reads in flight at the same time, by the kernel's io_uring. */
#ifndef BRIO_FBTL_RING_H
#define BRIO_FBTL_RING_H

#include "fbtl/move.h"

/* One queue of the kernel's, for one access at a time. */
struct brio_ring;

/* BRIO_EUNSUPOP, and why, if the kernel has none for us: it is too old, or was told to refuse
 * (a container's filter, a limit, kernel.io_uring_disabled). */
BRIO_ERR brio_ring_new(int fd, struct brio_ring **out);
void brio_ring_free(struct brio_ring *ring);

/* Reads of a stretch what is in memory, and does not wait for the rest: how many bytes that
 * was, which are also counted; or a negative errno, of which EAGAIN means that nothing is.
 * Bytes in memory are had faster this way than by a request to the ring: on ext4 with pieces
 * of 64 KiB requests took 1.1 to 2.7 times as long. */
brio_off brio_ring_at_hand(const struct brio_port *port, const struct iovec *iov,
                           const struct brio_stretch *s);

/* As brio_move_stretches, for reads. What the kernel does not do whole is done again by the
 * port, which then tells what is wrong. */
struct brio_result brio_ring_read(struct brio_ring *ring, const struct brio_port *port,
                                  const struct brio_io *io);

#endif
