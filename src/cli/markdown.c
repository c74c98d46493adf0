/* The results of `brio reproduce` as Markdown, with the figures in a directory beside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/bench.h"
#include "cli/results.h"

enum {
    COLUMNS = 64
};

/* Every x that some curve has, in the order of the first one that has it. */
static size_t columns_of(const struct brio_curves *c, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->curve[i].n && n < COLUMNS; k++) {
            size_t at = 0;
            while (at < n && x[at] != c->curve[i].point[k].x)
                at++;
            if (at == n)
                x[n++] = c->curve[i].point[k].x;
        }
    return n;
}

/* "120 ±4 %": the median, and half of what lies between the extremes. */
static void put_value(FILE *out, const struct brio_curve *curve, double x)
{
    for (size_t k = 0; k < curve->n; k++) {
        const struct brio_point *p = &curve->point[k];
        if (p->x != x)
            continue;
        fprintf(out, " %.*f", p->y < 10 ? 2 : 0, p->y);
        if (p->freedom > 0)
            fprintf(out, " ±%.0f %%", 50 * (p->high - p->low) / p->y);
        fputs(" |", out);
        return;
    }
    fputs(" - |", out);
}

static void put_table(FILE *out, const struct brio_outcome *o, const char *dir)
{
    struct brio_curves c = brio_curves_of(o, dir);
    double x[COLUMNS];
    size_t all = brio_curves_trim(&c), n = columns_of(&c, x);
    if (c.n > 0) {
        fprintf(out, "\n| %s, by %s |",
                o->what->counter ? "ms a rank"
                : *dir == 'w'    ? "write, MB/s"
                                 : "read, MB/s",
                o->what->xlabel);
        for (size_t k = 0; k < n; k++)
            fprintf(out, " %.10g |", x[k]);
        fputs("\n| --- |", out);
        for (size_t k = 0; k < n; k++)
            fputs(" ---: |", out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < c.n; i++) {
        fprintf(out, "| %s |", c.curve[i].label);
        for (size_t k = 0; k < n; k++)
            put_value(out, &c.curve[i], x[k]);
        fputc('\n', out);
    }
    if (all > c.n)
        fprintf(out, "\nThe best of %zu, and the automatic choice.\n", all);
    brio_curves_free(&c);
}

/* The figure as a file of its own. */
static void put_figure(FILE *out, const char *dir, const struct brio_outcome *o,
                       const char *direction)
{
    char *svg = brio_figure(o, direction);
    char *path = brio_text("%s/%s-%s.svg", dir, o->what->id, direction);
    const char *slash = strrchr(dir, '/');
    FILE *f = svg ? fopen(path, "w") : NULL;
    if (f && fprintf(f, "<?xml version=\"1.0\"?>\n%s", svg) > 0)
        fprintf(out, "\n![%s, %s](%s/%s-%s.svg)\n", o->what->id, direction,
                slash ? slash + 1 : dir, o->what->id, direction);
    if (f)
        fclose(f);
    free(svg);
    free(path);
}

static void put_claims(FILE *out, const struct brio_outcome *o)
{
    fputc('\n', out);
    for (size_t i = 0; i < BRIO_CLAIMS && o->what->claim[i].said; i++) {
        char why[256];
        enum brio_verdict_word v = brio_judge(o, &o->what->claim[i], why, sizeof why);
        fprintf(out, "- %s: **%s**%s%s%s\n", o->what->claim[i].said, brio_verdict_text[v],
                *why ? " (" : "", why, *why ? ")" : "");
    }
}

static void put_experiment(FILE *out, const char *dir, const struct brio_outcome *o)
{
    static const char *const dirs[] = {"write", "read"};
    fprintf(out, "\n### %s %s\n\nThe paper found: %s (%s.)\n", o->what->id, o->what->title,
            o->what->found, o->what->sizes);
    for (int d = 0; d < 2; d++)
        put_figure(out, dir, o, dirs[d]);
    for (int d = 0; d < 2; d++)
        put_table(out, o, dirs[d]);
    put_claims(out, o);
    const char *absent = brio_json_text(brio_json_get(o->line[0], "absent"));
    if (*absent)
        fprintf(out, "\nLeft out: %s.\n", absent);
    fprintf(out, "\n    %s\n", brio_json_text(brio_json_get(o->line[0], "command")));
}

bool brio_markdown(const char *path, const struct brio_outcome *o, size_t n, const char *mode)
{
    const char *dot = strrchr(path, '.');
    char *dir = dot && !strchr(dot, '/') ? brio_text("%.*s", (int)(dot - path), path)
                                         : brio_text("%s.figures", path);
    (void)mkdir(dir, 0777); /* figures that cannot be written are left out */
    FILE *out = fopen(path, "w");
    struct brio_environment e;
    const char *paper = "";
    if (!out) {
        brio_say("reproduce: cannot write %s: %s", path, strerror(errno));
        free(dir);
        return false;
    }
    brio_environment_of(o, n, &e);
    fprintf(
        out,
        "# Results\n\nMade by `brio reproduce --%s` on %s, Brio %s: %s, %s, files on %s, "
        "%s.\n\nSpeeds are medians; ± is half of what lies between the slowest and the "
        "fastest repetition. All contenders of a table took turns in the same run. Whether a "
        "sentence of the paper agrees goes by the medians; where a t-test on the repetitions "
        "cannot tell a difference from chance, it is called noise. "
        "The limit is the same bytes by plain contiguous `pwrite` and `pread` from the same "
        "ranks. The command behind each table measures it again, and `brio reproduce --%s` all "
        "of "
        "them.\n\nSizes are a small part of the papers', ranks share the cores, and files stay "
        "in the page cache: orderings mean more than numbers.\n",
        mode, e.date, BRIO_VERSION, e.machine, e.system, e.files, e.mpis, mode);
    for (size_t i = 0; i < n; i++) {
        if (o[i].n == 0)
            continue;
        if (strncmp(paper, o[i].what->id, 3) != 0) {
            paper = o[i].what->id;
            fprintf(out, "\n## Paper %.3s: %s\n", paper, brio_paper_name(paper));
        }
        put_experiment(out, dir, &o[i]);
    }
    bool fine = !ferror(out);
    fine = fclose(out) == 0 && fine;
    if (!fine)
        brio_say("reproduce: cannot write %s: %s", path, strerror(errno));
    free(dir);
    return fine;
}
