/* Reads the file line by line into words, and counts through the combinations. */
#include "cli/space.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
    MOST_VALUES = 10000 /* of one setting */
};

/* A line in words; `=', `!=' are words, commas are none. */
struct line {
    int number;
    char **word;
    size_t n, at;
};

static bool say(char why[BRIO_SPACE_WHY], int line, const char *fmt, ...)
{
    va_list args;
    int n = snprintf(why, BRIO_SPACE_WHY, "line %d: ", line);
    va_start(args, fmt);
    vsnprintf(why + n, BRIO_SPACE_WHY - (size_t)n, fmt, args);
    va_end(args);
    return false;
}

static void add(char ***list, size_t *n, char *text)
{
    char **more = realloc(*list, (*n + 1) * sizeof *more);
    if (!more) {
        brio_say("out of memory");
        exit(1);
    }
    *list = more;
    more[(*n)++] = text;
}

static void drop(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

/* How long the word at `s` is. */
static size_t word_length(const char *s)
{
    if (*s == '"')
        return 1 + strcspn(s + 1, "\"\n") + (s[1 + strcspn(s + 1, "\"\n")] == '"');
    if (*s == '=')
        return 1;
    if (strncmp(s, "!=", 2) == 0)
        return 2;
    size_t n = 0;
    while (s[n] && !strchr(" \t\r\n,=#\"", s[n]) && strncmp(s + n, "!=", 2) != 0)
        n++;
    return n;
}

/* The words of the line at `text`; returns where the next one begins. */
static const char *split(const char *text, struct line *out)
{
    while (*text && *text != '\n' && *text != '#') {
        if (strchr(" \t\r,", *text)) {
            text++;
            continue;
        }
        size_t n = word_length(text);
        bool quoted = *text == '"' && n > 1;
        add(&out->word, &out->n,
            brio_text("%.*s", (int)(quoted ? n - 2 : n), text + (quoted ? 1 : 0)));
        text += n;
    }
    text += strcspn(text, "\n");
    return *text ? text + 1 : text;
}

static const char *peek(const struct line *line)
{
    return line->at < line->n ? line->word[line->at] : "";
}

static const char *take(struct line *line)
{
    const char *word = peek(line);
    line->at += line->at < line->n;
    return word;
}

/* ---- Values --------------------------------------------------------------------------- */

static const struct {
    char letter;
    int64_t bytes;
} units[] = {{'g', 1 << 30}, {'m', 1 << 20}, {'k', 1 << 10}};

/* A number with or without a unit; the rest of the word follows. */
static bool number(const char *word, int64_t *out, bool *unit, const char **rest)
{
    char *end;
    if (!isdigit((unsigned char)*word))
        return false;
    *out = strtoll(word, &end, 10);
    *unit = false;
    for (size_t i = 0; i < 3; i++)
        if (tolower((unsigned char)*end) == units[i].letter) {
            if (*out > INT64_MAX / units[i].bytes)
                return false;
            *out *= units[i].bytes;
            *unit = true;
            end++;
            break;
        }
    *rest = end;
    return true;
}

static char *write_number(int64_t value, bool unit)
{
    for (size_t i = 0; i < 3 && unit; i++)
        if (value % units[i].bytes == 0)
            return brio_text("%" PRId64 "%c", value / units[i].bytes, units[i].letter);
    return brio_text("%" PRId64, value);
}

/* FROM..TO [by STEP | times FACTOR]; sizes are doubled if nothing is said, numbers counted. */
static bool add_range(struct line *line, struct brio_parameter *p, char why[BRIO_SPACE_WHY])
{
    const char *word = take(line), *rest = "";
    int64_t from = 0, to = 0, step = 1;
    bool unit = false, other = false;
    if (!number(word, &from, &unit, &rest) || strncmp(rest, "..", 2) != 0 ||
        !number(rest + 2, &to, &other, &rest) || *rest || to < from)
        return say(why, line->number, "`%s' is no range", word);
    unit |= other;
    bool times = unit;
    step = times ? 2 : 1;
    if (strcmp(peek(line), "by") == 0 || strcmp(peek(line), "times") == 0) {
        times = strcmp(take(line), "times") == 0;
        const char *how = take(line);
        if (!number(how, &step, &other, &rest) || *rest || step < 1 + times)
            return say(why, line->number, "`%s' is no step", how);
    }
    if (times && from == 0)
        return say(why, line->number, "0 cannot be multiplied");
    for (int64_t value = from; value <= to; value = times ? value * step : value + step) {
        if (p->n == MOST_VALUES)
            return say(why, line->number, "more than %d values", MOST_VALUES);
        add(&p->value, &p->n, write_number(value, unit));
        if (value > INT64_MAX / step - step)
            break;
    }
    return true;
}

static bool ends_values(const char *word)
{
    return !*word || strcmp(word, "when") == 0 || strcmp(word, "and") == 0;
}

static bool read_values(struct line *line, struct brio_parameter *p, char why[BRIO_SPACE_WHY])
{
    while (!ends_values(peek(line))) {
        const char *word = peek(line);
        if (strcmp(word, "=") == 0 || strcmp(word, "!=") == 0)
            return say(why, line->number, "`%s' among the values", word);
        if (isdigit((unsigned char)*word) && strstr(word, "..")) {
            if (!add_range(line, p, why))
                return false;
        } else {
            add(&p->value, &p->n, brio_copy(take(line)));
        }
    }
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->value[i], p->value[k]) == 0)
                return say(why, line->number, "`%s' comes twice", p->value[i]);
    return p->n > 0 || say(why, line->number, "no values for `%s'", p->name);
}

