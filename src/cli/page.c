/* The report of `brio reproduce`: one HTML page that needs nothing beside it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/results.h"

static const char style[] =
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#222}.env "
    "td{text-align:left}h1,h2,h3{line-height:1.2}h2{margin-top:3rem;border-bottom:1px solid "
    "#ccc}h3{margin-top:2.2rem}table{border-collapse:collapse;margin:.8rem "
    "0;font-size:13px}td,th{padding:.15rem .6rem;text-align:right;border-bottom:1px solid "
    "#eee}td:first-child,th:first-child{text-align:left}code,pre{font-size:12px;background:"
    "#f5f5f5;white-space:pre-wrap}pre{padding:.5rem}.yes{color:#1a7f37}.no{color:#b35900}"
    ".unknown{color:#777}svg{max-width:100%;height:auto}dt{font-weight:600}.small{font-size:"
    "13px;color:#555}</style>\n";

static void put(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static void put_speed(FILE *out, const struct brio_json *series)
{
    double speed = brio_json_number(brio_json_get(series, "mb_per_s"));
    double spread = brio_json_number(brio_json_get(series, "spread"));
    if (!isfinite(speed))
        fputs("<td></td>", out);
    else
        fprintf(out, "<td>%.*f &plusmn;%.0f&nbsp;%%</td>", speed < 10 ? 2 : 0, speed,
                100 * spread);
}

/* "1.9 x (1.7 to 2.2)", "noise", or nothing. */
static void put_ratio(FILE *out, const struct brio_json *series)
{
    const struct brio_json *is = brio_json_get(series, "brio_is");
    double ratio = brio_json_number(brio_json_get(is, "ratio"));
    double low = brio_json_number(brio_json_get(is, "low"));
    double high = brio_json_number(brio_json_get(is, "high"));
    if (!isfinite(ratio))
        fputs("<td></td>", out);
    else if (!isfinite(low))
        fprintf(out, "<td>%.2f</td>", ratio);
    else if (brio_json_number(brio_json_get(is, "noise")) > 0)
        fprintf(out, "<td>%.2f (noise)</td>", ratio);
    else
        fprintf(out, "<td>%.2f (%.2f to %.2f)</td>", ratio, low, high);
}

static void put_count(FILE *out, const struct brio_json *counts, const char *name)
{
    double n = brio_json_number(brio_json_get(counts, name));
    if (isfinite(n))
        fprintf(out, "<td>%.0f</td>", n);
    else
        fputs("<td></td>", out);
}

/* Calls that begin and end at block boundaries, as a part of all. */
static void put_aligned(FILE *out, const struct brio_json *counts, const char *dir)
{
    char calls[32], aligned[32];
    snprintf(calls, sizeof calls, "%s.calls", dir);
    snprintf(aligned, sizeof aligned, "%s.calls_aligned", dir);
    double all = brio_json_number(brio_json_get(counts, calls));
    double good = brio_json_number(brio_json_get(counts, aligned));
    if (isfinite(all) && all > 0)
        fprintf(out, "<td>%.0f&nbsp;%%</td>", isfinite(good) ? 100 * good / all : 0);
    else
        fputs("<td></td>", out);
}

static void put_row(FILE *out, const struct brio_json *one, const char *dir)
{
    const struct brio_json *series = brio_json_get(one, dir);
    const struct brio_json *counts = brio_json_get(series, "counts");
    const char *state = brio_json_text(brio_json_get(one, "state"));
    fputs("<tr><td>", out);
    put(out, brio_json_text(brio_json_get(one, "label")));
    fputs("</td><td>", out);
    put(out, brio_json_text(brio_json_get(one, "io")));
    fputs("</td>", out);
    put_speed(out, series);
    put_ratio(out, series);
    put_count(out, counts, *dir == 'w' ? "write_calls" : "read_calls");
    put_aligned(out, counts, dir);
    put_count(out, counts, "messages");
    put_count(out, counts, "copied");
    put_count(out, counts, "locks");
    fprintf(out, "<td>%s</td></tr>\n", strcmp(state, "ok") == 0 ? "" : state);
}

