/* brio bench: what is measured with whom, from the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/contenders.h"

const char brio_help_bench[] =
    "brio bench WORKLOAD [options]\n"
    "\n"
    "Measures a workload through Brio, beside the limit (the same bytes by plain contiguous\n"
    "pwrite and pread from the same ranks), and beside other MPI-IO libraries if asked: all "
    "in\n"
    "alternation, with medians, spreads and ratios. `brio bench' lists the workloads, and\n"
    "`brio bench WORKLOAD --help' their options.\n"
    "\n"
    "  -n RANKS             numbers of ranks: 4, or 2,4,8 for a run with each (default 4)\n"
    "  --reps N             repetitions that count (default 7)\n"
    "  --starts N           start all programs anew so often, and count all repetitions "
    "together:\n"
    "                       a program's place in memory stays with it, and may cost a third\n"
    "                       (default 1)\n"
    "  --mpi openmpi|mpich  the MPI that Brio and the limit run on\n"
    "  --against LIST       of ompio, romio (both in Open MPI), mpich (its ROMIO), files "
    "(plain,\n"
    "                       a file for each rank), all (of the first three that are here)\n"
    "  --set NAME=VALUE     a hint for all; may be said again\n"
    "  --variant LABEL:NAME=VALUE,...\n"
    "                       one more contender: Brio with these hints, or, for names that "
    "begin\n"
    "                       with --, options of the workload; may be said again\n"
    "  --each FRAMEWORK     one contender for each module: fcoll, sharedfp, ...\n"
    "  --sweep NAME=A,B,... one contender for each value, and how far from the best the first\n"
    "                       of Brio's is\n"
    "  --limit SECONDS      after which a repetition is given up (default 20)\n"
    "  --dir DIR            where the files go (default: TMPDIR or /tmp)\n"
    "  --slow US            every read and write of the files takes so many microseconds "
    "longer,\n"
    "                       for all: stands for a parallel file system\n"
    "  --launch OPTION      for the launcher; may be said again\n"
    "  --json, --csv        instead of the table\n"
    "\n"
    "Of any workload: --verify (every byte of every repetition), --only write|read, --whole\n"
    "(time from open to close), --fresh (a new file for each write), --sync, --cold (reads of\n"
    "a file that is not in memory).\n"
    "sharedfp also takes the thesis's -f FILE -d BYTES -i LOOPS -m MODE -v VARIABILITY, and\n"
    "--series 1 to 4 for its test series, a thousandth of their size.\n"
    "\n"
    "  brio bench tile -n 4 --against ompio,romio,mpich\n"
    "  brio bench sharedfp --series 2 -m 2 --each sharedfp\n"
    "  brio bench blockcyclic --bx 64,16,4,1 --each fcoll\n";

enum {
    RANKS_USUAL = 4,
    REPS_USUAL = 7,
    LIMIT_USUAL = 20
};

static bool wrong(const char *option, const char *value, const char *want)
{
    brio_say("bench: %s takes %s, not `%s'", option, want, value);
    return false;
}

static bool take_ranks(struct brio_bench_request *r, const char *value)
{
    r->nranks = 0;
    for (const char *at = value;; at++) {
        char *end;
        long n = strtol(at, &end, 10);
        if (end == at || n < 1 || n > 65536 || r->nranks == BRIO_BENCH_RANKS ||
            (*end && *end != ','))
            return wrong("-n", value, "numbers of ranks, as 4 or 2,4,8");
        r->ranks[r->nranks++] = (int)n;
        at = end;
        if (!*at)
            return true;
    }
}

static bool take_number(const char *option, const char *value, double lo, double hi,
                        double *out)
{
    char *end;
    *out = strtod(value, &end);
    if (end == value || *end || *out < lo || *out > hi)
        return wrong(option, value, "a number in its range");
    return true;
}

static bool take_words(struct brio_bench_request *r, int argc, char **argv);

/* The thesis's test series, sizes a thousandth of its own. */
static bool take_series(struct brio_bench_request *r, const char *value)
{
    static const char *const series[] = {
        "-n 8 --bytes 2m --loops 20,25,32,40,50,64",
        "-n 2,4,8,16,32 --bytes 2m --loops 32",
        "-n 8 --total 64m --loops 32,64,128,256,512,1024,2048,4096,8192,16384,32768",
        "-n 2,4,8,16,32 --bytes 2m --per-rank --total 64m",
    };
    if (strcmp(r->plan.workload, "sharedfp") != 0 || !strchr("1234", value[0]) ||
        strlen(value) != 1)
        return wrong("--series", value, "1 to 4, and is for sharedfp");
    struct brio_words w = brio_words_of("bench", r->plan.workload);
    struct brio_words more = brio_words_of("--only=write", series[value[0] - '1']);
    brio_words_add(&w, "--fresh");
    for (size_t i = 0; i < more.n; i++)
        brio_words_add(&w, more.word[i]);
    return take_words(r, (int)w.n, (char **)w.word);
}

