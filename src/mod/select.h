/* One selection for all frameworks: the highest priority wins, ties by name. */
#ifndef BRIO_MOD_SELECT_H
#define BRIO_MOD_SELECT_H

#include "mod/module.h"
#include "mod/settings.h"

/* A module that has been chosen for a file, with its settings filled in. */
struct brio_chosen {
    const struct brio_module *module;
    void *conf; /* module->conf_size bytes, ours; NULL if 0 */
    int priority;
    bool forced;
    char why[BRIO_WHY]; /* what the module says of its priority */
};

/* Asks one module: its settings, its priority, which may be -1, and its reason. */
BRIO_ERR brio_ask(const struct brio_module *module, const struct brio_facts *facts,
                  const struct brio_settings *s, struct brio_chosen *out);

/* Asks each of the n modules. If a setting of the framework's name names one, only that one
 * is asked; if it cannot serve, that is an error where the environment or the info object named
 * it, and another one is chosen where a file did. A name that no module has is not used. */
BRIO_ERR brio_select(enum brio_framework framework, const struct brio_module *const *modules,
                     size_t n, const struct brio_facts *facts, const struct brio_settings *s,
                     struct brio_chosen *out);
void brio_chosen_free(struct brio_chosen *chosen);

#endif