static bool has(const struct brio_json *of_case, const char *dir)
{
    const struct brio_json *who = brio_json_get(of_case, "contenders");
    for (size_t i = 0; i < who->n; i++)
        if (brio_json_get(brio_json_get(brio_json_at(who, i), dir), "seconds")->n > 0)
            return true;
    return false;
}

static void put_case(FILE *out, const struct brio_json *run, const struct brio_json *of_case,
                     const char *dir)
{
    const struct brio_json *who = brio_json_get(of_case, "contenders");
    if (!has(of_case, dir))
        return;
    fprintf(out, "<table><tr><th>%.0f ranks, ", brio_json_number(brio_json_get(run, "ranks")));
    put(out, brio_json_text(brio_json_get(of_case, "name")));
    fprintf(out,
            " (%s)</th><th>library</th><th>MB/s</th><th>Brio is</th><th>system "
            "calls</th><th>aligned</th><th>messages</th><th>bytes copied</th>"
            "<th>locks</th><th></th></tr>\n",
            dir);
    for (size_t i = 0; i < who->n; i++)
        put_row(out, brio_json_at(who, i), dir);
    fputs("</table>\n", out);
}

static void put_tables(FILE *out, const struct brio_outcome *o)
{
    fputs("<details><summary>All numbers</summary>\n", out);
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *run = brio_json_get(o->line[i], "run");
        const struct brio_json *cases = brio_json_get(run, "cases");
        for (size_t k = 0; k < cases->n; k++) {
            put_case(out, run, brio_json_at(cases, k), "write");
            put_case(out, run, brio_json_at(cases, k), "read");
        }
    }
    fputs("</details>\n", out);
}

