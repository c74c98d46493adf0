/* brio report: reads reports and prints what was done with the files. */
#include "cli/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

const char brio_help_report[] =
    "brio report [--html PAGE] REPORT...\n"
    "\n"
    "Says what a program did with its files, how fast, where the time went, which modules\n"
    "were chosen and why, and what would be better. Reports are written when a file is\n"
    "closed, if the program runs with BRIO_REPORT set to a directory or a name:\n"
    "\n"
    "    BRIO_REPORT=reports/ brio run -n 4 ./a.out\n"
    "    brio report reports/*.json\n"
    "    brio report --html reports.html reports/*.json\n"
    "\n"
    "  --html PAGE  write one page for a browser instead, which needs nothing else\n";

/* ---- Reading ---------------------------------------------------------------------------- */

static char *read_file(const char *name, size_t *len)
{
    FILE *in = fopen(name, "r");
    char *text = NULL;
    size_t room = 0;
    *len = 0;
    if (!in)
        return NULL;
    for (;;) {
        if (room - *len < 65536) {
            room = 2 * room + 65537;
            char *more = realloc(text, room);
            if (!more)
                break;
            text = more;
        }
        size_t got = fread(text + *len, 1, room - *len - 1, in);
        *len += got;
        if (got == 0)
            break;
    }
    bool bad = ferror(in);
    int why = errno;
    fclose(in);
    if (bad) {
        free(text);
        errno = why;
        return NULL;
    }
    return text;
}

static bool load(const char *name, struct brio_report *r)
{
    char why[BRIO_JSON_WHY];
    *r = (struct brio_report){.name = name};
    r->text = read_file(name, &r->len);
    if (!r->text) {
        brio_say("report: cannot read %s: %s", name, strerror(errno));
        return false;
    }
    r->json = brio_json_read(r->text, r->len, why);
    if (!r->json) {
        brio_say("report: %s is no report: %s", name, why);
        return false;
    }
    r->file = brio_json_get(r->json, "file");
    r->total = brio_json_get(r->json, "total");
    r->nranks = (int)brio_report_number(r->json, "ranks", 0);
    if (brio_report_number(r->json, "format", 0) != 1 || r->file->kind != BRIO_JSON_OBJECT ||
        r->total->kind != BRIO_JSON_OBJECT || r->nranks < 1) {
        brio_say("report: %s is no report of this version of Brio", name);
        return false;
    }
    return true;
}

static void unload(struct brio_report *r)
{
    brio_json_free(r->json);
    free(r->text);
}

/* ---- Numbers ---------------------------------------------------------------------------- */

double brio_report_number(const struct brio_json *json, const char *name, double other)
{
    double n = brio_json_number(brio_json_get(json, name));
    return n == n ? n : other;
}

const char *brio_report_string(const struct brio_json *json, const char *name,
                               const char *other)
{
    const struct brio_json *v = brio_json_get(json, name);
    return v->kind == BRIO_JSON_TEXT ? v->text : other;
}

double brio_report_total(const struct brio_report *r, const char *counter)
{
    return brio_report_number(r->total, counter, 0);
}

static double total_of(const struct brio_report *r, const char *dir, const char *what)
{
    char *name = brio_text("%s.%s", dir, what);
    double n = brio_report_total(r, name);
    free(name);
    return n;
}

double brio_report_accesses(const struct brio_report *r, const char *dir)
{
    return total_of(r, dir, "independent") + total_of(r, dir, "collective") +
           total_of(r, dir, "shared") + total_of(r, dir, "ordered");
}

/* A record may stand for many accesses with time between them: then the phases tell. */
static double record_seconds(const struct brio_json *record)
{
    double v[9] = {0};
    for (size_t i = 0; i < 9; i++)
        v[i] = brio_json_at(record, i)->number;
    double phases = v[5] + v[6] + v[7] + v[8];
    return (phases > 0 && phases < v[3] - v[2] ? phases : v[3] - v[2]) / 1e6;
}

double brio_report_seconds(const struct brio_report *report, const char *dir)
{
    const struct brio_json *list = brio_json_get(report->json, "per_rank");
    double most = 0;
    for (size_t r = 0; r < list->n; r++) {
        const struct brio_json *lines = brio_json_get(&list->item[r], "timeline");
        double sum = 0;
        for (size_t i = 0; i < lines->n; i++)
            if (strncmp(brio_json_text(brio_json_at(&lines->item[i], 0)), dir, strlen(dir)) ==
                0)
                sum += record_seconds(&lines->item[i]);
        most = sum > most ? sum : most;
    }
    return most;
}

