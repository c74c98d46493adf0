/* What `brio calibrate` has found out about mounted file systems, and where it is kept: one
 * file of the user, one of the site; the user's goes first. */
#ifndef BRIO_FS_CALIBRATION_H
#define BRIO_FS_CALIBRATION_H

#include "fs/mount.h"
#include "mod/module.h"

/* What was measured of one mount. */
struct brio_calibration {
    /* The saturation points: the smallest access with which one process reaches full speed;
     * 0 if there is none. */
    brio_off k_write, k_read;
    long long when;           /* seconds since 1970 */
    int ring_cold, ring_warm; /* see struct brio_facts; 0: not measured */
};

/* The name of the file; false if there is no place for it (no home directory). */
bool brio_calibration_file(bool site, char *out, size_t size);

/* From that file; false if it has nothing on this mount. */
bool brio_calibration_read(const char *file, const struct brio_mount *mount,
                           struct brio_calibration *out);

/* Into that file, in place of what it had on this mount; nobody ever sees half a file. */
BRIO_ERR brio_calibration_write(const char *file, const struct brio_mount *mount,
                                const struct brio_calibration *c);

/* Fills in k_write, k_read, ring_cold and ring_warm. Costs nothing but two failed opens once
 * per process where nobody has calibrated anything; what is known of a mount is looked up once.
 */
void brio_calibration_lookup(const char *path, struct brio_facts *facts);

#endif
