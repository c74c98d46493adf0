/* brio reproduce: reruns the papers' experiments, keeps the results, makes the report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/contenders.h"
#include "cli/results.h"
#include "cli/study.h"

const char brio_help_reproduce[] =
    "brio reproduce [--quick|--full] [options]\n"
    "\n"
    "Reruns the experiments of the papers that Brio is made from, beside OMPIO, ROMIO and the\n"
    "limit, and makes one HTML page: for each experiment what the paper found, what was\n"
    "measured here, and whether they agree. Sizes are smaller than the papers', and the page\n"
    "says by how much. A run that was interrupted goes on where it was.\n"
    "\n"
    "  --quick         some minutes (default)\n"
    "  --full          larger sizes, more ranks: half an hour on two cores\n"
    "  --paper LIST    of 000, 001, 002, 003, 004\n"
    "  --only LIST     of experiments, as --list names them\n"
    "  --list          list the experiments, with the papers' own numbers, and end\n"
    "  --out DIR       for results.jsonl and report.html (default: brio-reproduce)\n"
    "  --dir DIR       where the measured files go (default: TMPDIR or /tmp)\n"
    "  --mpi openmpi|mpich\n"
    "                  the MPI that Brio runs on\n"
    "  --again         forget earlier results\n"
    "  --page          make the page from earlier results only\n"
    "  --markdown FILE also as Markdown, with the figures in a directory beside it:\n"
    "                  doc/results.md has them in doc/results/\n";

enum mode {
    QUICK,
    FULL
};

struct request {
    enum mode mode;
    const char *paper, *only, *out, *dir;
    enum brio_mpi mpi;
    const char *markdown; /* NULL: none */
    bool list, again, page;
};

/* What is done, and what is still to do, in seconds as the table has them. */
struct progress {
    const char *id;
    double began, done, here, all, skipped;
    bool terminal;
};

static const char *const mode_names[] = {"quick", "full"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A word of a comma-separated list, or a list that is not there. */
static bool among(const char *list, const char *word, size_t len)
{
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if (n == len && strncmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return !list;
}

static bool wanted(const struct request *r, const struct brio_experiment *e)
{
    return among(r->paper, e->id, 3) && among(r->only, e->id, strlen(e->id));
}

/* Names in lists that are none are errors. */
static bool known(const char *option, const char *list)
{
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t n = strcspn(at, ","), i = 0;
        while (i < brio_nexperiments && (strncmp(brio_experiments[i].id, at, n) != 0 ||
                                         (brio_experiments[i].id[n] && n != 3)))
            i++;
        if (i == brio_nexperiments) {
            brio_say("reproduce: %s: there is no `%.*s'; see `brio reproduce --list'", option,
                     (int)n, at);
            return false;
        }
        at += n;
    }
    return true;
}

static bool take_value(struct request *r, const char *name, const char *value)
{
    if (strcmp(name, "--paper") == 0)
        r->paper = value;
    else if (strcmp(name, "--only") == 0)
        r->only = value;
    else if (strcmp(name, "--out") == 0)
        r->out = value;
    else if (strcmp(name, "--dir") == 0)
        r->dir = value;
    else if (strcmp(name, "--markdown") == 0)
        r->markdown = value;
    else if (strcmp(name, "--mpi") == 0)
        r->mpi = brio_mpi_named(value);
    else
        return false;
    return true;
}

static bool parse(struct request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--quick") == 0)
            r->mode = QUICK;
        else if (strcmp(word, "--full") == 0)
            r->mode = FULL;
        else if (strcmp(word, "--list") == 0)
            r->list = true;
        else if (strcmp(word, "--again") == 0)
            r->again = true;
        else if (strcmp(word, "--page") == 0)
            r->page = true;
        else if (i + 1 < argc && take_value(r, word, argv[i + 1]))
            i++;
        else {
            brio_say("reproduce: cannot use `%s'; see `brio help reproduce'", word);
            return false;
        }
    }
    return known("--paper", r->paper) && known("--only", r->only);
}

static int list(void)
{
    for (size_t i = 0; i < brio_nexperiments; i++)
        printf("%-9s %s\n", brio_experiments[i].id, brio_experiments[i].title);
    return 0;
}

/* ---- Results that are kept ---------------------------------------------------------------
 */

static void add_line(struct brio_outcome *o, size_t n, const char *text)
{
    struct brio_json *v = brio_json_parse(text);
    for (size_t i = 0; v && i < n; i++) {
        if (strcmp(brio_json_text(brio_json_get(v, "experiment")), o[i].what->id) != 0)
            continue;
        o[i].line = brio_memory_again(o[i].line, (o[i].n + 1) * sizeof(struct brio_json *));
        o[i].line[o[i].n++] = v;
        return;
    }
    brio_json_free(v);
}

