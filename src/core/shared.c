/* Places by the shared number; and from the ranks' logs to the file: parts of them become
 * collective writes. */
#include "core/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "comm/verdict.h"
#include "core/op.h"
#include "sharedfp/leftover.h"
#include "type/cut.h"

/* The pieces of a part where the view is all bytes. */
static BRIO_ERR list_bytes(const struct brio_log_part *part, struct brio_node **out)
{
    struct brio_node *byte;
    enum brio_err err = brio_node_bytes(1, 0, &byte);
    return err ? err : brio_node_blocks(byte, 1, part->n, part->len, part->at, out);
}

/* The pieces of a part through any view. */
static BRIO_ERR list_cuts(const struct brio_map *view, const struct brio_log_part *part,
                          struct brio_node **out)
{
    struct brio_node **nodes = NULL;
    brio_off *zeros = NULL;
    size_t n = 0;
    enum brio_err err = brio_calloc(part->n, sizeof *nodes, (void **)&nodes);
    if (!err)
        err = brio_calloc(part->n, sizeof *zeros, (void **)&zeros);
    for (; n < part->n && !err; n++) {
        struct brio_map *cut;
        err = brio_map_cut(view, 0, part->at[n], part->len[n], &cut);
        if (err)
            break;
        nodes[n] = brio_node_ref(cut->root);
        brio_map_unref(cut);
    }
    if (err)
        while (n-- > 0)
            brio_node_unref(nodes[n]);
    else
        err = brio_node_list(n, nodes, zeros, out);
    free(nodes);
    free(zeros);
    return err;
}

static BRIO_ERR map_part(const struct brio_map *view, const struct brio_log_part *part,
                         struct brio_map **out)
{
    struct brio_node *root;
    enum brio_err err =
        view->contiguous ? list_bytes(part, &root) : list_cuts(view, part, &root);
    if (err)
        return err;
    const size_t last = part->n - 1;
    brio_off end = view->contiguous
                       ? part->at[last] + part->len[last]
                       : brio_map_offset(view, part->at[last] + part->len[last] - 1) + 1;
    return brio_map_new(root, 0, end, out);
}

/* Collective. This rank's next part, or nothing; and whether any rank has more. */
static BRIO_ERR write_part(struct brio_file *f, bool *more)
{
    struct brio_log_part part = {.n = 0};
    struct brio_map *places = NULL, *bytes = NULL;
    struct brio_io io = {.dir = BRIO_WRITE, .file = f->view.map, .base = f->view.disp};
    enum brio_err err = brio_file_log(f)->next(f->sharedfp, &part, more);
    if (!err && part.n > 0 &&
        !brio_view_holds(&f->view, part.at[part.n - 1], part.len[part.n - 1]))
        err = brio_fail(BRIO_EARG,
                        "records by the shared pointer from byte %lld of the data on "
                        "are beyond what a file can hold",
                        (long long)part.at[0]);
    if (!err && part.n > 0)
        err = map_part(f->view.map, &part, &places);
    if (!err && part.n > 0)
        err = brio_map_bytes(1, &bytes);
    if (!err && part.n > 0) {
        io.file = places;
        io.mem = bytes;
        io.buf = (void *)part.data;
        io.bytes = part.bytes;
    }
    err = brio_access_run(f, &io, err).err;
    brio_map_unref(places);
    brio_map_unref(bytes);
    return err;
}

/* Others may take places between the two steps: they find the number negative or too large as
 * well, and undo theirs. */
BRIO_ERR brio_shared_take(struct brio_file *f, brio_off n, brio_off *at)
{
    const struct brio_sharedfp *sharedfp = brio_file_sharedfp(f);
    brio_off old, end;
    enum brio_err err = sharedfp->add(f->sharedfp, n, &old);
    if (err)
        return err;
    if (__builtin_expect(old >= 0 && brio_add(old, n, &end), 1)) {
        *at = old;
        return BRIO_OK;
    }
    err = sharedfp->add(f->sharedfp, -n, &end);
    return err ? err
               : brio_fail(
                     BRIO_EARG,
                     "the shared pointer would go beyond what a file can hold (%lld more)",
                     (long long)n);
}

void brio_shared_look(struct brio_file *f)
{
    if (f->team.rank == 0 && strcmp(f->facts.store, BRIO_STORE_DESCRIPTOR) == 0 &&
        !atomic_exchange(&f->shared_looked, true))
        brio_leftover_tell(f->path);
}

BRIO_ERR brio_shared_settle(struct brio_file *f)
{
    const struct brio_sharedlog *log = brio_file_log(f);
    bool more;
    if (!log)
        return BRIO_OK;
    enum brio_err err = log->order(f->sharedfp, &more);
    if (err || !more)
        return err;
    /* The verdict of each write is everybody's, so all ranks stop at the same part. */
    while (more && !err)
        err = write_part(f, &more);
    return log->settled(f->sharedfp, err);
}

void brio_shared_view(struct brio_file *f)
{
    const struct brio_sharedlog *log = brio_file_log(f);
    if (log)
        log->view(f->sharedfp, f->view.disp, f->view.map);
}

BRIO_ERR brio_shared_stand(const struct brio_file *f, brio_off n, brio_off *at)
{
    const brio_off from = brio_shared_position(f);
    brio_off end;
    if (!brio_add(from, n, &end) || !brio_mul(end, f->view.etype_size, &end))
        return brio_fail(BRIO_EARG, "%lld etypes from %lld on are beyond what a file can hold",
                         (long long)n, (long long)from);
    *at = from;
    return BRIO_OK;
}

brio_off brio_shared_position(const struct brio_file *f)
{
    return brio_file_log(f)->position(f->sharedfp) / f->view.etype_size;
}

void brio_shared_move(struct brio_file *f, brio_off at)
{
    brio_file_log(f)->move(f->sharedfp, at * f->view.etype_size);
}
