/* Setting and telling the view of a file. */
#include "core/view.h"

#include <stdio.h>
#include <string.h>

#include "comm/verdict.h"
#include "core/core.h"
#include "core/explain.h"
#include "core/modules.h"
#include "core/op.h"
#include "core/shared.h"
#include "core/tally.h"
#include "type/flatten.h"

/* Named types are everybody's; of others we keep a duplicate. */
static BRIO_ERR keep_type(MPI_Datatype type, MPI_Datatype *out)
{
    if (brio_type_is_named(type)) {
        *out = type;
        return BRIO_OK;
    }
    if (PMPI_Type_dup(type, out) != MPI_SUCCESS)
        return brio_fail(BRIO_ETYPE, "the datatype cannot be duplicated");
    return BRIO_OK;
}

/* What a kept type was duplicated from: for the user it has the envelope of his own. */
static BRIO_ERR hand_out(MPI_Datatype kept, MPI_Datatype *out)
{
    if (brio_type_is_named(kept)) {
        *out = kept;
        return BRIO_OK;
    }
    if (PMPI_Type_get_contents(kept, 0, 0, 1, NULL, NULL, out) != MPI_SUCCESS)
        return brio_fail(BRIO_EINTERN, "the datatype of the view cannot be had");
    return BRIO_OK;
}

static void free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !brio_type_is_named(*type))
        PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
}

void brio_view_free(struct brio_view *view)
{
    free_type(&view->etype);
    free_type(&view->filetype);
    brio_map_unref(view->map);
    view->map = NULL;
}

/* Makes a view of its parts, which have been checked one by one. */
static BRIO_ERR make_view(const struct brio_datarep *rep, brio_off disp, MPI_Datatype etype,
                          MPI_Datatype filetype, struct brio_view *out)
{
    struct brio_view view = {
        .disp = disp, .rep = rep, .etype = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL};
    struct brio_map *unit = NULL;
    enum brio_err err = brio_datarep_map(rep, etype, &unit);
    if (!err)
        err = brio_datarep_map(rep, filetype, &view.map);
    if (err)
        goto free_view;
    view.etype_size = unit->size;
    if (unit->size <= 0)
        err = brio_fail(BRIO_EARG, "an etype without data");
    else if (view.map->size % unit->size != 0)
        err =
            brio_fail(BRIO_EARG, "a filetype of %lld bytes is no multiple of an etype of %lld",
                      (long long)view.map->size, (long long)unit->size);
    else if (view.map->size > 0 && view.map->lo < 0)
        err = brio_fail(BRIO_EARG, "a filetype with a negative displacement");
    else if (view.map->size > 0 && view.map->extent <= 0)
        err = brio_fail(BRIO_EARG, "a filetype whose extent is not positive");
    if (!err)
        err = keep_type(etype, &view.etype);
    if (!err)
        err = keep_type(filetype, &view.filetype);
free_view:
    brio_map_unref(unit);
    if (err)
        brio_view_free(&view);
    else
        *out = view;
    return err;
}

BRIO_ERR brio_view_default(struct brio_view *out)
{
    const struct brio_datarep *rep;
    enum brio_err err = brio_datarep_find("native", &rep);
    return err ? err : make_view(rep, 0, MPI_BYTE, MPI_BYTE, out);
}

static BRIO_ERR check_type(MPI_Datatype type, const char *which)
{
    if (type == MPI_DATATYPE_NULL || !brio_type_committed(type))
        return brio_fail(BRIO_ETYPE, "the %s is null or not committed", which);
    return BRIO_OK;
}

/* The displacement in bytes: in sequential mode it is where the shared pointer stands. */
static BRIO_ERR find_disp(struct brio_file *f, MPI_Offset disp, brio_off *out)
{
    bool sequential = f->amode & MPI_MODE_SEQUENTIAL;
    if (!sequential && disp < 0)
        return brio_fail(BRIO_EARG, "displacement %lld", (long long)disp);
    if (sequential && disp != MPI_DISPLACEMENT_CURRENT)
        return brio_fail(BRIO_EARG,
                         "in sequential mode the displacement is MPI_DISPLACEMENT_CURRENT");
    *out = disp;
    if (!sequential)
        return BRIO_OK;
    brio_off at;
    enum brio_err err = brio_file_get_position_shared(f, &at);
    return err ? err : brio_file_get_byte_offset(f, at, out);
}

static BRIO_ERR prepare(struct brio_file *f, MPI_Offset disp, MPI_Datatype etype,
                        MPI_Datatype filetype, const char *name, struct brio_view *out)
{
    const struct brio_datarep *rep;
    brio_off bytes;
    enum brio_err err = check_type(etype, "etype");
    if (!err)
        err = check_type(filetype, "filetype");
    if (!err)
        err = find_disp(f, disp, &bytes);
    if (!err && !name)
        err = brio_fail(BRIO_EARG, "no name of a data representation");
    if (!err)
        err = brio_datarep_find(name, &rep);
    return err ? err : make_view(rep, bytes, etype, filetype, out);
}

static int64_t hash_name(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++)
        hash = hash * 31 + (unsigned char)*name;
    return (int64_t)hash;
}

/* Collective. Rank 0 resets the shared pointer between two agreements, but only if anyone
 * has moved it, for most programs set views often and never use it. */