char *brio_report_bytes(double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int u = 0;
    for (; bytes >= 1024 && u < 5; u++)
        bytes /= 1024;
    return brio_text(u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
}

char *brio_report_time(double seconds)
{
    if (seconds < 1e-3)
        return brio_text("%.0f us", seconds * 1e6);
    return seconds < 1 ? brio_text("%.1f ms", seconds * 1e3) : brio_text("%.2f s", seconds);
}

/* ---- In the terminal -------------------------------------------------------------------- */

static void print_wrapped(const char *text, int indent)
{
    int column = indent;
    printf("%*s", indent, "");
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column + word > 88 && column > indent) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        printf("%.*s", word, text);
        column += word;
        text += word;
        if (*text) {
            putchar(' ');
            column++;
            text++;
        }
    }
    putchar('\n');
}

static void print_bar(double share, int width)
{
    int full = (int)(share * width + 0.5);
    for (int i = 0; i < width; i++)
        putchar(i < full ? '#' : '.');
}

static void print_head(const struct brio_report *r)
{
    double size = brio_report_number(r->file, "size", 0);
    double nodes = brio_report_number(r->json, "nodes", 1);
    char *bytes = brio_report_bytes(size > 0 ? size : 0);
    char *open = brio_report_time(brio_report_number(r->json, "seconds", 0));
    printf("%s\n", brio_report_string(r->file, "path", "?"));
    printf("  %s on %s, opened to %s by %d rank%s on %.0f node%s\n", bytes,
           brio_report_string(r->file, "system", "?"), brio_report_string(r->file, "mode", "?"),
           r->nranks, r->nranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s");
    printf("  %s, %s, open for %s\n\n", brio_report_string(r->json, "program", "?"),
           brio_report_string(r->json, "opened", "?"), open);
    free(bytes);
    free(open);
}

static void print_kinds(const struct brio_report *r, const char *dir)
{
    static const char *const kinds[] = {"collective", "independent", "ordered", "shared"};
    const char *comma = " (";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double n = total_of(r, dir, kinds[i]);
        if (n == 0)
            continue;
        printf("%s%.0f %s", comma, n, kinds[i]);
        comma = ", ";
    }
    if (*comma == ',')
        putchar(')');
}

static void print_direction(const struct brio_report *r, const char *dir, const char *did)
{
    double n = brio_report_accesses(r, dir), seconds = brio_report_seconds(r, dir);
    double bytes = total_of(r, dir, "bytes"), calls = total_of(r, dir, "calls");
    if (n == 0)
        return;
    char *moved = brio_report_bytes(bytes), *time = brio_report_time(seconds);
    char *speed = brio_report_bytes(seconds > 0 ? bytes / seconds : 0);
    printf("  %s %s in %.0f accesses", did, moved, n);
    print_kinds(r, dir);
    if (seconds > 0)
        printf(",\n         %s/s: %s on the slowest rank", speed, time);
    if (calls > 0) {
        char *each = brio_report_bytes(total_of(r, dir, "call_bytes") / calls);
        printf(",\n         by %.0f system calls of %s on average, %.0f %% of whole blocks",
               calls, each, 100 * total_of(r, dir, "calls_aligned") / calls);
        free(each);
    }
    printf("\n");
    free(moved);
    free(time);
    free(speed);
}

static void print_phases(const struct brio_report *r)
{
    static const struct {
        const char *counter, *what;
    } phases[] = {{"ns.plan", "planning"},
                  {"ns.exchange", "between ranks"},
                  {"ns.file", "in the file"},
                  {"ns.wait", "waiting"}};
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += brio_report_total(r, phases[i].counter);
    if (sum <= 0)
        return;
    printf("\n  Time of all ranks in accesses\n");
    for (int i = 0; i < 4; i++) {
        double ns = brio_report_total(r, phases[i].counter);
        char *time = brio_report_time(ns / 1e9);
        printf("    %-14s ", phases[i].what);
        print_bar(ns / sum, 40);
        printf(" %3.0f %%  %s\n", 100 * ns / sum, time);
        free(time);
    }
    double hits = brio_report_total(r, "plan.hits"), made = brio_report_total(r, "plan.misses");
    if (hits + made > 0)
        printf("    plans: %.0f made, %.0f used again; %.1f aggregators on average\n",
               made / r->nranks, hits / r->nranks,
               brio_report_total(r, "owners") / (hits + made));
}

