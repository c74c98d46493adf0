/* Paper 003: tiles and the BT pattern, small and large, with even and uneven data, to see how
 * good the automatic number of aggregators is beside each that there can be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "work/work.h"

static const struct option_entry options[] = {
    {"pattern", "tile,bt", "tile, bt or both"},
    {"size", "1m,4m,16m", "bytes of all ranks together; a case for each"},
    {"shape", "even,uneven", "even, uneven or both"},
    {"calls", "8", "arrays, one behind the other"},
    {NULL, NULL, NULL},
};

struct which {
    char pattern[16], shape[16];
    long long size;
};

static int cases(const struct options *o)
{
    long long size[LIST_MAX];
    char word[16];
    for (int i = 0; option_word(o, "pattern", i, word, sizeof word); i++)
        if (word[0] != 't' && word[0] != 'b') {
            fprintf(stderr, "brio bench: --pattern takes tile and bt, not `%s'\n", word);
            exit(2);
        }
    for (int i = 0; option_word(o, "shape", i, word, sizeof word); i++)
        if (word[0] != 'e' && word[0] != 'u') {
            fprintf(stderr, "brio bench: --shape takes even and uneven, not `%s'\n", word);
            exit(2);
        }
    if (option_number(o, "calls") < 1 || option_number(o, "calls") > 1000) {
        fprintf(stderr, "brio bench: --calls takes 1 to 1000\n");
        exit(2);
    }
    return option_list(o, "size", size) * option_words(o, "pattern") * option_words(o, "shape");
}

static struct which find(const struct options *o, int i)
{
    struct which w = {{0}, {0}, 0};
    long long size[LIST_MAX];
    int shapes = option_words(o, "shape"), patterns = option_words(o, "pattern");
    option_list(o, "size", size);
    option_word(o, "shape", i % shapes, w.shape, sizeof w.shape);
    option_word(o, "pattern", i / shapes % patterns, w.pattern, sizeof w.pattern);
    w.size = size[i / shapes / patterns];
    return w;
}

static void setup(struct job *job, int which)
{
    struct boxed *b = boxed_new(job);
    struct which w = find(job->opt, which);
    bool uneven = w.shape[0] == 'u';
    if (w.pattern[0] == 't') {
        int width = (int)ceil(sqrt((double)w.size / 64));
        boxes_tile(&b->boxes, width, width, 64, uneven);
    } else {
        boxes_bt(&b->boxes, (int)ceil(cbrt((double)w.size / 40)), uneven);
    }
    boxed_ready(job, (int)option_number(job->opt, "calls"));
    job->x = which + 1; /* sizes come back for each pattern */
    snprintf(job->name, sizeof job->name, "%s %g MiB %s", w.pattern, (double)w.size / 1048576,
             w.shape);
}

const struct workload work_aggregators = {
    .name = "aggregators",
    .about = "tiles and BT with every number of aggregators, and the automatic one (paper 003)",
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
