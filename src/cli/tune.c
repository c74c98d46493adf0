/* brio tune: runs a program again and again with other settings, says which were the best and
 * what is noise, and lays the best ones into a profile (paper 004's OTPO). */
#include "cli/tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/journal.h"
#include "cli/profile.h"

const char brio_help_tune[] =
    "brio tune [options] SPACE [launcher options] PROG [ARGS]\n"
    "\n"
    "Runs an MPI program (as `brio run' does) with all combinations of the settings that the\n"
    "file SPACE lists, and writes the best into the profile that Brio then uses for this\n"
    "program by itself. SPACE may be the name of a shipped one: otpo.tune is paper 004's, "
    "with\n"
    "65 combinations, otpo-8.tune the same for eight ranks. A line of SPACE is a setting, its "
    "values, and when it matters:\n"
    "\n"
    "  fcoll          = static, dynamic, two_phase, individual\n"
    "  cb_nodes       = 5..40 times 2          when fcoll != individual\n"
    "  cb_buffer_size = 2m, 20m, 32m..128m     # sizes double from step to step\n"
    "\n"
    "  --search exhaustive|random|halving\n"
    "                     all combinations; some by chance; or all once, the better half\n"
    "                     twice, and so on up to --repeats (default: exhaustive)\n"
    "  --trials N         combinations that are tried (default: all; random: 20)\n"
    "  --repeats N        runs of each combination (default: 3)\n"
    "  --seed N           another order of trials\n"
    "  --match REGEX      not the time counts but the last number that the program prints\n"
    "                     where this extended regular expression fits (its first group)\n"
    "  --larger           and it should be large\n"
    "  --limit SECONDS    a run that takes longer has failed (default: 10 seconds and 20\n"
    "                     times the default settings')\n"
    "  --command          PROG and ARGS are run as they stand, not by `brio run'\n"
    "  --journal FILE     where runs are kept (default: SPACE.journal in this directory); an\n"
    "                     interrupted search goes on from it\n"
    "  --fresh            begin anew\n"
    "  --program PATTERN, --file PATTERN, --mount DIR\n"
    "                     for what the profile is meant (default: --program PROG)\n"
    "  --profile FILE     where it is written (default: BRIO_PROFILE, or\n"
    "                     ~/.config/brio/profile)\n"
    "  --no-profile       only report\n"
    "  --list             print the combinations and run nothing\n"
    "\n"
    "  brio tune paper.tune -n 8 ./a.out input.nml\n"
    "  brio tune --match 'bandwidth: ([0-9.]+)' --larger --search halving s.tune -n 8 "
    "./bench\n";

static void *need(void *p)
{
    if (!p) {
        brio_say("out of memory");
        exit(1);
    }
    return p;
}

/* ---- What is searched ------------------------------------------------------------------ */

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    if (!in)
        return NULL;
    if (getdelim(&text, &room, '\0', in) < 0 && !ferror(in)) {
        free(text);
        text = brio_copy("");
    }
    fclose(in);
    return text;
}

static bool load_space(struct brio_tune *t)
{
    char why[BRIO_SPACE_WHY];
    int *some = NULL;
    const char *shipped = brio_place_space(t->space_path);
    char *text = read_file(t->space_path);
    if (!text && errno == ENOENT && shipped)
        text = read_file(shipped);
    if (!text) {
        brio_say("tune: cannot read %s: %s", t->space_path, strerror(errno));
        return false;
    }
    bool good = brio_space_parse(text, &t->space, why);
    if (!good)
        brio_say("tune: %s: %s", t->space_path, why);
    free(text);
    if (!good)
        return false;
    size_t n = brio_space_all(&t->space, &some);
    if (n == 0) {
        brio_say("tune: %s: more than %d combinations", t->space_path, BRIO_SPACE_MOST);
        return false;
    }
    t->search.n = n + 1;
    t->sample = need(calloc(t->search.n, sizeof *t->sample));
    t->name = need(calloc(t->search.n, sizeof *t->name));
    t->combination = need(calloc(t->search.n * t->space.n, sizeof *t->combination));
    for (size_t i = 0; i < t->space.n; i++)
        t->combination[i] = -1; /* the default */
    memcpy(t->combination + t->space.n, some, n * t->space.n * sizeof *some);
    free(some);
    for (size_t i = 0; i < t->search.n; i++)
        t->name[i] = brio_space_text(&t->space, t->combination + i * t->space.n);
    return true;
}

