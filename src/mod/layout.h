/* How a file is spread over servers: what fs finds out and fcache works with. */
#ifndef BRIO_MOD_LAYOUT_H
#define BRIO_MOD_LAYOUT_H

#include "base/base.h"

struct brio_layout {
    int nservers;    /* that the file is spread over; 1 if not striped */
    int first;       /* server of stripe 0 */
    brio_off stripe; /* bytes before the next server; 0 if not striped */
};

#endif
