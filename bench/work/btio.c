/* NPB BT-IO (papers 001 and 003): the solution of a cube of points, 5 doubles each, on a
 * diagonal multi-partition (each of q x q ranks has q cells), appended at every step. Ranks
 * beyond the largest square take part with nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"class", "W", "S, W, A, B or C: 12, 24, 64, 102 or 162 points a side; a case for each"},
    {"side", "0", "points of a side, instead of --class"},
    {"steps", "0", "arrays that are written; 0: as the class has it, 12 for S, 40 for others"},
    {"access", "coll", "coll, indep, or pieces (NPB's simple: a call for each row of points)"},
    {NULL, NULL, NULL},
};

static const struct {
    const char *name;
    int side, steps;
} classes[] = {{"S", 12, 12}, {"W", 24, 40}, {"A", 64, 40}, {"B", 102, 40}, {"C", 162, 40}};

static int class_of(const struct options *o, int which)
{
    char name[16];
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (option_word(o, "class", which, name, sizeof name) &&
            strcmp(classes[i].name, name) == 0)
            return (int)i;
    fprintf(stderr, "brio bench: --class takes S, W, A, B or C, not `%s'\n",
            option_text(o, "class"));
    exit(2);
}

static int cases(const struct options *o)
{
    option_access(o);
    if (option_number(o, "side") > 1000 || option_number(o, "steps") > 1000) {
        fprintf(stderr, "brio bench: --side and --steps take at most 1000\n");
        exit(2);
    }
    if (option_number(o, "side") > 0)
        return 1;
    for (int i = 0; i < option_words(o, "class"); i++)
        class_of(o, i);
    return option_words(o, "class");
}

static void setup(struct job *job, int which)
{
    struct boxed *b = boxed_new(job);
    int side = (int)option_number(job->opt, "side"), steps = 40;
    char letter[16] = "";
    if (side == 0) {
        int c = class_of(job->opt, which);
        side = classes[c].side;
        steps = classes[c].steps;
        snprintf(letter, sizeof letter, "class %s, ", classes[c].name);
    }
    if (option_number(job->opt, "steps") > 0)
        steps = (int)option_number(job->opt, "steps");
    job->access = option_access(job->opt);
    boxes_bt(&b->boxes, side, false);
    boxed_ready(job, steps);
    job->x = side;
    snprintf(job->name, sizeof job->name, "%s%d^3 points, %d steps", letter, side, steps);
}

const struct workload work_btio = {
    .name = "btio",
    .about = "NPB BT-IO: a cube on a block-tridiagonal partition, appended step by step",
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