/* An option of the command itself; the number of words used, 0 if it is none, -1 if wrong. */
static int take_own(struct brio_bench_request *r, const char *name, const char *value)
{
    double n;
    bool fine = true;
    if (strcmp(name, "--json") == 0 || strcmp(name, "--csv") == 0) {
        r->form = name[2] == 'j' ? BRIO_BENCH_FORM_JSON : BRIO_BENCH_FORM_CSV;
        return 1;
    }
    if (strcmp(name, "-n") == 0) {
        fine = take_ranks(r, value);
    } else if (strcmp(name, "--reps") == 0) {
        fine = take_number(name, value, 1, 1000, &n);
        r->plan.reps = (int)n;
    } else if (strcmp(name, "--starts") == 0) {
        fine = take_number(name, value, 1, 1000, &n);
        r->plan.starts = (int)n;
    } else if (strcmp(name, "--limit") == 0) {
        fine = take_number(name, value, 0.01, 1e6, &r->plan.limit);
    } else if (strcmp(name, "--slow") == 0) {
        fine = take_number(name, value, 0, 1e6, &r->plan.slow);
        if (fine && !brio_place_delay()) {
            brio_say("bench: --slow: bench/delay.so is not installed");
            fine = false;
        }
    } else if (strcmp(name, "--series") == 0) {
        fine = take_series(r, value);
    } else if (strcmp(name, "--dir") == 0) {
        r->plan.dir = value;
    } else if (strcmp(name, "-f") == 0) {
        r->plan.file = value;
    } else if (strcmp(name, "--launch") == 0) {
        brio_words_add(&r->plan.launch, value);
    } else if (strcmp(name, "--set") == 0) {
        brio_words_add(&r->plan.args, brio_text("--hint=%s", value));
        fine = strchr(value, '=') || wrong(name, value, "NAME=VALUE");
    } else {
        int used = brio_choice_take(&r->choice, name, value);
        return used > 0 ? 2 : used;
    }
    return fine ? 2 : -1;
}