/* ---- Conditions ----------------------------------------------------------------------- */

static bool find(const struct brio_space *s, const char *name, size_t *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->parameter[i].name, name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool has_value(char *const *value, size_t n, const char *want)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value[i], want) == 0)
            return true;
    return false;
}

static bool read_condition(const struct brio_space *s, struct line *line,
                           struct brio_condition *c, char why[BRIO_SPACE_WHY])
{
    const char *name = take(line), *how = take(line);
    if (!find(s, name, &c->of))
        return say(why, line->number, "`when %s': no setting of that name above", name);
    c->unlike = strcmp(how, "!=") == 0;
    if (!c->unlike && strcmp(how, "=") != 0)
        return say(why, line->number, "`when %s' needs = or !=", name);
    const struct brio_parameter *of = &s->parameter[c->of];
    while (!ends_values(peek(line))) {
        const char *word = take(line);
        if (!has_value(of->value, of->n, word))
            return say(why, line->number, "`%s' is none of the values of %s", word, name);
        add(&c->value, &c->n, brio_copy(word));
    }
    return c->n > 0 || say(why, line->number, "`when %s %s' what?", name, how);
}

static bool read_conditions(const struct brio_space *s, struct line *line,
                            struct brio_parameter *p, char why[BRIO_SPACE_WHY])
{
    if (line->at == line->n)
        return true;
    if (strcmp(take(line), "when") != 0)
        return say(why, line->number, "`and' without `when'");
    do {
        struct brio_condition *more = realloc(p->when, (p->nwhen + 1) * sizeof *more);
        if (!more)
            return say(why, line->number, "out of memory");
        p->when = more;
        more[p->nwhen++] = (struct brio_condition){.n = 0};
        if (!read_condition(s, line, &more[p->nwhen - 1], why))
            return false;
    } while (line->at < line->n && (take(line), true));
    return true;
}

/* ---- The file ------------------------------------------------------------------------- */

static void free_parameter(struct brio_parameter *p)
{
    for (size_t i = 0; i < p->nwhen; i++)
        drop(p->when[i].value, p->when[i].n);
    free(p->when);
    drop(p->value, p->n);
    free(p->name);
}

void brio_space_free(struct brio_space *space)
{
    for (size_t i = 0; i < space->n; i++)
        free_parameter(&space->parameter[i]);
    free(space->parameter);
    *space = (struct brio_space){.n = 0};
}

