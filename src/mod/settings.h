/* Settings of one open file: text values by name and where each comes from, and the one way
 * to turn them into a module's struct. */
#ifndef BRIO_MOD_SETTINGS_H
#define BRIO_MOD_SETTINGS_H

#include <mpi.h>

#include "mod/hint.h"
#include "mod/module.h"

/* Where a value is from, the weakest first. */
enum brio_source {
    BRIO_FROM_DEFAULT,
    BRIO_FROM_SITE,    /* brio.conf */
    BRIO_FROM_PROFILE, /* tuned values */
    BRIO_FROM_ROMIO,   /* the file that ROMIO_HINTS names */
    BRIO_FROM_ENVIRONMENT,
    BRIO_FROM_INFO
};

struct brio_setting {
    const char *name, *value;
    enum brio_source source;
    const char *where; /* for messages: "environment", "info", "/etc/brio.conf:12" */
};

struct brio_settings;

BRIO_ERR brio_settings_new(struct brio_settings **out);
void brio_settings_free(struct brio_settings *s);

/* Complaints about values are made where this is true: on one rank of a file. */
void brio_settings_speak(struct brio_settings *s, bool speaks);
bool brio_settings_speaks(const struct brio_settings *s);

/* Call in rising precedence. A value from the same source under the same name is replaced;
 * one from a weaker source stays behind it, in case the new one turns out to be useless. */
BRIO_ERR brio_settings_set(struct brio_settings *s, const struct brio_setting *setting);

/* All BRIO_* of the environment for which `wanted` is true (the name is that of the setting) /
 * all keys of an info object (MPI_INFO_NULL: none), which was given to `where`. */
BRIO_ERR brio_settings_add_env(struct brio_settings *s, bool (*wanted)(const char *name));
BRIO_ERR brio_settings_add_info(struct brio_settings *s, MPI_Info info, const char *where);

/* All of them as bytes, to be sent and added elsewhere. The caller frees *out. */
BRIO_ERR brio_settings_pack(const struct brio_settings *s, char **out, size_t *len);
BRIO_ERR brio_settings_unpack(struct brio_settings *s, const char *bytes, size_t len);

/* The raw value, or NULL. */
const char *brio_settings_get(const struct brio_settings *s, const char *name);

/* Fills conf from the defaults of the table and then from what was set, by name or alias.
 * A malformed value is named once on standard error and ignored, and so is one of two that
 * contradict each other. */
BRIO_ERR brio_settings_fill(const struct brio_settings *s, const struct brio_hint *hints,
                            void *conf);

/* The i-th, in rising precedence; false if there are no more. */
bool brio_settings_at(const struct brio_settings *s, size_t i, struct brio_setting *out);

/* The one that decides about a hint, among those that can be read; false if it is the
 * default. */
bool brio_settings_decisive(const struct brio_settings *s, const struct brio_hint *hint,
                            struct brio_setting *out);

#endif