static double size_count(const struct brio_report *r, int class)
{
    char *read = brio_text("sizes.read.%d", class), *write = brio_text("sizes.write.%d", class);
    double n = brio_report_total(r, read) + brio_report_total(r, write);
    free(read);
    free(write);
    return n;
}

static void print_sizes(const struct brio_report *r)
{
    double most = 0;
    for (int i = 0; i < 34; i++)
        most = size_count(r, i) > most ? size_count(r, i) : most;
    if (most == 0)
        return;
    printf("\n  Sizes of accesses\n");
    for (int i = 0; i < 34; i++) {
        double n = size_count(r, i);
        if (n == 0)
            continue;
        char *from = brio_report_bytes(i ? (double)(1ULL << (i - 1)) : 0);
        printf("    from %9s ", from);
        print_bar(n / most, 40);
        printf(" %.0f\n", n);
        free(from);
    }
}

static void print_choices(const struct brio_report *r)
{
    const struct brio_json *list = brio_json_get(r->json, "choices");
    printf("\n  Choices\n");
    for (size_t i = 0; i < list->n; i++) {
        const struct brio_json *c = &list->item[i];
        double forced = brio_report_number(c, "forced", 0);
        printf("    %-9s %-12s %s%s\n", brio_report_string(c, "framework", ""),
               brio_report_string(c, "module", ""), brio_report_string(c, "why", ""),
               forced ? " (you asked for it)" : "");
    }
}

static void print_advice(const struct brio_report *r)
{
    struct brio_advice advice[BRIO_ADVICE_MOST];
    int n = brio_report_advise(r, advice);
    printf("\n  Advice\n");
    if (n == 0)
        printf("    Nothing stands out.\n");
    for (int i = 0; i < n; i++) {
        printf("    * %s.\n", advice[i].title);
        print_wrapped(advice[i].text, 6);
        free(advice[i].text);
    }
    printf("\n");
}

static void print_report(const struct brio_report *r)
{
    print_head(r);
    print_direction(r, "write", "wrote");
    print_direction(r, "read", "read ");
    if (brio_report_accesses(r, "write") + brio_report_accesses(r, "read") == 0)
        printf("  no data was moved\n");
    print_phases(r);
    print_sizes(r);
    print_choices(r);
    print_advice(r);
}

/* ---- The command ------------------------------------------------------------------------ */

static int write_page(const char *name, const struct brio_report *reports, size_t n)
{
    FILE *out = fopen(name, "w");
    if (!out) {
        brio_say("report: cannot write %s: %s", name, strerror(errno));
        return 1;
    }
    brio_report_page(out, reports, n);
    bool bad = ferror(out);
    if (fclose(out) || bad) {
        brio_say("report: cannot write %s: %s", name, strerror(errno));
        return 1;
    }
    printf("%s: %zu report%s\n", name, n, n == 1 ? "" : "s");
    return 0;
}

int brio_cmd_report(int argc, char **argv)
{
    const char *page = NULL;
    struct brio_report *reports = calloc((size_t)argc, sizeof *reports);
    size_t n = 0;
    int failed = 0;
    for (int i = 1; i < argc && !failed; i++) {
        if (strcmp(argv[i], "--html") == 0 && i + 1 < argc)
            page = argv[++i];
        else if (argv[i][0] == '-') {
            brio_say("report: cannot use `%s'; see `brio help report'", argv[i]);
            failed = BRIO_EXIT_USAGE;
        } else if (!reports || !load(argv[i], &reports[n++]))
            failed = 1;
    }
    if (!failed && n == 0) {
        brio_say("report: no report given; run the program with BRIO_REPORT=DIR/ and then "
                 "`brio report DIR/*.json'");
        failed = BRIO_EXIT_USAGE;
    }
    if (!failed && page)
        failed = write_page(page, reports, n);
    for (size_t i = 0; i < n; i++) {
        if (!failed && !page)
            print_report(&reports[i]);
        unload(&reports[i]);
    }
    free(reports);
    return failed;
}
