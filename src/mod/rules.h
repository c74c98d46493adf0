/* Settings written in a file: lines `name = value`, below heads that say for which programs
 * and files they are meant. One form for the site's brio.conf, tuned profiles and ROMIO's
 * hint files. Pure: reading the file is core's. */
#ifndef BRIO_MOD_RULES_H
#define BRIO_MOD_RULES_H

#include "base/base.h"

/* [program=PATTERN file=PATTERN mount=DIR]: all that are given must fit; NULL: not given. */
struct brio_rule_head {
    const char *program; /* of the program's name, or of the script that it runs */
    const char *file;    /* of the whole path if it has a slash, else of the last part */
    const char *mount;   /* the file lies below it */
    bool wrong;          /* fits nothing */
};

struct brio_rule {
    const char *name, *value;
    int line; /* of the file, from 1 */
    int head; /* index; 0 fits always */
};

struct brio_rules {
    char *text; /* that all else points into */
    struct brio_rule *rule;
    size_t nrules;
    struct brio_rule_head *head;
    size_t nheads;
};

/* Called for every line that is not used, with the reason. */
typedef void brio_rules_complain(void *arg, int line, const char *why);

/* Never fails but for want of memory, whatever the bytes are. */
BRIO_ERR brio_rules_parse(const char *text, size_t len, brio_rules_complain *complain,
                          void *arg, struct brio_rules *out);
void brio_rules_free(struct brio_rules *rules);

/* What rules are looked up for. */
struct brio_subject {
    const char *program; /* name without directory; "" if not known */
    const char *script;  /* the same of its first argument; "" if there is none */
    const char *path;    /* of the file, absolute; "" for no file at all */
};

bool brio_rule_fits(const struct brio_rules *rules, const struct brio_rule *rule,
                    const struct brio_subject *subject);

#endif
