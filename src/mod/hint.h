/* One setting: text to value and back. */
#ifndef BRIO_MOD_HINT_H
#define BRIO_MOD_HINT_H

#include "mod/module.h"

/* Puts the value into its field of conf; false, and nothing changed, if the text is not a
 * value of that kind and range. */
bool brio_hint_parse(const struct brio_hint *hint, const char *text, void *conf);

/* Says on standard error that a value is not used and what would be; once per value. */
void brio_hint_complain(const struct brio_hint *hint, const char *name, const char *value,
                        const char *origin);

/* The value in force, as text, for MPI_File_get_info and `brio info`. */
void brio_hint_show(const struct brio_hint *hint, const void *conf, char *out, size_t size);

/* A number that is equal on two ranks if all values of hints marked `same` are equal there. */
uint64_t brio_hints_hash_same(const struct brio_hint *hints, const void *conf);

#endif