static void add_run(struct brio_tune *t, size_t at, double value)
{
    struct brio_sample *s = &t->sample[at];
    if (value < 0) {
        s->failed = true;
        return;
    }
    s->cost = need(realloc(s->cost, (s->n + 1) * sizeof *s->cost));
    s->cost[s->n++] = t->larger ? 1 / value : value;
}

/* ---- The journal ------------------------------------------------------------------------- */

static void recall(void *arg, const char *name, double value)
{
    struct brio_tune *t = arg;
    for (size_t i = 0; i < t->search.n; i++)
        if (strcmp(t->name[i], name) == 0) {
            add_run(t, i, value);
            t->recalled++;
            return;
        }
}

/* What must be the same for runs to be compared: the program, and what of it counts. */
static char *describe(const struct brio_tune *t)
{
    char *text = brio_text("%s%s%s", t->match_text ? t->match_text : "time",
                           t->larger ? " (larger)" : "", t->as_is ? " as it stands:" : ":");
    for (char **word = t->command; *word; word++) {
        char *longer = brio_text("%s %s", text, *word);
        free(text);
        text = longer;
    }
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return text;
}

static bool open_journal(struct brio_tune *t)
{
    char *what = describe(t);
    const char *slash = strrchr(t->space_path, '/');
    if (!t->journal_path)
        t->journal_path = brio_text("%s.journal", slash ? slash + 1 : t->space_path);
    if (t->fresh)
        unlink(t->journal_path);
    enum brio_journal_state state =
        brio_journal_open(t->journal_path, what, recall, t, &t->journal);
    free(what);
    if (state == BRIO_JOURNAL_ERROR)
        brio_say("tune: cannot keep runs in %s: %s", t->journal_path, strerror(errno));
    if (state == BRIO_JOURNAL_OTHER)
        brio_say("tune: %s is of another program or measure; --fresh begins anew, --journal "
                 "names another file",
                 t->journal_path);
    if (state == BRIO_JOURNAL_GOES_ON && t->recalled)
        brio_say("going on: %zu runs are in %s", t->recalled, t->journal_path);
    return state == BRIO_JOURNAL_NEW || state == BRIO_JOURNAL_GOES_ON;
}

/* ---- Running ----------------------------------------------------------------------------- */

/* NAME=VALUE of each setting; old profiles stay out of it. */
static char **environment(const struct brio_tune *t, size_t at)
{
    char **set = need(calloc(t->space.n + 2, sizeof *set));
    size_t n = 0;
    set[n++] = brio_copy("BRIO_PROFILE=");
    for (size_t i = 0; i < t->space.n; i++) {
        const struct brio_parameter *p = &t->space.parameter[i];
        int value = t->combination[at * t->space.n + i];
        if (value < 0)
            continue;
        char *text = brio_text("BRIO_%s=%s", p->name, p->value[value]);
        for (char *c = text; *c != '='; c++)
            if (*c >= 'a' && *c <= 'z')
                *c = (char)(*c - 'a' + 'A');
        set[n++] = text;
    }
    return set;
}

/* Lines in which Brio complains about one of the settings: nobody wants to wait for hours for
 * a name that was misspelt. */
