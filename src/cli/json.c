/* A reader for JSON, and the writing of its texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

enum {
    DEEPEST = 64
};

static const struct brio_json null = {.kind = BRIO_JSON_NULL};

static const char *skip(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *read_value(const char *at, struct brio_json *v, int depth);

/* A character given by its number, as UTF-8; surrogates are not joined. */
static size_t put_code(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* From behind the first quote; NULL if there is no last one. */
static const char *read_text(const char *at, char **out)
{
    static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
    char *text = brio_memory(strlen(at) + 1);
    size_t n = 0;
    while (*at && *at != '"') {
        if (*at != '\\') {
            text[n++] = *at++;
            continue;
        }
        const char *known = at[1] ? strchr(from, at[1]) : NULL;
        unsigned code;
        if (known) {
            text[n++] = to[known - from];
            at += 2;
        } else if (at[1] == 'u' && sscanf(at + 2, "%4x", &code) == 1) {
            n += put_code(code, text + n);
            at += strlen(at) < 6 ? strlen(at) : 6;
        } else {
            break;
        }
    }
    text[n] = '\0';
    *out = text;
    return *at == '"' ? at + 1 : NULL;
}

static struct brio_json *grow(struct brio_json *v)
{
    v->item = brio_memory_again(v->item, (v->n + 1) * sizeof *v->item);
    v->item[v->n] = null;
    return &v->item[v->n++];
}

/* From behind the bracket. */
static const char *read_items(const char *at, struct brio_json *v, char end, int depth)
{
    at = skip(at);
    if (*at == end)
        return at + 1;
    for (;;) {
        struct brio_json *item = grow(v);
        if (v->kind == BRIO_JSON_OBJECT) {
            at = skip(at);
            at = *at == '"' ? read_text(at + 1, &item->key) : NULL;
            at = at ? skip(at) : NULL;
            at = at && *at == ':' ? at + 1 : NULL;
        }
        at = at ? read_value(at, item, depth + 1) : NULL;
        at = at ? skip(at) : NULL;
        if (!at || (*at != ',' && *at != end))
            return NULL;
        if (*at++ == end)
            return at;
    }
}

static const char *read_word(const char *at, struct brio_json *v)
{
    static const struct {
        const char *word;
        enum brio_json_kind kind;
        double number;
    } words[] = {
        {"null", BRIO_JSON_NULL, 0}, {"true", BRIO_JSON_BOOL, 1}, {"false", BRIO_JSON_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(at, words[i].word, strlen(words[i].word)) == 0) {
            v->kind = words[i].kind;
            v->number = words[i].number;
            return at + strlen(words[i].word);
        }
    char *end;
    v->kind = BRIO_JSON_NUMBER;
    v->number = strtod(at, &end);
    return end > at ? end : NULL;
}

static const char *read_value(const char *at, struct brio_json *v, int depth)
{
    at = skip(at);
    if (depth > DEEPEST)
        return NULL;
    if (*at == '{' || *at == '[') {
        v->kind = *at == '{' ? BRIO_JSON_OBJECT : BRIO_JSON_LIST;
        return read_items(at + 1, v, *at == '{' ? '}' : ']', depth);
    }
    if (*at == '"') {
        v->kind = BRIO_JSON_TEXT;
        return read_text(at + 1, &v->text);
    }
    return read_word(at, v);
}

static void clear(struct brio_json *v)
{
    for (size_t i = 0; i < v->n; i++)
        clear(&v->item[i]);
    free(v->item);
    free(v->key);
    free(v->text);
}

struct brio_json *brio_json_parse(const char *text)
{
    struct brio_json *v = brio_memory(sizeof *v);
    *v = null;
    const char *end = read_value(text, v, 0);
    if (end && !*skip(end))
        return v;
    brio_json_free(v);
    return NULL;
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

void brio_json_put(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        if ((unsigned char)*c < ' ')
            fprintf(out, "\\u%04x", (unsigned char)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}
