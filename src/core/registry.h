/* Every module there is. A new one is one file and one line in registry.c, or a shared object
 * from outside. */
#ifndef BRIO_CORE_REGISTRY_H
#define BRIO_CORE_REGISTRY_H

#include "mod/module.h"

const struct brio_module *const *brio_registry(enum brio_framework framework, size_t *n);

#endif