static void pass_on_warnings(struct brio_tune *t, const char *said, char *const *set)
{
    for (set++; *set && !t->warned; set++) { /* behind BRIO_PROFILE */
        size_t n = strcspn(*set, "=");
        for (const char *line = said; *line && !t->warned;) {
            size_t len = strcspn(line, "\n");
            char *text = brio_text("%.*s", (int)len, line),
                 *name = brio_text("%.*s", (int)n, *set);
            if (strncmp(text, "brio", 4) == 0 && strstr(text, name)) {
                brio_progress_clear(t);
                fprintf(stderr, "%s\n", text);
                t->warned = true;
            }
            free(text);
            free(name);
            line += len + (line[len] == '\n');
        }
    }
}

static double limit_of(const struct brio_tune *t)
{
    return t->limit > 0 ? t->limit : t->slowest > 0 ? 10 + 20 * t->slowest : 0;
}

static enum brio_trial_end run_one(struct brio_tune *t, size_t at)
{
    char **set = environment(t, at);
    struct brio_trial trial = {.argv = t->line.word,
                               .set = set,
                               .match = t->match_text ? &t->match : NULL,
                               .limit = at == 0 ? t->limit : limit_of(t)};
    struct brio_trial_result result;
    enum brio_trial_end how = brio_trial_run(&trial, &result);
    if (how == BRIO_TRIAL_DONE && at == 0 && result.took > t->slowest)
        t->slowest = result.took;
    if (how != BRIO_TRIAL_INTERRUPTED) {
        double value = how == BRIO_TRIAL_DONE ? result.value : -1;
        add_run(t, at, value);
        if (!brio_journal_add(t->journal, t->name[at], value))
            brio_say("tune: %s: %s", t->journal_path, strerror(errno));
        pass_on_warnings(t, result.said ? result.said : "", set);
    }
    if (how == BRIO_TRIAL_FAILED) {
        brio_progress_clear(t);
        fprintf(stderr, "brio: tune: %s: %s\n", t->name[at], result.why);
        if (at == 0 && result.said)
            fprintf(stderr, "%s\n", result.said);
    }
    for (char **s = set; *s; s++)
        free(*s);
    free(set);
    free(result.said);
    return how;
}

/* 0, or the command's exit code. */
static int search(struct brio_tune *t)
{
    size_t at, left;
    t->done = t->recalled;
    while (brio_search_next(&t->search, t->sample, &at, &left)) {
        brio_progress_show(t, at, left);
        enum brio_trial_end how = run_one(t, at);
        if (how == BRIO_TRIAL_INTERRUPTED) {
            brio_progress_clear(t);
            brio_say("tune: interrupted after %zu runs; the same command goes on", t->done);
            return 130;
        }
        t->done++;
        brio_progress_ran(t, at);
        if (at == 0 && how == BRIO_TRIAL_FAILED) {
            brio_say("tune: the program fails with the default settings: nothing to compare; "
                     "--fresh tries again");
            return 1;
        }
    }
    brio_progress_clear(t);
    return 0;
}

/* ---- The command --------------------------------------------------------------------------
 */

static int list(const struct brio_tune *t)
{
    for (size_t i = 1; i < t->search.n; i++)
        puts(t->name[i]);
    return 0;
}

static void release(struct brio_tune *t)
{
    for (size_t i = 0; i < t->search.n && t->sample; i++) {
        free(t->sample[i].cost);
        free(t->name[i]);
    }
    free(t->sample);
    free(t->name);
    free(t->combination);
    free(t->line.word);
    free(t->journal_path);
    brio_space_free(&t->space);
    if (t->match_text)
        regfree(&t->match);
    if (t->journal)
        fclose(t->journal);
}

int brio_cmd_tune(int argc, char **argv)
{
    struct brio_tune t = {.search = {.repeats = 3, .seed = 1}};
    int code = brio_tune_options(&t, argc, argv);
    if (code == 0 && !load_space(&t))
        code = BRIO_EXIT_USAGE;
    if (code == 0 && t.list)
        code = list(&t);
    else if (code == 0) {
        code = open_journal(&t) ? search(&t) : 1;
        if (code == 0)
            code = brio_tune_report(&t);
    }
    release(&t);
    return code;
}
