/* The options of brio tune. */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/tune.h"

static bool number(const char *name, const char *word, long least, long *out)
{
    char *end;
    *out = strtol(word, &end, 10);
    if (end != word && !*end && *out >= least)
        return true;
    brio_say("tune: %s takes a number of at least %ld, not `%s'", name, least, word);
    return false;
}

static bool take_search(struct brio_tune *t, const char *word)
{
    static const char *const names[] = {"exhaustive", "random", "halving"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0) {
            t->search.kind = (enum brio_search_kind)i;
            return true;
        }
    brio_say("tune: --search takes exhaustive, random or halving, not `%s'", word);
    return false;
}

static bool take_match(struct brio_tune *t, const char *word)
{
    char why[200];
    int code = regcomp(&t->match, word, REG_EXTENDED | REG_NEWLINE);
    if (code != 0) {
        regerror(code, &t->match, why, sizeof why);
        brio_say("tune: --match `%s': %s", word, why);
        return false;
    }
    t->match_text = word;
    return true;
}

/* One without a value. */
static bool take_switch(struct brio_tune *t, const char *word)
{
    const struct {
        const char *name;
        bool *on;
    } all[] = {{"--larger", &t->larger},
               {"--command", &t->as_is},
               {"--fresh", &t->fresh},
               {"--list", &t->list},
               {"--no-profile", &t->no_profile}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(word, all[i].name) == 0) {
            *all[i].on = true;
            return true;
        }
    return false;
}

/* One with a value: 1, 0 if it is none of these, -1 if the value is wrong. */
static int take_value(struct brio_tune *t, const char *word, char *value)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"--program", &t->program},
                 {"--file", &t->file},
                 {"--mount", &t->mount},
                 {"--profile", &t->profile}};
    long n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(word, texts[i].name) == 0) {
            *texts[i].text = value;
            return 1;
        }
    bool good;
    if (strcmp(word, "--search") == 0)
        return take_search(t, value) ? 1 : -1;
    if (strcmp(word, "--match") == 0)
        return take_match(t, value) ? 1 : -1;
    if (strcmp(word, "--journal") == 0) {
        free(t->journal_path);
        t->journal_path = brio_copy(value);
        return 1;
    }
    if (strcmp(word, "--trials") == 0) {
        good = number(word, value, 1, &n);
        t->search.trials = (size_t)n;
    } else if (strcmp(word, "--repeats") == 0) {
        good = number(word, value, 1, &n);
        t->search.repeats = (size_t)n;
    } else if (strcmp(word, "--seed") == 0) {
        good = number(word, value, 0, &n);
        t->search.seed = (uint64_t)n;
    } else if (strcmp(word, "--limit") == 0) {
        good = number(word, value, 1, &n);
        t->limit = (double)n;
    } else {
        return 0;
    }
    return good ? 1 : -1;
}

static int take_options(struct brio_tune *t, int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        if (take_switch(t, argv[i])) {
            i++;
            continue;
        }
        int taken = i + 1 < argc ? take_value(t, argv[i], argv[i + 1]) : 0;
        if (taken == 0)
            brio_say("tune: %s is no option with a value that could be used; see `brio help "
                     "tune'; the launcher's options go behind SPACE",
                     argv[i]);
        if (taken <= 0)
            return -1;
        i += 2;
    }
    return i;
}

/* The program among the words for brio run, and for an interpreter its script. */
static const char *find_program(const struct brio_tune *t)
{
    char **word = t->command;
    while (!t->as_is && *word && (*word)[0] == '-') {
        bool mpi = strcmp(*word, "--mpi") == 0, over = strcmp(*word, "--") == 0;
        int values = mpi ? 1 : over ? 0 : brio_option_find(*word)->values;
        for (int i = 0; i <= values && *word; i++)
            word++;
        if (over)
            break;
    }
    const char *name = *word ? *word : "", *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    if (*word && strncmp(name, "python", 6) == 0 && word[1] && word[1][0] != '-') {
        slash = strrchr(word[1], '/');
        return slash ? slash + 1 : word[1];
    }
    return name;
}

static void build_line(struct brio_tune *t)
{
    if (!t->as_is) {
        brio_words_add(&t->line, "/proc/self/exe");
        brio_words_add(&t->line, "run");
    }
    for (char **word = t->command; *word; word++)
        brio_words_add(&t->line, *word);
}

int brio_tune_options(struct brio_tune *t, int argc, char **argv)
{
    int i = take_options(t, argc, argv);
    if (i < 0)
        return BRIO_EXIT_USAGE;
    if (i >= argc || (i + 1 >= argc && !t->list)) {
        brio_say("tune: %s; see `brio help tune'",
                 i >= argc ? "no SPACE, the file of settings" : "no program");
        return BRIO_EXIT_USAGE;
    }
    t->space_path = argv[i];
    t->command = argv + i + 1;
    if (t->search.kind == BRIO_SEARCH_RANDOM && t->search.trials == 0)
        t->search.trials = 20;
    if (!t->program && !t->file && !t->mount)
        t->program = find_program(t);
    if (t->larger && !t->match_text) {
        brio_say("tune: --larger is for a number that --match finds");
        return BRIO_EXIT_USAGE;
    }
    build_line(t);
    return 0;
}
