/* Every name that a setting or a variable of the environment may have, over all modules. */
#ifndef BRIO_CORE_KNOWN_H
#define BRIO_CORE_KNOWN_H

#include "mod/settings.h"

/* The setting of that name or other spelling, or NULL. */
const struct brio_hint *brio_known_hint(const char *name);

/* Whether all ranks must have the same value: so with some settings, and the frameworks. */
bool brio_known_same(const char *name);

/* The names in settings that nobody knows, each said once on standard error. */
void brio_known_check(const struct brio_settings *s);

/* Variables that are no settings: BRIO_ and the name in capitals. Ends with name NULL. */
struct brio_variable {
    const char *name;
    const char *help;
};
extern const struct brio_variable brio_variables[];

#endif
