/* MPI-TILE-IO (papers 003 and 004): a 2-D array, each rank with one tile of it. */
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"element", "64,1m", "bytes of an element; a case for each"},
    {"size", "32m", "bytes of all ranks together"},
    {"tile", "", "elements of one rank, WIDTHxHEIGHT, instead of --size"},
    {"access", "coll", "coll, indep, or pieces (a call for each row)"},
    {NULL, NULL, NULL},
};

static bool tile_size(const struct options *o, long long *width, long long *height)
{
    return sscanf(option_text(o, "tile"), "%lldx%lld", width, height) == 2 && *width > 0 &&
           *height > 0 && *width < 1 << 20 && *height < 1 << 20;
}

static int cases(const struct options *o)
{
    long long elem[LIST_MAX], width, height;
    int n = option_list(o, "element", elem);
    for (int i = 0; i < n; i++)
        if (elem[i] < 1 || elem[i] > 1 << 28) {
            fprintf(stderr, "brio bench: --element takes 1 to 256m\n");
            exit(2);
        }
    if (*option_text(o, "tile") && !tile_size(o, &width, &height)) {
        fprintf(stderr, "brio bench: --tile takes WIDTHxHEIGHT, not `%s'\n",
                option_text(o, "tile"));
        exit(2);
    }
    option_number(o, "size");
    option_access(o);
    return n;
}

static void setup(struct job *job, int which)
{
    long long elem[LIST_MAX], width = 1, height;
    int grid[2] = {0, 0};
    struct boxed *b = boxed_new(job);
    option_list(job->opt, "element", elem);
    MPI_Dims_create(nranks, 2, grid);
    if (!tile_size(job->opt, &width, &height)) {
        /* as wide and as high as mpi-tile-io's usual tiles: 1.28 to 1 */
        long long each = option_number(job->opt, "size") / nranks / elem[which];
        for (width = 1; width * width * 100 < each * 128;)
            width++;
        height = each / width > 0 ? each / width : 1;
    }
    job->access = option_access(job->opt);
    boxes_tile(&b->boxes, (int)height * grid[0], (int)width * grid[1], (int)elem[which], false);
    boxed_ready(job, 1);
    job->x = (double)elem[which];
    snprintf(job->name, sizeof job->name, "%lld x %lld elements of %lld B", width, height,
             elem[which]);
}

const struct workload work_tile = {
    .name = "tile",
    .about = "MPI-TILE-IO: a 2-D array, one tile for each rank",
    .options = options,
    .cases = cases,
    .setup = setup,
    .open = boxed_open,
    .look = boxed_open,
    .move = boxed_move,
    .close = close_file,
    .fill = runs_fill,
    .check = runs_check,
    .verify = dense_verify,
    .prepare = nothing,
    .finish = boxed_finish,
};