static void put_claims(FILE *out, const struct brio_outcome *o)
{
    static const char *const marks[BRIO_VERDICTS] = {"yes", "no", "unknown", "unknown"};
    if (!o->what->claim[0].said)
        return;
    fputs("<ul>\n", out);
    for (size_t i = 0; i < BRIO_CLAIMS && o->what->claim[i].said; i++) {
        char why[256];
        enum brio_verdict_word v = brio_judge(o, &o->what->claim[i], why, sizeof why);
        fputs("<li>", out);
        put(out, o->what->claim[i].said);
        fprintf(out, ": <b class=%s>%s</b>", marks[v], brio_verdict_text[v]);
        fputs(*why ? " (" : "", out);
        put(out, why);
        fputs(*why ? ")</li>\n" : "</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/* How much smaller than the paper's the largest file was. */
static void put_scale(FILE *out, const struct brio_outcome *o)
{
    double most = 0;
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *cases =
            brio_json_get(brio_json_get(o->line[i], "run"), "cases");
        for (size_t k = 0; k < cases->n; k++)
            most = fmax(most, brio_json_number(brio_json_get(brio_json_at(cases, k), "bytes")));
    }
    fputs("<p class=small>The paper: ", out);
    put(out, o->what->sizes);
    fprintf(out, ". Here: up to %.4g MB", most / 1e6);
    if (o->what->bytes > 0 && most > 0)
        fprintf(out, ", 1/%.0f of it", fmax(1, o->what->bytes / most));
    fputs(".</p>\n", out);
}

static void put_experiment(FILE *out, const struct brio_outcome *o)
{
    fprintf(out, "<h3 id=\"e%s\">%s ", o->what->id, o->what->id);
    put(out, o->what->title);
    fputs("</h3>\n<dl><dt>The paper found</dt><dd>", out);
    put(out, o->what->found);
    fputs("</dd></dl>\n", out);
    if (o->n == 0) {
        fputs("<p>Not run.</p>\n", out);
        return;
    }
    static const char *const dirs[] = {"write", "read"};
    for (int d = 0; d < 2; d++) {
        char *svg = brio_figure(o, dirs[d]);
        fputs(svg ? svg : "", out);
        free(svg);
    }
    put_claims(out, o);
    const char *absent = brio_json_text(brio_json_get(o->line[0], "absent"));
    if (*absent) {
        fputs("<p>Left out: ", out);
        put(out, absent);
        fputs("</p>\n", out);
    }
    put_scale(out, o);
    fputs("<pre>", out);
    put(out, brio_json_text(brio_json_get(o->line[0], "command")));
    fputs("</pre>\n", out);
    put_tables(out, o);
}

static void put_environment(FILE *out, const struct brio_outcome *o, size_t n, const char *mode)
{
    struct brio_environment e;
    brio_environment_of(o, n, &e);
    fprintf(out, "<table class=env><tr><td>made</td><td>%s, Brio %s, --%s</td></tr>\n", e.date,
            BRIO_VERSION, mode);
    const char *const rows[][2] = {
        {"machine", e.machine}, {"system", e.system}, {"files", e.files}, {"MPI", e.mpis}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(out, "<tr><td>%s</td><td>", rows[i][0]);
        put(out, rows[i][1]);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_summary(FILE *out, const struct brio_outcome *o, size_t n)
{
    size_t count[BRIO_VERDICTS] = {0}, run = 0;
    for (size_t i = 0; i < n; i++) {
        char why[256];
        run += o[i].n > 0;
        for (size_t k = 0; o[i].n > 0 && k < BRIO_CLAIMS && o[i].what->claim[k].said; k++)
            count[brio_judge(&o[i], &o[i].what->claim[k], why, sizeof why)]++;
    }
    fprintf(out,
            "<p>%zu experiments were run. Of what the papers say, measurements on this machine "
            "agree with <b class=yes>%zu</b> sentences and do not with <b class=no>%zu</b>; "
            "for %zu "
            "the difference is within noise, and %zu could not be measured.</p>\n",
            run, count[BRIO_AGREES], count[BRIO_DISAGREES], count[BRIO_NOISE],
            count[BRIO_NOT_MEASURED]);
}

bool brio_page(const char *path, const struct brio_outcome *o, size_t n, const char *mode)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        brio_say("reproduce: cannot write %s: %s", path, strerror(errno));
        return false;
    }
    fputs("<!doctype html><html lang=en><meta charset=utf-8><title>Brio: the papers' "
          "experiments</title>\n",
          out);
    fputs(style, out);
    fputs("<h1>The papers' experiments on this machine</h1>\n", out);
    put_summary(out, o, n);
    put_environment(out, o, n, mode);
    char *gnuplot = brio_program_find("gnuplot", NULL);
    if (!gnuplot)
        fputs("<p>gnuplot is not installed: no figures, only tables.</p>\n", out);
    free(gnuplot);
    fputs(
        "<p class=small>Figures, tables and verdicts take medians; bars in figures reach from "
        "the slowest to the fastest repetition. Where a t-test on the repetitions cannot tell "
        "a difference from chance, it is called noise. All contenders of a table took turns. "
        "The limit is the "
        "same bytes by plain contiguous pwrite and pread from the "
        "same ranks. System calls count reads or writes of all ranks; messages, copies, locks "
        "and alignment are Brio's own counters.</p>\n",
        out);
    const char *paper = "";
    for (size_t i = 0; i < n; i++) {
        if (strncmp(paper, o[i].what->id, 3) != 0) {
            paper = o[i].what->id;
            fprintf(out, "<h2>Paper %.3s: ", paper);
            put(out, brio_paper_name(paper));
            fputs("</h2>\n", out);
        }
        put_experiment(out, &o[i]);
    }
    bool fine = !ferror(out);
    fine = fclose(out) == 0 && fine;
    if (!fine)
        brio_say("reproduce: cannot write %s: %s", path, strerror(errno));
    return fine;
}
