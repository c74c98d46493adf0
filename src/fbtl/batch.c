/* One piece of file and memory after the other, as long as they fit. */
#include "fbtl/batch.h"

/* Where a piece is in as many parts as it has stripes. */
static brio_off parts(brio_off off, brio_off len, brio_off stripe)
{
    return stripe > 0 ? (off + len - 1) / stripe - off / stripe + 1 : 1;
}

static void clear(struct brio_batch *b)
{
    b->bytes = 0;
    b->nfile = b->nmem = 0;
}

static void append(struct brio_batch *b, brio_off off, const struct iovec *iov)
{
    brio_off len = (brio_off)iov->iov_len;
    struct brio_extent *file = &b->file[b->nfile];
    struct iovec *mem = &b->mem[b->nmem];
    if (b->nfile > 0 && file[-1].off + file[-1].len == off)
        file[-1].len += len;
    else
        b->file[b->nfile++] = (struct brio_extent){off, len};
    if (b->nmem > 0 && (char *)mem[-1].iov_base + mem[-1].iov_len == iov->iov_base)
        mem[-1].iov_len += iov->iov_len;
    else
        b->mem[b->nmem++] = *iov;
    b->bytes += len;
}

bool brio_batch_next(struct brio_walk *walk, brio_off max_bytes, brio_off stripe,
                     struct brio_batch *out)
{
    brio_off n = 0;
    clear(out);
    while (n < BRIO_BATCH_PIECES && out->bytes < max_bytes) {
        struct brio_walk before = *walk;
        struct brio_stretch s;
        struct iovec iov;
        if (!brio_walk_next(walk, max_bytes - out->bytes, 1, &iov, &s))
            break;
        n += parts(s.off, s.len, stripe);
        if (n > BRIO_BATCH_PIECES && out->nfile > 0) {
            *walk = before;
            break;
        }
        append(out, s.off, &iov);
    }
    return out->nfile > 0;
}

void brio_batch_vector(const struct iovec *iov, int niov, brio_off off, brio_off max_bytes,
                       brio_off stripe, struct brio_batch *out)
{
    brio_off n = 0;
    clear(out);
    for (int i = 0; i < niov && out->bytes < max_bytes; i++) {
        brio_off at = off + out->bytes;
        struct iovec piece = iov[i];
        piece.iov_len = (size_t)brio_min((brio_off)piece.iov_len, max_bytes - out->bytes);
        n += parts(at, (brio_off)piece.iov_len, stripe);
        if (n > BRIO_BATCH_PIECES && i > 0)
            break;
        append(out, at, &piece);
    }
}

/* ---- By objects ------------------------------------------------------------------------ */

/* Goes through a batch piece by piece, cut at stripes. */
struct pieces {
    const struct brio_batch *b;
    int file, mem;    /* where the next piece begins: in which of the batch's, */
    brio_off into[2]; /* and how far into it */
    struct iovec iov; /* the piece: where in memory, */
    brio_off off;     /* in the file, */
    brio_off object;  /* and in which object */
};

static bool next_piece(struct pieces *p, brio_off stripe, int nobjects)
{
    const struct brio_batch *b = p->b;
    if (p->file == b->nfile)
        return false;
    const struct brio_extent *file = &b->file[p->file];
    const struct iovec *mem = &b->mem[p->mem];
    p->off = file->off + p->into[0];
    brio_off len = brio_min(file->len - p->into[0], (brio_off)mem->iov_len - p->into[1]);
    len = brio_min(len, stripe - p->off % stripe);
    p->iov = (struct iovec){(char *)mem->iov_base + p->into[1], (size_t)len};
    p->object = p->off / stripe % nobjects;
    p->into[0] += len;
    p->into[1] += len;
    if (p->into[0] == file->len) {
        p->file++;
        p->into[0] = 0;
    }
    if (p->into[1] == (brio_off)mem->iov_len) {
        p->mem++;
        p->into[1] = 0;
    }
    return true;
}

/* The bytes in one object, and which piece is its first. */
static brio_off share(const struct brio_batch *b, brio_off stripe, int nobjects,
                      brio_off object, int *first)
{
    struct pieces p = {.b = b};
    brio_off bytes = 0;
    *first = -1;
    for (int i = 0; next_piece(&p, stripe, nobjects); i++) {
        if (p.object != object)
            continue;
        if (*first < 0)
            *first = i;
        bytes += (brio_off)p.iov.iov_len;
    }
    return bytes;
}

bool brio_batch_is_one(const struct brio_batch *b, brio_off stripe, int nobjects,
                       brio_off *most)
{
    struct pieces p = {.b = b};
    int first;
    *most = 0;
    for (int i = 0; next_piece(&p, stripe, nobjects); i++) {
        brio_off bytes = share(b, stripe, nobjects, p.object, &first);
        *most = brio_max(*most, bytes);
        if (bytes == b->bytes || i >= nobjects)
            break;
    }
    return *most == b->bytes;
}

bool brio_batch_part(const struct brio_batch *b, brio_off stripe, int nobjects, int *from,
                     struct brio_batch *out)
{
    struct pieces p = {.b = b};
    brio_off object = -1;
    int first;
    clear(out);
    for (int i = 0; next_piece(&p, stripe, nobjects); i++) {
        if (object < 0 && i >= *from) {
            (void)share(b, stripe, nobjects, p.object, &first);
            *from = i + 1;
            if (first == i)
                object = p.object;
        }
        if (object >= 0 && p.object == object)
            append(out, p.off, &p.iov);
    }
    return object >= 0;
}
