/* Parsing and showing one setting by its line in the table. */
#include "mod/hint.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"

static void *field(const struct brio_hint *hint, const void *conf)
{
    return (char *)(uintptr_t)conf + hint->offset;
}

/* A word of a space-separated list, or -1. */
static int word_index(const char *words, const char *text)
{
    size_t len = strlen(text);
    int index = 0;
    for (const char *at = words; at && *at; at += strspn(at, " "), index++) {
        size_t word = strcspn(at, " ");
        if (word == len && strncasecmp(at, text, len) == 0)
            return index;
        at += word;
    }
    return -1;
}

static bool parse_bool(const char *text, bool *out)
{
    if (word_index("true enable enabled yes on 1", text) >= 0)
        *out = true;
    else if (word_index("false disable disabled no off 0", text) >= 0)
        *out = false;
    else
        return false;
    return true;
}

static bool parse_number(const struct brio_hint *hint, const char *text, brio_off *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || errno)
        return false;
    if (hint->kind == BRIO_HINT_BYTES && *end) {
        int shift = (word_index("k m g t", (char[]){*end, 0}) + 1) * 10;
        if (shift == 0)
            return false;
        end++;
        if (*end == 'i')
            end++;
        if (*end == 'b' || *end == 'B')
            end++;
        brio_off unit = (brio_off)1 << shift, scaled;
        if (!brio_mul(n, unit, &scaled))
            return false;
        n = scaled;
    }
    brio_off max = hint->min == 0 && hint->max == 0 ? BRIO_OFF_MAX : hint->max;
    if (*end || n < hint->min || n > max)
        return false;
    *out = n;
    return true;
}

bool brio_hint_parse(const struct brio_hint *hint, const char *text, void *conf)
{
    void *at = field(hint, conf);
    bool yes;
    switch (hint->kind) {
    case BRIO_HINT_BYTES:
    case BRIO_HINT_INT:
        return parse_number(hint, text, at);
    case BRIO_HINT_BOOL:
        return parse_bool(text, at);
    case BRIO_HINT_SWITCH:
        if (word_index("automatic auto", text) >= 0)
            *(enum brio_switch *)at = BRIO_AUTO;
        else if (parse_bool(text, &yes))
            *(enum brio_switch *)at = yes ? BRIO_ON_ALWAYS : BRIO_OFF_NEVER;
        else
            return false;
        return true;
    case BRIO_HINT_CHOICE: {
        int index = word_index(hint->choices, text);
        if (index < 0)
            return false;
        *(int *)at = index;
        return true;
    }
    case BRIO_HINT_TEXT:
        if (strlen(text) >= BRIO_HINT_MAX)
            return false;
        strcpy(at, text);
        return true;
    }
    return false;
}

bool brio_hint_is(const struct brio_hint *hint, const char *name)
{
    if (strcmp(hint->name, name) == 0)
        return true;
    size_t len = strlen(name);
    for (const char *at = hint->aliases; at && *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, name, len) == 0)
            return true;
        at += word;
    }
    return false;
}

/* Remembers what has been said, so that a thousand opens say it once. */
static bool first_time(uint64_t hash)
{
    enum {
        KEPT = 256
    };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t said[KEPT];
    static size_t n;
    bool fresh = true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n && i < KEPT && fresh; i++)
        fresh = said[i] != hash;
    if (fresh)
        said[n++ % KEPT] = hash;
    pthread_mutex_unlock(&lock);
    return fresh;
}

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

bool brio_is_news(const char *text)
{
    return first_time(hash_text(0xcbf29ce484222325u, text));
}

void brio_warn_once(const char *fmt, ...)
{
    char line[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (brio_is_news(line))
        brio_log(BRIO_WARN, "%s", line);
}

void brio_hint_complain(const struct brio_hint *hint, const char *name, const char *value,
                        const char *where)
{
    static const char *const wanted[] = {
        [BRIO_HINT_BYTES] = "a number of bytes",
        [BRIO_HINT_INT] = "a number",
        [BRIO_HINT_BOOL] = "true or false",
        [BRIO_HINT_SWITCH] = "enable, disable or automatic",
        [BRIO_HINT_CHOICE] = "one of these words",
        [BRIO_HINT_TEXT] = "a shorter text",
    };
    char range[64] = "";
    if (hint->min || hint->max)
        snprintf(range, sizeof range, " from %lld to %lld", (long long)hint->min,
                 (long long)hint->max);
    brio_warn_once("%s (from %s): \"%s\" is not used; it takes %s%s%s%s", name, where, value,
                   wanted[hint->kind], range, hint->choices ? ": " : "",
                   hint->choices ? hint->choices : "");
}

void brio_hint_contradiction(const char *name, const char *value, const char *other,
                             const char *where)
{
    brio_warn_once("%s=%s is not used: %s (from %s) says something else", name, value, other,
                   where);
}

void brio_hint_show(const struct brio_hint *hint, const void *conf, char *out, size_t size)
{
    static const char *const switches[] = {"disable", "enable", "automatic"};
    const void *at = field(hint, conf);
    const char *word = hint->choices;
    switch (hint->kind) {
    case BRIO_HINT_BYTES:
    case BRIO_HINT_INT:
        snprintf(out, size, "%lld", (long long)*(const brio_off *)at);
        break;
    case BRIO_HINT_BOOL:
        snprintf(out, size, "%s", *(const bool *)at ? "true" : "false");
        break;
    case BRIO_HINT_SWITCH:
        snprintf(out, size, "%s", switches[*(const enum brio_switch *)at]);
        break;
    case BRIO_HINT_CHOICE:
        for (int i = *(const int *)at; i > 0; i--) {
            word += strcspn(word, " ");
            word += strspn(word, " ");
        }
        snprintf(out, size, "%.*s", (int)strcspn(word, " "), word);
        break;
    case BRIO_HINT_TEXT:
        snprintf(out, size, "%s", (const char *)at);
        break;
    }
}

/* A value without its struct. */
union value {
    char text[BRIO_HINT_MAX];
    brio_off number;
};

static bool read_alone(const struct brio_hint *hint, const char *text, union value *out)
{
    struct brio_hint alone = *hint;
    alone.offset = 0;
    return brio_hint_parse(&alone, text, out);
}

bool brio_hint_readable(const struct brio_hint *hint, const char *text)
{
    union value value;
    return read_alone(hint, text, &value);
}

bool brio_hint_equal(const struct brio_hint *hint, const char *a, const char *b)
{
    struct brio_hint alone = *hint;
    union value x, y;
    char shown[2][BRIO_HINT_MAX];
    alone.offset = 0;
    if (!read_alone(hint, a, &x) || !read_alone(hint, b, &y))
        return false;
    brio_hint_show(&alone, &x, shown[0], sizeof shown[0]);
    brio_hint_show(&alone, &y, shown[1], sizeof shown[1]);
    return strcmp(shown[0], shown[1]) == 0;
}

uint64_t brio_hints_hash_same(const struct brio_hint *hints, const void *conf)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const struct brio_hint *hint = hints; hint && hint->name; hint++) {
        char value[BRIO_HINT_MAX];
        if (!hint->same)
            continue;
        brio_hint_show(hint, conf, value, sizeof value);
        hash = hash_text(hash_text(hash, hint->name), value);
    }
    return hash;
}