/* The thesis's letters. */
static const char *long_name(const char *word)
{
    static const char *const names[][2] = {
        {"-d", "--bytes"}, {"-i", "--loops"}, {"-m", "--mode"}, {"-v", "--variability"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(word, names[i][0]) == 0)
            return names[i][1];
    return word;
}

/* `--name value` and `--name=value`; an option without a value is followed by another. */
static bool take_words(struct brio_bench_request *r, int argc, char **argv)
{
    for (int i = 2; i < argc;) {
        const char *word = long_name(argv[i]), *equal = strchr(word, '=');
        bool joined = strncmp(word, "--", 2) == 0 && equal;
        char *name = joined ? brio_text("%.*s", (int)(equal - word), word) : brio_copy(word);
        const char *value = joined ? equal + 1 : i + 1 < argc ? argv[i + 1] : "";
        int used = take_own(r, name, value);
        if (used < 0)
            return false;
        if (used == 2 && !joined && i + 1 >= argc) {
            brio_say("bench: %s needs a value", name);
            return false;
        }
        if (used == 0) { /* the program knows, or complains */
            bool alone = joined || i + 1 >= argc || argv[i + 1][0] == '-';
            if (strncmp(word, "--", 2) != 0) {
                brio_say("bench: cannot use `%s'; see `brio help bench'", argv[i]);
                return false;
            }
            brio_words_add(&r->plan.args, alone ? word : brio_text("%s=%s", word, argv[i + 1]));
            used = alone ? 1 : 2;
        }
        i += joined ? 1 : used;
        free(name);
    }
    return true;
}

bool brio_bench_parse(struct brio_bench_request *r, int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    *r = (struct brio_bench_request){.plan = {.workload = argv[1],
                                              .reps = REPS_USUAL,
                                              .starts = 1,
                                              .limit = LIMIT_USUAL,
                                              .dir = tmp && *tmp ? tmp : "/tmp"},
                                     .choice = {.workload = argv[1]},
                                     .ranks = {RANKS_USUAL},
                                     .nranks = 1};
    return take_words(r, argc, argv);
}

char *brio_bench_place(struct brio_bench_plan *plan)
{
    if (plan->file) {
        const char *slash = strrchr(plan->file, '/');
        plan->dir = slash ? brio_text("%.*s", (int)(slash - plan->file), plan->file) : ".";
        return brio_copy("");
    }
    char *made = brio_text("%s/brio-bench.XXXXXX", plan->dir);
    if (!mkdtemp(made)) {
        brio_say("bench: cannot make a directory in %s: %s", plan->dir, strerror(errno));
        free(made);
        return NULL;
    }
    plan->file = brio_text("%s/data", made);
    return made;
}

/* On a terminal: what is being done, in one line that is overwritten. */
static void show_progress(void *self, const char *text, double part)
{
    const struct brio_bench_request *r = self;
    fprintf(stderr, "\r%s, %d ranks: %3.0f %%  %-24.24s\r", r->plan.workload, r->plan.ranks,
            100 * part, text);
}

static void show(const struct brio_bench_request *r, const struct brio_bench_result *result,
                 bool first)
{
    if (r->plan.progress)
        fprintf(stderr, "\r%64s\r", "");
    if (r->form == BRIO_BENCH_FORM_JSON) {
        fputs(first ? "{\"runs\": [\n" : ",\n", stdout);
        brio_bench_json(stdout, &r->plan, result);
    } else if (r->form == BRIO_BENCH_FORM_CSV) {
        brio_bench_csv(stdout, &r->plan, result, first);
    } else {
        brio_bench_table(stdout, &r->plan, result);
    }
    fflush(stdout);
}

/* 1 if something of Brio's failed, or bytes were wrong. */
static int judge(const struct brio_bench_request *r, const struct brio_bench_result *result)
{
    int code = 0;
    for (size_t i = 0; i < result->ncases; i++)
        for (size_t k = 0; k < r->plan.nwho; k++) {
            const struct brio_bench_cell *cell = &result->c[i].cell[k];
            long long bad = cell->dir[0].wrong + cell->dir[1].wrong;
            if (bad)
                brio_say("bench: %s: %s: %lld bytes were wrong", result->c[i].name,
                         r->plan.who[k].label, bad);
            if (bad || (r->plan.who[k].brio && cell->state == BRIO_BENCH_FAILED))
                code = 1;
        }
    return code;
}

static int run_all(struct brio_bench_request *r)
{
    int code = 0;
    for (size_t i = 0; i < r->nranks && !brio_bench_interrupted(); i++) {
        struct brio_bench_result result;
        r->plan.ranks = r->ranks[i];
        if (!brio_contenders(&r->choice, &r->plan))
            return BRIO_EXIT_USAGE;
        if (!brio_bench_run(&r->plan, &result))
            return i == 0 && result.ncases == 0 ? BRIO_EXIT_USAGE : 1;
        show(r, &result, i == 0);
        code |= judge(r, &result);
    }
    if (r->form == BRIO_BENCH_FORM_JSON)
        puts("\n]}");
    return brio_bench_interrupted() ? 130 : code;
}

/* Runs the program itself, for its help. */
static int ask_program(const char *program, const char *workload)
{
    char text[8192];
    const char *argv[] = {program, workload, workload ? "--help" : NULL, NULL};
    if (!workload)
        argv[1] = "--help";
    if (!brio_output_and_errors_of(argv, text, sizeof text))
        return BRIO_EXIT_USAGE;
    char *body = workload ? text : strchr(text, '\n');
    printf("%s",
           workload ? text : "brio bench WORKLOAD [options]; `brio help bench' says more\n");
    if (!workload && body)
        printf("%s", body + 1);
    return 0;
}

int brio_cmd_bench(int argc, char **argv)
{
    struct brio_bench_request r;
    enum brio_mpi any = brio_contenders_mpi(BRIO_MPI_UNKNOWN);
    if (any == BRIO_MPI_UNKNOWN)
        return BRIO_EXIT_NOT_FOUND;
    if (argc < 2)
        return ask_program(brio_place_bench(any), NULL);
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return ask_program(brio_place_bench(any), argv[1]);
    if (!brio_bench_parse(&r, argc, argv))
        return BRIO_EXIT_USAGE;
    char *made = brio_bench_place(&r.plan);
    if (!made)
        return BRIO_EXIT_USAGE;
    if (isatty(STDERR_FILENO)) {
        r.plan.progress = show_progress;
        r.plan.self = &r;
    }
    brio_bench_catch_signals();
    int code = run_all(&r);
    rmdir(made);
    brio_bench_remove_scratch();
    return code;
}