/* A line that is cut, by a crash, is none. */
static void read_results(const char *path, const struct request *r, struct brio_outcome *o,
                         size_t n)
{
    char *line = NULL, mark[32];
    size_t size = 0;
    FILE *f = fopen(path, "r");
    snprintf(mark, sizeof mark, "\"mode\": \"%s\"", mode_names[r->mode]);
    while (f && getline(&line, &size, f) > 0)
        if (strstr(line, mark))
            add_line(o, n, line);
    free(line);
    if (f)
        fclose(f);
}

static bool is_done(const struct brio_outcome *o, const char *command, int ranks)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct brio_json *run = brio_json_get(o->line[i], "run");
        const struct brio_json *brio = brio_json_get(run, "brio");
        if ((int)brio_json_number(brio_json_get(run, "ranks")) == ranks &&
            strcmp(brio_json_text(brio_json_get(o->line[i], "command")), command) == 0 &&
            strcmp(brio_json_text(brio), BRIO_VERSION) == 0)
            return true;
    }
    return false;
}

/* What was measured, and by which command. */
struct result {
    const char *command;
    const struct brio_words *absent; /* contenders that are not there */
    char *run;                       /* JSON */
};

static char *line_of(const struct brio_experiment *e, const struct request *r,
                     const struct result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("{\"experiment\": ", out);
    brio_json_put(out, e->id);
    char when[32];
    time_t stamp = time(NULL);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime(&stamp));
    fprintf(out, ", \"mode\": \"%s\", \"when\": \"%s\", \"command\": ", mode_names[r->mode],
            when);
    brio_json_put(out, result->command);
    fputs(", \"absent\": \"", out);
    for (size_t i = 0; i < result->absent->n; i++)
        fprintf(out, "%s%s", i ? ", " : "", result->absent->word[i]);
    fprintf(out, "\", \"run\": %s}\n", result->run);
    return fclose(out) == 0 ? text : NULL;
}

static bool keep(const char *path, const char *line)
{
    FILE *f = fopen(path, "a");
    bool fine = f && fputs(line, f) >= 0;
    fine = f && fclose(f) == 0 && fine;
    if (!fine)
        brio_say("reproduce: cannot write %s: %s", path, strerror(errno));
    return fine;
}

/* ---- Running ------------------------------------------------------------------------------
 */

/* A bar, a percentage, the time left. */
static void show_progress(void *self, const char *text, double part)
{
    const struct progress *p = self;
    double done = p->done + part * p->here, measured = done - p->skipped;
    double left = measured > 0 ? (now() - p->began) / measured * (p->all - done) : p->all;
    char bar[25];
    int full = (int)(24 * done / p->all);
    if (!p->terminal)
        return;
    for (int i = 0; i < 24; i++)
        bar[i] = i < full ? '#' : '.';
    bar[24] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%, %d:%02d left  %s %-20.20s", bar, 100 * done / p->all,
            (int)left / 60, (int)left % 60, p->id, text);
}

/* Keeps a result, unless there is none. */
static bool keep_result(const struct request *r, struct brio_outcome *o, const char *path,
                        const struct result *result)
{
    char *line = line_of(o->what, r, result);
    bool fine = line && keep(path, line);
    if (fine)
        add_line(o, 1, line);
    free(line);
    free(result->run);
    return fine;
}

/* One number of ranks; NULL if it was interrupted or failed, after a message. */
static char *measure(struct brio_bench_request *b)
{
    struct brio_bench_result result;
    char *text = NULL, *made = brio_bench_place(&b->plan);
    size_t size = 0;
    bool fine = made && brio_contenders(&b->choice, &b->plan) &&
                brio_bench_run(&b->plan, &result) && !result.interrupted;
    if (made)
        rmdir(made);
    free(made);
    FILE *out = fine ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    brio_bench_json(out, &b->plan, &result);
    return fclose(out) == 0 ? text : NULL;
}

static bool run_bench(const struct request *r, struct brio_outcome *o, const char *path,
                      struct progress *p)
{
    const struct brio_experiment *e = o->what;
    char *options =
        brio_text("%s%s%s", e->words, e->words[strlen(e->words) - 1] == ' ' ? "" : " ",
                  r->mode == QUICK ? e->quick : e->full);
    char *command = brio_text("brio bench %s", options);
    struct brio_words w = brio_words_of("bench", options), absent = {0};
    struct brio_bench_request b;
    bool fine = brio_bench_parse(&b, (int)w.n, (char **)w.word);
    if (!fine)
        return false;
    b.choice.absent = &absent;
    b.choice.mpi = r->mpi;
    b.plan.dir = r->dir ? r->dir : b.plan.dir;
    b.plan.progress = show_progress;
    b.plan.self = p;
    double share = e->seconds[r->mode] / (double)b.nranks;
    for (size_t i = 0; fine && i < b.nranks && !brio_bench_interrupted(); i++) {
        p->here = share;
        b.plan.ranks = b.ranks[i];
        b.plan.file = NULL;
        absent.n = 0;
        if (is_done(o, command, b.ranks[i])) {
            p->skipped += share;
        } else {
            const struct result result = {
                .command = command, .absent = &absent, .run = measure(&b)};
            fine = !result.run || keep_result(r, o, path, &result);
        }
        p->done += share;
    }
    free(command);
    free(options);
    return fine;
}

