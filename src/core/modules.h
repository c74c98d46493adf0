/* Choosing and joining the modules of a file. */
#ifndef BRIO_CORE_MODULES_H
#define BRIO_CORE_MODULES_H

#include "core/file.h"

/* One framework, on this rank alone. */
BRIO_ERR brio_module_select(struct brio_file *f, enum brio_framework framework);

/* Collective: all but fcoll and fcache; every rank has made the same choice if it succeeds. */
BRIO_ERR brio_modules_select(struct brio_file *f);

/* Collective. Joins fbtl, cache, fcache and sharedfp behind an opened store, whose layout is
 * the same on all ranks; `mine` is how that went here. The shared pointer begins at `start`. */
BRIO_ERR brio_modules_open(struct brio_file *f, const struct brio_layout *layout,
                           enum brio_err mine, brio_off start);

/* Accesses go to the cache, or through the file's guard if it has one. */
void brio_modules_join(struct brio_file *f);

/* Closes whatever is open; safe on a file that was never opened. */
enum brio_err brio_modules_close(struct brio_file *f);

/* The fcoll that a file had before, until all agree on the new one. */
struct brio_former {
    struct brio_chosen chosen;
    void *fcoll;
    bool atomic;
    bool stays; /* it is still in use, or nothing has come of the change */
};

/* Collective with every change of the view: fcoll is chosen anew. Where the choice and its
 * settings are the same it stays open, with all plans it has made, unless the atomicity is
 * another. What fails here is not yet agreed on, and changes nothing; brio_modules_viewed must
 * follow, whatever is returned. */
BRIO_ERR brio_modules_view(struct brio_file *f, struct brio_former *former);

/* The new fcoll stays and the former one goes, or, if some rank failed, the other way round. */
void brio_modules_viewed(struct brio_file *f, struct brio_former *former, bool agreed);

/* Equal on all ranks if they have made the same choices, with the same settings where
 * these must be the same. */
int64_t brio_modules_hash(const struct brio_file *f);

/* The same for the settings as they would be taken up anew. */
BRIO_ERR brio_modules_preview(struct brio_file *f, int64_t *hash);

#endif