static BRIO_ERR reset_shared(struct brio_file *f, bool used)
{
    enum brio_err err = BRIO_OK;
    f->shared_used = false;
    if (!used || !brio_file_sharedfp(f))
        return BRIO_OK;
    if (brio_file_log(f)) {
        brio_shared_move(f, 0);
        return BRIO_OK;
    }
    if (f->team.rank == 0)
        err = brio_file_sharedfp(f)->set(f->sharedfp, 0);
    return brio_follow(&f->team, err);
}

BRIO_ERR brio_file_set_view(struct brio_file *f, MPI_Offset disp, MPI_Datatype etype,
                            MPI_Datatype filetype, const char *rep, MPI_Info info)
{
    struct brio_verdict v;
    struct brio_view view;
    struct brio_tally tally;
    struct brio_former former = {.stays = true};
    brio_tally_begin(f, &tally);
    brio_op_drain(f);
    brio_op_together(f);
    if (f->amode & MPI_MODE_SEQUENTIAL)
        PMPI_Barrier(f->team.comm); /* nobody moves the shared pointer any more */
    enum brio_err err = prepare(f, disp, etype, filetype, rep, &view);
    bool made = !err;
    enum brio_err settled = brio_shared_settle(f); /* with the view that is still in force */
    if (!err)
        err = settled;
    /* Also on a rank that fails: the next view must not find other settings there. */
    enum brio_err added =
        brio_settings_add_info(f->settings, info, "the info of MPI_File_set_view");
    if (!err)
        err = added;
    if (!err)
        err = brio_modules_view(f, &former);
    brio_verdict_init(&v, err);
    v.most = f->shared_used;
    brio_verdict_same(&v, "the size of the etype", made ? view.etype_size : 0);
    brio_verdict_same(&v, "the data representation", made ? hash_name(rep) : 0);
    brio_verdict_same(&v, "a hint that must be the same", brio_modules_hash(f));
    err = brio_verdict_settle(&v, &f->team);
    if (!err)
        err = reset_shared(f, v.most);
    brio_modules_viewed(f, &former, !err);
    if (err) {
        if (made)
            brio_view_free(&view);
        return err;
    }
    brio_view_free(&f->view);
    pthread_mutex_lock(&f->lock);
    f->view = view;
    f->pointer = 0;
    pthread_mutex_unlock(&f->lock);
    brio_shared_view(f);
    brio_tally_other(f, BRIO_N_VIEWS, &tally);
    brio_explain_view(f);
    return BRIO_OK;
}

BRIO_ERR brio_file_get_view(struct brio_file *f, MPI_Offset *disp, MPI_Datatype *etype,
                            MPI_Datatype *filetype, char *rep)
{
    MPI_Datatype unit;
    enum brio_err err = hand_out(f->view.etype, &unit);
    if (err)
        return err;
    err = hand_out(f->view.filetype, filetype);
    if (err) {
        free_type(&unit);
        return err;
    }
    *etype = unit;
    *disp = f->view.disp;
    snprintf(rep, MPI_MAX_DATAREP_STRING, "%s", brio_datarep_name(f->view.rep));
    return BRIO_OK;
}

bool brio_view_holds(const struct brio_view *view, brio_off pos, brio_off bytes)
{
    const struct brio_map *map = view->map;
    brio_off end, lo, hi;
    if (!brio_add(pos, bytes, &end))
        return false;
    if (bytes == 0)
        return true;
    if (map->contiguous)
        return brio_add(end, view->disp, &end);
    /* The whole of the last tile, which mostly is enough to know. */
    if (brio_mul((end - 1) / map->size, map->extent, &hi) && brio_add(hi, map->hi, &hi) &&
        brio_add(hi, view->disp, &hi))
        return true;
    brio_map_bounds(map, pos, bytes, &lo, &hi);
    return hi < BRIO_OFF_MAX && brio_add(hi, view->disp, &hi);
}

BRIO_ERR brio_view_place(const struct brio_view *view, brio_off at, brio_off bytes,
                         brio_off *pos)
{
    brio_off first;
    if (!brio_mul(at, view->etype_size, &first) || !brio_view_holds(view, first, bytes))
        return brio_fail(BRIO_EARG, "offset %lld is beyond what a file can hold",
                         (long long)at);
    *pos = first;
    return BRIO_OK;
}

brio_off brio_view_end(const struct brio_view *view, brio_off size)
{
    const struct brio_map *map = view->map;
    brio_off below = size - view->disp;
    if (below <= 0 || map->size == 0)
        return 0;
    if (map->monotone) {
        below = brio_map_below(map, below);
    } else {
        /* Tiles that interleave: the first tile that lies wholly beyond the end. */
        brio_off tiles = below <= map->lo ? 0 : (below - map->lo - 1) / map->extent + 1;
        below = tiles * map->size;
    }
    return (below + view->etype_size - 1) / view->etype_size;
}

BRIO_ERR brio_file_get_type_extent(struct brio_file *f, MPI_Datatype type, brio_off *out)
{
    if (type == MPI_DATATYPE_NULL)
        return brio_fail(BRIO_ETYPE, "the datatype is null");
    return brio_datarep_extent(f->view.rep, type, out);
}