static bool run_study(const struct request *r, struct brio_outcome *o, const char *path,
                      struct progress *p)
{
    const char *tmp = getenv("TMPDIR");
    char *journal = brio_text("%s/%s-%s.journal", r->out, o->what->id, mode_names[r->mode]);
    const struct brio_study study = {.what = o->what,
                                     .options =
                                         r->mode == QUICK ? o->what->quick : o->what->full,
                                     .journal = journal,
                                     .dir = r->dir        ? r->dir
                                            : tmp && *tmp ? tmp
                                                          : "/tmp",
                                     .mpi = brio_contenders_mpi(r->mpi),
                                     .progress = show_progress,
                                     .self = p};
    char *command = brio_study_command(&study), *text = NULL;
    const struct brio_words none = {0};
    size_t size = 0;
    p->here = o->what->seconds[r->mode];
    bool fine = true;
    if (o->n > 0 && is_done(o, command,
                            (int)brio_json_number(brio_json_get(
                                brio_json_get(o->line[o->n - 1], "run"), "ranks")))) {
        p->skipped += p->here;
    } else {
        if (r->again)
            unlink(journal);
        FILE *out = open_memstream(&text, &size);
        bool found = out && brio_study_run(&study, out);
        if (out && fclose(out) == 0 && found) {
            const struct result result = {.command = command, .absent = &none, .run = text};
            fine = keep_result(r, o, path, &result);
        }
    }
    p->done += p->here;
    free(command);
    free(journal);
    return fine;
}

static int run_all(const struct request *r, struct brio_outcome *o, size_t n, const char *path)
{
    struct progress p = {.began = now(), .terminal = isatty(STDERR_FILENO)};
    for (size_t i = 0; i < n; i++)
        p.all += o[i].what->seconds[r->mode];
    for (size_t i = 0; i < n && !brio_bench_interrupted(); i++) {
        p.id = o[i].what->id;
        if (!p.terminal)
            fprintf(stderr, "%s (%zu of %zu, %.0f s)\n", p.id, i + 1, n, now() - p.began);
        if (!(o[i].what->space ? run_study : run_bench)(r, &o[i], path, &p))
            return 1;
    }
    if (p.terminal)
        fprintf(stderr, "\r%78s\r", "");
    return 0;
}

/* What the page says, in short. */
static void summarise(const struct brio_outcome *o, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf("%-9s %s\n", o[i].what->id, o[i].what->title);
        for (size_t k = 0; o[i].n > 0 && k < BRIO_CLAIMS && o[i].what->claim[k].said; k++) {
            char why[256];
            enum brio_verdict_word v = brio_judge(&o[i], &o[i].what->claim[k], why, sizeof why);
            printf("          %-19s %s%s%s%s\n", brio_verdict_text[v], o[i].what->claim[k].said,
                   *why ? " (" : "", why, *why ? ")" : "");
        }
        if (o[i].n == 0)
            puts("          not run");
    }
}

int brio_cmd_reproduce(int argc, char **argv)
{
    struct request r = {.out = "brio-reproduce"};
    if (!parse(&r, argc, argv))
        return BRIO_EXIT_USAGE;
    if (r.list)
        return list();
    if (!r.page && brio_contenders_mpi(r.mpi) == BRIO_MPI_UNKNOWN)
        return BRIO_EXIT_NOT_FOUND;
    if (mkdir(r.out, 0777) != 0 && errno != EEXIST) {
        brio_say("reproduce: cannot make %s: %s", r.out, strerror(errno));
        return 1;
    }
    char *path = brio_text("%s/results.jsonl", r.out),
         *page = brio_text("%s/report.html", r.out);
    struct brio_outcome *o = brio_memory(brio_nexperiments * sizeof *o);
    size_t n = 0;
    for (size_t i = 0; i < brio_nexperiments; i++)
        if (wanted(&r, &brio_experiments[i]))
            o[n++] = (struct brio_outcome){.what = &brio_experiments[i]};
    if (r.again)
        unlink(path);
    brio_bench_catch_signals();
    read_results(path, &r, o, n);
    int code = r.page ? 0 : run_all(&r, o, n, path);
    if (!brio_page(page, o, n, mode_names[r.mode]) ||
        (r.markdown && !brio_markdown(r.markdown, o, n, mode_names[r.mode])))
        code = 1;
    brio_bench_remove_scratch();
    summarise(o, n);
    printf("\n%s\n", page);
    if (brio_bench_interrupted()) {
        brio_say("reproduce: interrupted; the same command goes on from here");
        return 130;
    }
    return code;
}
