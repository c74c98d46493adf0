/* A reader for JSON by recursive descent (RFC 8259). */
#include "cli/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
    DEEPEST = 200 /* lists in lists: more would be an attack on the stack */
};

static const struct brio_json null = {.kind = BRIO_JSON_NULL};

struct reader {
    const char *begin, *at, *end;
    int depth;
    const char *wrong; /* what, once something is */
};

static void refuse(struct reader *r, const char *what)
{
    if (!r->wrong)
        r->wrong = what;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* ---- Texts ----------------------------------------------------------------------------- */

static bool take_hex(struct reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *d = r->at < r->end && *r->at ? strchr(digits, *r->at | 0x20) : NULL;
        if (!d || (*r->at < '0'))
            return false;
        *out = *out << 4 | (uint32_t)(d - digits);
        r->at++;
    }
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* Behind \u: one character, perhaps of two halves. Never U+0000, which would end the text. */
static char *read_unicode(struct reader *r, char *out)
{
    uint32_t c, low;
    if (!take_hex(r, &c) || c == 0) {
        refuse(r, "a bad \\u");
        return out;
    }
    if (c >= 0xd800 && c < 0xdc00) {
        if (!take_word(r, "\\u") || !take_hex(r, &low) || low < 0xdc00 || low > 0xdfff) {
            refuse(r, "half a character");
            return out;
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        refuse(r, "half a character");
    }
    return put_utf8(out, c);
}

static char *read_escape(struct reader *r, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : '\0';
    const char *found = c ? strchr(from, c) : NULL;
    if (c == 'u')
        return read_unicode(r, out);
    if (!found)
        refuse(r, "a backslash before something strange");
    else
        *out++ = to[found - from];
    return out;
}

/* NULL, and refused, if it is none. */
static char *read_text(struct reader *r)
{
    if (!take(r, '"')) {
        refuse(r, "a text in quotes is missing");
        return NULL;
    }
    /* An escape is never shorter than what it stands for. */
    const char *stop = r->at;
    while (stop < r->end && *stop != '"')
        stop += *stop == '\\' && stop + 1 < r->end ? 2 : 1;
    char *text = brio_memory((size_t)(stop - r->at) + 8), *out = text;
    while (r->at < r->end && *r->at != '"' && !r->wrong) {
        if ((unsigned char)*r->at < 0x20)
            refuse(r, "a bare control character in a text");
        else if (take(r, '\\'))
            out = read_escape(r, out);
        else
            *out++ = *r->at++;
    }
    *out = '\0';
    if (!take(r, '"'))
        refuse(r, "a text without end");
    return text;
}

/* ---- Values ---------------------------------------------------------------------------- */

static void read_value(struct reader *r, struct brio_json *v);

static void take_digits(struct reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    if (r->at == from)
        refuse(r, "a digit is missing");
}

static double read_number(struct reader *r)
{
    char digits[64];
    const char *from = r->at;
    take(r, '-');
    if (!take(r, '0'))
        take_digits(r);
    if (take(r, '.'))
        take_digits(r);
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '+'))
            take(r, '-');
        take_digits(r);
    }
    size_t n = (size_t)(r->at - from);
    if (n >= sizeof digits) {
        refuse(r, "a number too long");
        return 0;
    }
    memcpy(digits, from, n);
    digits[n] = '\0';
    return strtod(digits, NULL);
}

/* One more item; room for them is doubled when it is used up. */
static struct brio_json *grow(struct brio_json *v)
{
    if ((v->n & (v->n - 1)) == 0)
        v->item = brio_memory_again(v->item, (v->n ? 2 * v->n : 1) * sizeof *v->item);
    v->item[v->n] = null;
    return &v->item[v->n++];
}

/* The members of a list, or of an object, which have keys. */
static void read_items(struct reader *r, struct brio_json *v, char close)
{
    skip_space(r);
    if (take(r, close))
        return;
    do {
        struct brio_json *item = grow(v);
        skip_space(r);
        if (v->kind == BRIO_JSON_OBJECT) {
            item->key = read_text(r);
            skip_space(r);
            if (!take(r, ':'))
                refuse(r, "a colon is missing");
        }
        if (!r->wrong)
            read_value(r, item);
        skip_space(r);
    } while (!r->wrong && take(r, ','));
    if (!take(r, close))
        refuse(r, "a comma or the end of a list is missing");
}

static void read_value(struct reader *r, struct brio_json *v)
{
    skip_space(r);
    if (++r->depth > DEEPEST)
        refuse(r, "too many lists in lists");
    else if (take(r, '{')) {
        v->kind = BRIO_JSON_OBJECT;
        read_items(r, v, '}');
    } else if (take(r, '[')) {
        v->kind = BRIO_JSON_LIST;
        read_items(r, v, ']');
    } else if (r->at < r->end && *r->at == '"') {
        v->kind = BRIO_JSON_TEXT;
        v->text = read_text(r);
    } else if (take_word(r, "true")) {
        v->kind = BRIO_JSON_BOOL;
        v->number = 1;
    } else if (take_word(r, "false")) {
        v->kind = BRIO_JSON_BOOL;
    } else if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))) {
        v->kind = BRIO_JSON_NUMBER;
        v->number = read_number(r);
    } else if (!take_word(r, "null")) {
        refuse(r, r->at < r->end ? "no value" : "it ends too early");
    }
    r->depth--;
}

static int line_of(const struct reader *r)
{
    int line = 1;
    for (const char *c = r->begin; c < r->at; c++)
        line += *c == '\n';
    return line;
}

struct brio_json *brio_json_read(const char *text, size_t len, char why[BRIO_JSON_WHY])
{
    struct reader r = {.begin = text, .at = text, .end = text + len};
    struct brio_json *v = brio_memory(sizeof *v);
    *v = null;
    read_value(&r, v);
    skip_space(&r);
    if (r.at < r.end)
        refuse(&r, "something behind the end");
    if (!r.wrong)
        return v;
    snprintf(why, BRIO_JSON_WHY, "line %d: %s", line_of(&r), r.wrong);
    brio_json_free(v);
    return NULL;
}

struct brio_json *brio_json_parse(const char *text)
{
    char why[BRIO_JSON_WHY];
    return brio_json_read(text, strlen(text), why);
}

static void clear(struct brio_json *v)
{
    for (size_t i = 0; i < v->n; i++)
        clear(&v->item[i]);
    free(v->item);
    free(v->key);
    free(v->text);
}

void brio_json_free(struct brio_json *v)
{
    if (v)
        clear(v);
    free(v);
}

const struct brio_json *brio_json_get(const struct brio_json *v, const char *key)
{
    for (size_t i = 0; v && i < v->n; i++)
        if (v->item[i].key && strcmp(v->item[i].key, key) == 0)
            return &v->item[i];
    return &null;
}

const struct brio_json *brio_json_at(const struct brio_json *v, size_t i)
{
    return v && i < v->n ? &v->item[i] : &null;
}

const char *brio_json_text(const struct brio_json *v)
{
    return v->text ? v->text : "";
}

double brio_json_number(const struct brio_json *v)
{
    return v->kind == BRIO_JSON_NUMBER || v->kind == BRIO_JSON_BOOL ? v->number : NAN;
}
