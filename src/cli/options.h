/* The options of the launchers, as far as brio run must know them. */
#ifndef BRIO_CLI_OPTIONS_H
#define BRIO_CLI_OPTIONS_H

#include "cli/cli.h"

enum brio_option_role {
    BRIO_OPTION_PLAIN,
    BRIO_OPTION_RANKS,  /* how many */
    BRIO_OPTION_HOSTS,  /* where: perhaps on other machines */
    BRIO_OPTION_PLACES, /* how ranks are mapped */
    BRIO_OPTION_SET,    /* a variable of the ranks' environment: NAME=VALUE or NAME VALUE */
    BRIO_OPTION_DIR     /* the working directory */
};

struct brio_option {
    const char *name; /* without dashes */
    int values;       /* words that follow it */
    enum brio_option_role role;
};

/* The entry for a word that begins with a dash; a stand-in without values if it is unknown
 * or brings its value with `='. */
const struct brio_option *brio_option_find(const char *word);

#endif