static bool read_line(struct brio_space *s, struct line *line, char why[BRIO_SPACE_WHY])
{
    struct brio_parameter p = {.n = 0};
    const char *name = take(line);
    size_t before;
    bool good = true;
    if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        good = say(why, line->number, "`%s' is no name of a setting", name);
    else if (find(s, name, &before))
        good = say(why, line->number, "`%s' for the second time", name);
    else if (strcmp(take(line), "=") != 0)
        good = say(why, line->number, "no `=' behind `%s'", name);
    p.name = brio_copy(name);
    good = good && read_values(line, &p, why) && read_conditions(s, line, &p, why);
    struct brio_parameter *more =
        good ? realloc(s->parameter, (s->n + 1) * sizeof *more) : NULL;
    if (good && !more)
        good = say(why, line->number, "out of memory");
    if (!good) {
        free_parameter(&p);
        return false;
    }
    s->parameter = more;
    more[s->n++] = p;
    return true;
}

bool brio_space_parse(const char *text, struct brio_space *out, char why[BRIO_SPACE_WHY])
{
    struct brio_space space = {.n = 0};
    bool good = true;
    for (int number = 1; *text && good; number++) {
        struct line line = {.number = number};
        text = split(text, &line);
        good = line.n == 0 || read_line(&space, &line, why);
        drop(line.word, line.n);
    }
    if (good && space.n == 0) {
        snprintf(why, BRIO_SPACE_WHY, "there is no setting in it");
        good = false;
    }
    if (good)
        *out = space;
    else
        brio_space_free(&space);
    return good;
}

/* ---- Combinations --------------------------------------------------------------------- */

static bool matters(const struct brio_space *s, size_t i, const int *combination)
{
    const struct brio_parameter *p = &s->parameter[i];
    for (size_t k = 0; k < p->nwhen; k++) {
        const struct brio_condition *c = &p->when[k];
        int at = combination[c->of];
        bool has = at >= 0 && has_value(c->value, c->n, s->parameter[c->of].value[at]);
        if (has == c->unlike)
            return false;
    }
    return true;
}

/* Goes on to the next value of the last setting that has one more; those behind begin anew.
 * `from` is the first that is not yet set. */
static bool advance(const struct brio_space *s, int *combination, size_t from)
{
    if (from == s->n) {
        while (from > 0) {
            int *at = &combination[from - 1];
            if (*at >= 0 && (size_t)*at + 1 < s->parameter[from - 1].n) {
                ++*at;
                break;
            }
            from--;
        }
        if (from == 0)
            return false;
    }
    for (; from < s->n; from++)
        combination[from] = matters(s, from, combination) ? 0 : -1;
    return true;
}

size_t brio_space_all(const struct brio_space *space, int **out)
{
    int *all = NULL, *now = calloc(space->n, sizeof *now);
    size_t n = 0, room = 0;
    bool more = now && advance(space, now, 0);
    for (; more && n <= BRIO_SPACE_MOST; more = advance(space, now, space->n)) {
        if (n == room) {
            room = room ? 2 * room : 64;
            int *larger = realloc(all, room * space->n * sizeof *all);
            if (!larger) {
                brio_say("out of memory");
                exit(1);
            }
            all = larger;
        }
        memcpy(all + n++ * space->n, now, space->n * sizeof *now);
    }
    free(now);
    if (n > BRIO_SPACE_MOST) {
        free(all);
        return 0;
    }
    *out = all;
    return n;
}

char *brio_space_text(const struct brio_space *space, const int *combination)
{
    char *text = brio_copy("");
    for (size_t i = 0; i < space->n; i++) {
        const struct brio_parameter *p = &space->parameter[i];
        if (combination[i] < 0)
            continue;
        char *longer =
            brio_text("%s%s%s=%s", text, *text ? " " : "", p->name, p->value[combination[i]]);
        free(text);
        text = longer;
    }
    if (*text)
        return text;
    free(text);
    return brio_copy("default");
}
