/* The six demands. */
#include "sharedfp/service.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_FILES = 1 << 20
};

static struct brio_served *find(struct brio_service *s, int64_t file)
{
    if (file < 0 || file >= MOST_FILES)
        return NULL;
    if (file >= s->nfiles) {
        int64_t n = file + 16;
        struct brio_served *more = realloc(s->files, (size_t)n * sizeof *more);
        if (!more)
            return NULL;
        memset(more + s->nfiles, 0, (size_t)(n - s->nfiles) * sizeof *more);
        s->files = more;
        s->nfiles = n;
    }
    return &s->files[file];
}

static int64_t seek(struct brio_served *f, int64_t base, int64_t n)
{
    int64_t target;
    if (!brio_add(base, n, &target) || target < 0)
        return -1;
    f->value = target;
    return target;
}

int64_t brio_serve(struct brio_service *s, int demand, const struct brio_demand_words *words)
{
    if (demand == BRIO_DEMAND_END && words->file == -1) {
        s->over = true;
        return 0;
    }
    struct brio_served *f = find(s, words->file);
    if (!f)
        return -1;
    int64_t before = f->value, after;
    switch (demand) {
    case BRIO_DEMAND_OFFSET:
        if (!brio_add(before, words->n, &after))
            return BRIO_ANSWER_TOO_FAR;
        f->value = after;
        f->furthest = brio_max(f->furthest, f->value);
        return before;
    case BRIO_DEMAND_END:
        *f = (struct brio_served){0};
        return 0;
    case BRIO_DEMAND_SEEK_END:
        return seek(f, f->furthest, words->n);
    case BRIO_DEMAND_SEEK_CUR:
        return seek(f, before, words->n);
    case BRIO_DEMAND_SEEK_SET:
        return seek(f, 0, words->n);
    case BRIO_DEMAND_POSITION:
        return before;
    }
    return -1;
}

void brio_service_free(struct brio_service *s)
{
    free(s->files);
    *s = (struct brio_service){0};
}
