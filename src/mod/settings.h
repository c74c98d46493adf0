/* Settings of one open file: text values by name, from the environment and the user's info
 * object, and the one way to turn them into a module's struct. */
#ifndef BRIO_MOD_SETTINGS_H
#define BRIO_MOD_SETTINGS_H

#include <mpi.h>

#include "mod/hint.h"
#include "mod/module.h"

struct brio_settings; /* name -> (value, where from) */

BRIO_ERR brio_settings_new(struct brio_settings **out);
void brio_settings_free(struct brio_settings *s);

/* Later ones win over earlier ones: call in rising precedence. `origin` is what a complaint
 * names ("environment", "info"). A value for a name that is already there replaces it. */
BRIO_ERR brio_settings_set(struct brio_settings *s, const char *name, const char *value,
                           const char *origin);

/* All BRIO_* of the environment / all keys of an info object (MPI_INFO_NULL: none). */
BRIO_ERR brio_settings_add_env(struct brio_settings *s);
BRIO_ERR brio_settings_add_info(struct brio_settings *s, MPI_Info info);

/* The raw value, or NULL. */
const char *brio_settings_get(const struct brio_settings *s, const char *name);

/* Fills conf from the defaults of the table and then from what was set, by name or alias.
 * A malformed value is named once on standard error and ignored. */
BRIO_ERR brio_settings_fill(const struct brio_settings *s, const struct brio_hint *hints,
                            void *conf);

/* Calls fn for every name that is set. */
void brio_settings_each(const struct brio_settings *s,
                        void (*fn)(void *arg, const char *name, const char *value,
                                   const char *origin),
                        void *arg);

#endif
