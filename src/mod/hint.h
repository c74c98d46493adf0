/* One setting: text to value and back. */
#ifndef BRIO_MOD_HINT_H
#define BRIO_MOD_HINT_H

#include "mod/module.h"

BRIO_DOOR_BEGIN

/* Puts the value into its field of conf; false, and nothing changed, if the text is not a
 * value of that kind and range. */
bool brio_hint_parse(const struct brio_hint *hint, const char *text, void *conf);

/* Whether the text is a value of that kind and range. */
bool brio_hint_readable(const struct brio_hint *hint, const char *text);

/* Whether two readable texts mean the same. */
bool brio_hint_equal(const struct brio_hint *hint, const char *a, const char *b);

/* Whether that is its name or one of its other spellings. */
bool brio_hint_is(const struct brio_hint *hint, const char *name);

/* Says on standard error that a value is not used and what would be; once per value. */
void brio_hint_complain(const struct brio_hint *hint, const char *name, const char *value,
                        const char *where);

/* Says, once, that the value of `name` is not used since `other`, from the same place, says
 * something else. */
void brio_hint_contradiction(const char *name, const char *value, const char *other,
                             const char *where);

/* True the first time that it is asked about this text. */
bool brio_is_news(const char *text);

/* A warning that is given once per process, however often there is reason to. */
void brio_warn_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The value in force, as text, for MPI_File_get_info and `brio info`. */
void brio_hint_show(const struct brio_hint *hint, const void *conf, char *out, size_t size);

/* A number that is equal on two ranks if all values of hints marked `same` are equal there. */
uint64_t brio_hints_hash_same(const struct brio_hint *hints, const void *conf);

BRIO_DOOR_END

#endif
