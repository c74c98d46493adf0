/* What `brio calibrate` measures of a mount: speeds by size of access, for one process and for
 * all cores, written and read. Printed, and kept beside the saturation points, one file for
 * each mount. */
#ifndef BRIO_CLI_CURVES_H
#define BRIO_CLI_CURVES_H

#include <stdbool.h>
#include <stdio.h>

#include "fs/mount.h"

enum {
    BRIO_CURVE_SIZES = 14, /* 4 KiB << 0 .. 13 */
    BRIO_CURVE_PASSES = 3,
    BRIO_CURVES = 4 /* writes and reads by one process, writes and reads by all */
};

struct brio_speeds {
    bool write;
    int procs;
    double speed[BRIO_CURVE_SIZES][BRIO_CURVE_PASSES]; /* bytes per second; 0: not measured */
    double best[BRIO_CURVE_SIZES];
    int disturbed; /* sizes whose passes differ by 30 % and more */
    size_t k;      /* bytes, 0: none */
};

/* All that is known of one mount. */
struct brio_measured {
    struct brio_speeds curve[BRIO_CURVES];
    double ring[2][2]; /* scattered reads of 64 KiB, bytes per second: from the disk and from
                          memory, by plain calls and by io_uring; 0: not measured */
    bool direct;       /* accesses went past the cache; else each write was synced */
    long long when;    /* seconds since 1970 */
};

size_t brio_curve_size(int i);

/* The speed by io_uring in percent of that by plain calls, 0 if it was not measured. */
int brio_measured_ring(const struct brio_measured *m, bool warm);

void brio_measured_print(const struct brio_measured *m, const struct brio_mount *mount);
/* `kept` is the file of the saturation points, or "". */
void brio_measured_json(FILE *out, const struct brio_measured *m,
                        const struct brio_mount *mount, const char *kept);

/* Beside `file`, the file of the saturation points; false if it cannot be, errno says why. */
bool brio_measured_keep(const char *file, const struct brio_measured *m,
                        const struct brio_mount *mount);
/* False if there is nothing on this mount, or nothing that can be read. */
bool brio_measured_recall(const char *file, const struct brio_mount *mount,
                          struct brio_measured *out);

#endif
