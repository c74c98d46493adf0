/* Measures: starts all contenders, gives each its turn in alternation, keeps what they say.
 * Those that wait use no core, so all are there at once. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"

enum {
    STEP_LIMIT = 120, /* seconds to make or remove what a case needs */
    LATE_IN_A_ROW = 2 /* cases after which a contender is not tried again */
};

/* A measurement that goes on. */
struct run {
    const struct brio_bench_plan *plan;
    struct brio_bench_result *result;
    struct brio_bench_job **job; /* one for each contender, NULL while it is not running */
    int *late;                   /* cases in a row that it gave up */
    bool *out;                   /* will not be started again */
    size_t at;                   /* the case */
    size_t who;                  /* whose turn it is */
    size_t round;                /* in which each has had a turn, of all cases and starts */
    size_t steps, done;          /* for the progress */
};

static volatile sig_atomic_t interrupted;
static char *scratch;

static void note_signal(int sig)
{
    interrupted = sig;
}

bool brio_bench_interrupted(void)
{
    return interrupted != 0;
}

void brio_bench_catch_signals(void)
{
    struct sigaction note = {.sa_handler = note_signal};
    sigaction(SIGINT, &note, NULL);
    sigaction(SIGTERM, &note, NULL);
    sigaction(SIGHUP, &note, NULL);
}

const char *brio_bench_scratch(void)
{
    const char *tmp = getenv("TMPDIR");
    if (!scratch) {
        scratch = brio_text("%s/brio-bench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(scratch)) {
            brio_say("bench: cannot make %s: %s", scratch, strerror(errno));
            exit(1);
        }
    }
    return scratch;
}

void brio_bench_remove_scratch(void)
{
    if (scratch)
        rmdir(scratch);
    free(scratch);
    scratch = NULL;
}

static void keep_text(char **place, const char *text)
{
    free(*place);
    *place = brio_copy(text);
}

static void keep_time(struct brio_bench_cell *cell, char **word, size_t n)
{
    int dir = strcmp(word[2], "write") == 0 ? BRIO_BENCH_WRITE : BRIO_BENCH_READ;
    struct brio_bench_series *s = &cell->dir[dir];
    s->wrong += strtoll(word[5], NULL, 10);
    if (strtol(word[1], NULL, 10) < 0) /* the one that warms up */
        return;
    s->access = brio_memory_again(s->access, (s->n + 1) * sizeof *s->access);
    s->seconds = brio_memory_again(s->seconds, (s->n + 1) * sizeof *s->seconds);
    s->access[s->n] = strtod(word[3], NULL);
    s->seconds[s->n++] = strtod(word[4], NULL);
    if (n > 6)
        keep_text(&s->counts, word[6]);
}

/* One line of the contender whose turn it is. */
static void take_line(void *self, char **word, size_t n)
{
    struct run *run = self;
    struct brio_bench_case *c = &run->result->c[run->at];
    struct brio_bench_cell *cell = &c->cell[run->who];
    if (strcmp(word[0], "io") == 0 && n >= 4) {
        keep_text(&cell->io, word[1]);
        keep_text(&cell->mpi, word[2]);
        word[3][strcspn(word[3], "\n")] = '\0';
        keep_text(&cell->modules, word[3]);
    } else if (strcmp(word[0], "case") == 0 && n >= 7) {
        c->x = strtod(word[3], NULL);
        c->bytes = strtoll(word[4], NULL, 10);
        c->calls = atoi(word[5]);
        keep_text(&c->name, word[6]);
    } else if (strcmp(word[0], "time") == 0 && n >= 6) {
        keep_time(cell, word, n);
    }
}

static void tell_progress(struct run *run, const char *what)
{
    const struct brio_bench_plan *plan = run->plan;
    if (plan->progress)
        plan->progress(plan->self, what,
                       run->steps ? (double)run->done / (double)run->steps : 0);
}

/* One turn; a contender that fails or is late is ended. */
static void give_turn(struct run *run, size_t who, double limit)
{
    struct brio_bench_cell *cell = &run->result->c[run->at].cell[who];
    if (!run->job[who] || brio_bench_interrupted())
        return;
    run->who = who;
    tell_progress(run, run->plan->who[who].label);
    enum brio_bench_turn got = brio_bench_turn(run->job[who], limit, take_line, run);
    if (got == BRIO_BENCH_DONE)
        return;
    cell->state = got == BRIO_BENCH_LATE ? BRIO_BENCH_GAVE_UP : BRIO_BENCH_FAILED;
    run->late[who]++;
    brio_bench_stop(run->job[who], got == BRIO_BENCH_ENDED ? &cell->why : NULL);
    run->job[who] = NULL;
}

/* Brio when Brio was meant, and not when not. */
static bool right_io(struct run *run, size_t who)
{
    const struct brio_bench_cell *cell = &run->result->c[run->at].cell[who];
    const char *expect = run->plan->who[who].expect;
    if (!run->job[who] || (cell->io && strncmp(cell->io, expect, strlen(expect)) == 0))
        return true;
    brio_say("bench: %s: the I/O was done by %s", run->plan->who[who].label,
             cell->io ? cell->io : "nobody known");
    return false;
}

