/* Modules from outside: shared objects on BRIO_MODULE_PATH. */
#ifndef BRIO_CORE_PLUGIN_H
#define BRIO_CORE_PLUGIN_H

#include "mod/module.h"

/* The i-th of a framework that is loaded, or NULL. `is_taken` tells whether there is a module
 * of a name already. Loads them all at the first call; they stay. */
const struct brio_module *brio_plugin_at(enum brio_framework framework, size_t i,
                                         bool (*is_taken)(enum brio_framework framework,
                                                          const char *name));

/* Says on standard error, once, which were refused and why. */
void brio_plugins_complain(void);

#endif
