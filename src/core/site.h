/* The files that settings are read from: the site's brio.conf, the system's and the user's
 * tuned profiles, ROMIO's hints. Each is read once per process and remembered. */
#ifndef BRIO_CORE_SITE_H
#define BRIO_CORE_SITE_H

#include "mod/settings.h"

/* Adds what the files say for a file of this name, opened by this program; NULL: for none in
 * particular. What is wrong in them is said on standard error, once. Not collective: rank 0
 * calls it for all. */
BRIO_ERR brio_site_add(struct brio_settings *s, const char *path);

/* The i-th place that is looked at, the weakest first, or NULL at the end. `found` tells
 * whether there is a file. For brio info: the name is good until the next call. */
const char *brio_site_place(size_t i, enum brio_source *source, bool *found);

/* Takes `name` for that of the program from now on. */
void brio_site_program(const char *name);

#endif