/* All at once: most of what a launcher does is waiting. */
static void start_missing(struct run *run)
{
    const struct brio_bench_plan *plan = run->plan;
    bool *fresh = brio_memory(plan->nwho * sizeof *fresh);
    for (size_t i = 0; i < plan->nwho; i++) {
        run->out[i] |= run->late[i] >= LATE_IN_A_ROW;
        fresh[i] = !run->job[i] && !run->out[i] && !brio_bench_interrupted();
        if (fresh[i])
            run->job[i] = brio_bench_start(plan, i, (int)run->at);
    }
    for (size_t i = 0; i < plan->nwho; i++) {
        if (!fresh[i])
            continue;
        tell_progress(run, plan->who[i].label);
        if (run->job[i] && brio_bench_ready(run->job[i]))
            continue;
        struct brio_bench_cell *cell = &run->result->c[run->at].cell[i];
        brio_bench_stop(run->job[i], brio_bench_interrupted() ? NULL : &cell->why);
        run->job[i] = NULL;
        cell->state = BRIO_BENCH_FAILED;
        run->out[i] = true;
    }
    free(fresh);
}

/* Who is the i-th in a round: another one begins each time, and after n rounds they come the
 * other way round, for who comes behind the same one always finds the same in the caches.
 * Nobody comes behind himself, and finds his own. */
static size_t turn_of(size_t n, size_t round, size_t i)
{
    size_t first = round % n;
    if (n < 3)
        return i;
    return round / n % 2 ? (2 * n - 1 - first - i) % n : (first + i) % n;
}

static bool run_case(struct run *run)
{
    const struct brio_bench_plan *plan = run->plan;
    struct brio_bench_cell *cell = run->result->c[run->at].cell;
    start_missing(run);
    for (size_t i = 0; i < plan->nwho; i++) {
        give_turn(run, i, STEP_LIMIT);
        if (!right_io(run, i))
            return false;
    }
    for (int rep = -1; rep < plan->reps; rep++, run->round++)
        for (size_t i = 0; i < plan->nwho; i++) {
            give_turn(run, turn_of(plan->nwho, run->round, i), plan->limit);
            run->done++;
        }
    for (size_t i = 0; i < plan->nwho; i++) {
        if (run->job[i] && !brio_bench_interrupted()) {
            cell[i].state = BRIO_BENCH_OK;
            run->late[i] = 0;
        }
        give_turn(run, i, STEP_LIMIT);
    }
    return !brio_bench_interrupted();
}

/* All cases, from a start of the programs to their end. */
static bool run_cases(struct run *run)
{
    bool fine = true;
    for (run->at = 0; run->at < run->result->ncases && fine; run->at++)
        fine = run_case(run);
    for (size_t i = 0; i < run->plan->nwho; i++) {
        if (fine)
            brio_bench_finish(run->job[i]);
        else
            brio_bench_stop(run->job[i], NULL);
        run->job[i] = NULL;
    }
    return fine;
}

/* How many cases the options make, asked of the program itself; 0, after its message, if they
 * are wrong. */
static size_t count_cases(const struct brio_bench_plan *plan, size_t who)
{
    char text[64];
    struct brio_words w = {0};
    brio_words_add(&w, brio_place_bench(plan->who[who].mpi));
    brio_words_add(&w, plan->workload);
    for (size_t i = 0; i < plan->args.n; i++)
        brio_words_add(&w, plan->args.word[i]);
    for (size_t i = 0; i < plan->who[who].args.n; i++)
        brio_words_add(&w, plan->who[who].args.word[i]);
    brio_words_add(&w, "--cases");
    bool fine = brio_output_and_errors_of(w.word, text, sizeof text);
    free(w.word);
    return fine ? strtoul(text, NULL, 10) : 0;
}

static bool make_cases(const struct brio_bench_plan *plan, struct brio_bench_result *out)
{
    size_t n = count_cases(plan, 0);
    for (size_t i = 0; i < plan->nwho && n > 0; i++)
        if (count_cases(plan, i) != n)
            n = 0;
    out->ncases = n;
    out->interrupted = false;
    out->c = brio_memory(n * sizeof *out->c);
    memset(out->c, 0, n * sizeof *out->c);
    for (size_t i = 0; i < n; i++) {
        out->c[i].cell = brio_memory(plan->nwho * sizeof *out->c[i].cell);
        memset(out->c[i].cell, 0, plan->nwho * sizeof *out->c[i].cell);
    }
    return n > 0;
}

bool brio_bench_run(const struct brio_bench_plan *plan, struct brio_bench_result *out)
{
    if (!make_cases(plan, out))
        return false;
    struct run run = {.plan = plan, .result = out};
    run.job = brio_memory(plan->nwho * sizeof(struct brio_bench_job *));
    run.late = brio_memory(plan->nwho * sizeof *run.late);
    run.out = brio_memory(plan->nwho * sizeof *run.out);
    memset(run.job, 0, plan->nwho * sizeof(struct brio_bench_job *));
    memset(run.late, 0, plan->nwho * sizeof *run.late);
    memset(run.out, 0, plan->nwho * sizeof *run.out);
    run.steps = out->ncases * plan->nwho * (size_t)(plan->reps + 1) * (size_t)plan->starts;
    bool fine = true;
    for (int i = 0; i < plan->starts && fine; i++)
        fine = run_cases(&run);
    out->interrupted = brio_bench_interrupted();
    free(run.job);
    free(run.late);
    free(run.out);
    return fine || out->interrupted;
}
