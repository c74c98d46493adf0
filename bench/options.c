/* The options of the benchmark program: two tables, the program's and the workload's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char program[] = "brio bench";

/* Where the option's value is kept; NULL if there is no such option. */
static const char **find(struct options *o, const char *name, size_t len)
{
    for (int t = 0; t < 2; t++)
        for (int i = 0; o->table[t] && o->table[t][i].name; i++)
            if (strlen(o->table[t][i].name) == len &&
                strncmp(o->table[t][i].name, name, len) == 0)
                return &o->value[t][i];
    return NULL;
}

static bool add_hint(struct options *o, const char *word)
{
    if (!strchr(word, '=') || *word == '=') {
        fprintf(stderr, "%s: a hint is NAME=VALUE, not `%s'\n", program, word);
        return false;
    }
    if (o->nhints == OPTIONS_MAX) {
        fprintf(stderr, "%s: more than %d hints\n", program, OPTIONS_MAX);
        return false;
    }
    o->hint[o->nhints++] = word;
    return true;
}

bool options_parse(struct options *o, int argc, char **argv)
{
    for (int t = 0; t < 2; t++)
        for (int i = 0; o->table[t] && o->table[t][i].name; i++)
            o->value[t][i] = o->table[t][i].usual;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        size_t len = strcspn(word, "=");
        const char **value = NULL;
        if (strncmp(word, "--hint=", 7) == 0) {
            if (!add_hint(o, word + 7))
                return false;
            continue;
        }
        if (strncmp(word, "--", 2) == 0)
            value = find(o, word + 2, len - 2);
        if (!value) {
            fprintf(stderr, "%s: cannot use `%s'\n", program, word);
            return false;
        }
        *value = word[len] ? word + len + 1 : "yes";
    }
    return true;
}

void options_help(const struct option_entry *table)
{
    for (; table && table->name; table++)
        printf("  --%s=%s\n        %s\n", table->name, table->usual, table->help);
}

const char *option_text(const struct options *o, const char *name)
{
    struct options *look = (struct options *)o;
    const char **value = find(look, name, strlen(name));
    return value ? *value : "";
}

void option_set(struct options *o, const char *name, const char *value)
{
    const char **place = find(o, name, strlen(name));
    if (place)
        *place = value;
}

bool option_is(const struct options *o, const char *name, const char *value)
{
    return strcmp(option_text(o, name), value) == 0;
}

bool option_flag(const struct options *o, const char *name)
{
    return option_is(o, name, "yes");
}

bool option_one_of(const struct options *o, const char *name, const char *words)
{
    const char *value = option_text(o, name);
    size_t len = strlen(value);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == len && strncmp(at, value, n) == 0)
            return true;
        at += n;
    }
    fprintf(stderr, "%s: --%s takes one of: %s; not `%s'\n", program, name, words, value);
    return false;
}

enum access option_access(const struct options *o)
{
    if (!option_one_of(o, "access", "coll indep pieces"))
        exit(2);
    return option_is(o, "access", "coll")    ? ACCESS_COLLECTIVE
           : option_is(o, "access", "indep") ? ACCESS_INDEPENDENT
                                             : ACCESS_PIECES;
}

static _Noreturn void refuse(const char *name, const char *value, const char *want)
{
    fprintf(stderr, "%s: --%s takes %s, not `%s'\n", program, name, want, value);
    exit(2);
}

/* A number with k, m or g, ended by a comma or the end. */
static long long number(const char *name, const char *text, const char **end)
{
    static const char want[] = "numbers from 0, with k, m or g";
    char *stop;
    errno = 0;
    long long n = strtoll(text, &stop, 10);
    int shift = 0;
    if (*stop == 'k' || *stop == 'K')
        shift = 10;
    if (*stop == 'm' || *stop == 'M')
        shift = 20;
    if (*stop == 'g' || *stop == 'G')
        shift = 30;
    if (stop == text || errno || n < 0 || n > (1ll << 60) >> shift)
        refuse(name, text, want);
    stop += shift > 0;
    if (*stop && *stop != ',')
        refuse(name, text, want);
    *end = stop;
    return n << shift;
}

long long option_number(const struct options *o, const char *name)
{
    const char *end;
    long long n = number(name, option_text(o, name), &end);
    if (*end)
        refuse(name, option_text(o, name), "one number");
    return n;
}

int option_list(const struct options *o, const char *name, long long *out)
{
    const char *at = option_text(o, name);
    int n = 0;
    for (;; at++) {
        if (n == LIST_MAX)
            refuse(name, option_text(o, name), "at most 64 numbers");
        out[n++] = number(name, at, &at);
        if (!*at)
            return n;
    }
}

bool option_word(const struct options *o, const char *name, int i, char *out, size_t size)
{
    const char *at = option_text(o, name);
    for (; i > 0 && *at; i--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    size_t len = strcspn(at, ",");
    if (len == 0 || len >= size)
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

int option_words(const struct options *o, const char *name)
{
    char word[64];
    int n = 0;
    while (option_word(o, name, n, word, sizeof word))
        n++;
    return n;
}
