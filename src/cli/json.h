/* JSON as a tree, read strictly: what is not exactly JSON is refused. */
#ifndef BRIO_CLI_JSON_H
#define BRIO_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

enum brio_json_kind {
    BRIO_JSON_NULL,
    BRIO_JSON_BOOL,
    BRIO_JSON_NUMBER,
    BRIO_JSON_TEXT,
    BRIO_JSON_LIST,
    BRIO_JSON_OBJECT
};

struct brio_json {
    enum brio_json_kind kind;
    char *key;              /* in an object, else NULL */
    char *text;             /* of a text */
    double number;          /* of a number; 1 or 0 of a bool */
    struct brio_json *item; /* of a list or an object */
    size_t n;
};

enum {
    BRIO_JSON_WHY = 120
};

/* The whole text as one value; NULL if it is not JSON, and then `why` says what is wrong in
 * which line. */
struct brio_json *brio_json_read(const char *text, size_t len, char why[BRIO_JSON_WHY]);
struct brio_json *brio_json_parse(const char *text); /* without asking why */
void brio_json_free(struct brio_json *v);

/* A member by its key, an item by its place; a null if there is none, so that questions can be
 * asked one behind the other. */
const struct brio_json *brio_json_get(const struct brio_json *v, const char *key);
const struct brio_json *brio_json_at(const struct brio_json *v, size_t i);
const char *brio_json_text(const struct brio_json *v); /* "" if it is none */
double brio_json_number(const struct brio_json *v);    /* NaN if it is none */

#endif
