/* Figures by gnuplot, which is asked for SVG and need not be there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/results.h"

enum {
    SIZE = 1 << 20,
    CURVES = 12 /* more are a bar chart */
};

static void put_point(FILE *out, const struct brio_point *p)
{
    fprintf(out, "%.10g %.10g %.10g %.10g\n", p->x, p->y, p->low, p->high);
}

static void put_data(FILE *out, const struct brio_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        fprintf(out, "$d%zu << END\n", i);
        for (size_t k = 0; k < c->curve[i].n; k++)
            put_point(out, &c->curve[i].point[k]);
        fputs("END\n", out);
    }
}

static void put_style(FILE *out, const struct brio_outcome *o, const char *dir)
{
    /* names of combinations are long, and stand below */
    fprintf(out, "set terminal svg noenhanced size 720,%d ", o->what->space ? 620 : 380);
    fputs("font 'sans-serif,12' background '#ffffff'\n"
          "set key outside right top\nset grid ytics lc rgb '#dddddd'\nset border 3\n"
          "set tics nomirror\nset yrange [0:*]\n",
          out);
    fprintf(out, "set ylabel '%s'\n",
            o->what->counter ? "milliseconds a rank"
            : *dir == 'w'    ? "write, MB/s"
                             : "read, MB/s");
}

/* Lines over x. */
static void put_lines(FILE *out, const struct brio_outcome *o, const struct brio_curves *c)
{
    fprintf(out, "set xlabel '%s'\nset logscale x 2\nset format x '%%.0f'\n", o->what->xlabel);
    fputs("set offsets graph 0.05, graph 0.05, 0, 0\nplot ", out);
    for (size_t i = 0; i < c->n; i++) {
        const char *label = c->curve[i].label;
        bool limit = strcmp(label, "limit") == 0;
        fprintf(out, "%s$d%zu with yerrorlines lw 2 pt 7 ps 0.6 %s title '%s'", i ? ", " : "",
                i, limit ? "dt 2 lc rgb '#888888'" : "", label);
    }
    fputs("\n", out);
}

/* One point each: a bar for each contender. */
static void put_bars(FILE *out, const struct brio_curves *c)
{
    fputs("set style fill solid 0.6\nset boxwidth 0.7\nset xtics rotate by -35\nunset key\n"
          "$all << END\n",
          out);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->curve[i].n; k++)
            fprintf(out, "\"%s\" %.10g %.10g %.10g\n", c->curve[i].label,
                    c->curve[i].point[k].y, c->curve[i].point[k].low,
                    c->curve[i].point[k].high);
    fputs("END\nplot $all using 0:2:xtic(1) with boxes lc rgb '#3366aa', "
          "$all using 0:2:3:4 with yerrorbars pt 0 lc rgb '#222222'\n",
          out);
}

/* gnuplot ends some lines with blanks. */
static void trim_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        while (*at == '\n' && to > text && to[-1] == ' ')
            to--;
        *to++ = *at;
    }
    *to = '\0';
}

char *brio_figure(const struct brio_outcome *o, const char *dir)
{
    struct brio_curves c = brio_curves_of(o, dir);
    brio_curves_trim(&c);
    char *gnuplot = brio_program_find("gnuplot", NULL), *svg = NULL;
    char *script = brio_text("%s/figure.plt", brio_bench_scratch());
    size_t most = 0;
    for (size_t i = 0; i < c.n; i++)
        most = c.curve[i].n > most ? c.curve[i].n : most;
    FILE *f = gnuplot && most > 0 ? fopen(script, "w") : NULL;
    if (f) {
        put_style(f, o, dir);
        put_data(f, &c);
        if (most > 1 && c.n <= CURVES)
            put_lines(f, o, &c);
        else
            put_bars(f, &c);
        bool written = fclose(f) == 0;
        const char *argv[] = {gnuplot, script, NULL};
        char *text = brio_memory(SIZE);
        char *begin = written && brio_output_of(argv, text, SIZE) ? strstr(text, "<svg") : NULL;
        svg = begin ? brio_copy(begin) : NULL;
        if (svg)
            trim_lines(svg);
        free(text);
        unlink(script);
    }
    brio_curves_free(&c);
    free(gnuplot);
    free(script);
    return svg;
}
