/* The space that brio tune searches: settings with lists or ranges of values, and conditions
 * under which a setting matters. Pure.
 *
 *     fcoll          = static, dynamic, two_phase, individual
 *     cb_nodes       = 5..40 times 2         when fcoll != individual
 *     cb_buffer_size = 2m, 20m, 32m..128m
 */
#ifndef BRIO_CLI_SPACE_H
#define BRIO_CLI_SPACE_H

#include <stdbool.h>
#include <stddef.h>

/* The setting `of` has (or, with `unlike`, has not) one of the values. */
struct brio_condition {
    size_t of;
    bool unlike;
    char **value;
    size_t n;
};

struct brio_parameter {
    char *name;
    char **value;
    size_t n;
    struct brio_condition *when; /* all must hold */
    size_t nwhen;
};

struct brio_space {
    struct brio_parameter *parameter;
    size_t n;
};

enum {
    BRIO_SPACE_MOST = 100000, /* combinations */
    BRIO_SPACE_WHY = 200
};

/* False if it makes no sense; `why' says where and what. */
bool brio_space_parse(const char *text, struct brio_space *out, char why[BRIO_SPACE_WHY]);
void brio_space_free(struct brio_space *space);

/* All combinations that the conditions allow, each as space->n indices of values, -1 where the
 * setting does not matter: *out is to be freed. 0 if there are more than BRIO_SPACE_MOST. */
size_t brio_space_all(const struct brio_space *space, int **out);

/* "fcoll=static cb_nodes=5", or "default" if nothing is set. To be freed. */
char *brio_space_text(const struct brio_space *space, const int *combination);

#endif
