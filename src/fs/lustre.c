/* Lustre, through its kernel client: files of the operating system that are created with the
 * stripes that were asked for and can tell where their stripes are. Group locks are not used.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "fs/lov.h"
#include "fs/ufs.h"

#define LUSTRE_TYPE 0x0bd00bd0
/* Creates a file without choosing its servers yet. */
#define DELAY_CREATE (0100000000 | O_NOCTTY | FASYNC)
/* Chooses them; takes BRIO_LOV_WISH bytes, whatever size the number says. */
#define SET_STRIPE _IOW('f', 154, long)

static int query(const struct brio_facts *facts, const void *conf)
{
    (void)conf;
    if (((unsigned long)facts->fs_type & 0xffffffffu) == LUSTRE_TYPE)
        return brio_answer(60, "the file is on Lustre");
    if (strcmp(facts->prefix, "lustre") == 0)
        return brio_answer(60, "the name says lustre:");
    return brio_answer(-1, "%s is not Lustre", facts->fs_name);
}

/* The stripe as Lustre can have it. */
static brio_off round_stripe(brio_off wanted)
{
    const brio_off most = ((brio_off)1 << 32) - BRIO_LOV_GRAIN;
    brio_off stripe =
        brio_min((wanted + BRIO_LOV_GRAIN - 1) / BRIO_LOV_GRAIN * BRIO_LOV_GRAIN, most);
    if (stripe != wanted)
        brio_log(BRIO_WARN,
                 "striping_unit is %lld instead of %lld: Lustre's are multiples of "
                 "%d below 4 GiB",
                 (long long)stripe, (long long)wanted, BRIO_LOV_GRAIN);
    return stripe;
}

/* True if the file was not there and now is, with stripes if Lustre would have them. */
static bool create_striped(const struct brio_fs_open *how)
{
    unsigned char wish[BRIO_LOV_WISH];
    int perm = how->perm < 0 ? 0666 : how->perm;
    if ((perm & 0600) != 0600) /* it could not be opened a second time */
        return false;
    int fd = open(how->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | DELAY_CREATE, perm);
    if (fd < 0)
        return false; /* it is there already, or the open that follows says why */
    brio_lov_encode(how->nservers, round_stripe(how->stripe), wish);
    if (ioctl(fd, SET_STRIPE, wish))
        brio_log(BRIO_WARN, "%s: Lustre does not stripe it over %d servers by %lld bytes: %s",
                 how->path, how->nservers, (long long)how->stripe, strerror(errno));
    close(fd);
    return true;
}

static BRIO_ERR open_file(const struct brio_fs_open *how, const void *conf, void **self,
                          struct brio_store *store)
{
    struct brio_fs_open plain = *how;
    bool asked = how->nservers > 0 || how->stripe > 0;
    if (asked && how->create && how->amode & MPI_MODE_CREATE && create_striped(how))
        plain.create = false;
    return brio_ufs_open(&plain, conf, self, store);
}

static BRIO_ERR layout(void *self, struct brio_layout *out)
{
    void *value;
    brio_layout_plain(out);
    enum brio_err err = brio_calloc(1, BRIO_LOV_MAX, &value);
    if (err)
        return err;
    ssize_t n = fgetxattr(brio_ufs_fd(self), "lustre.lov", value, BRIO_LOV_MAX);
    if (n < 0) {
        brio_log(BRIO_NOTE, "no layout from Lustre: %s", strerror(errno));
    } else if (brio_lov_decode(value, (size_t)n, out)) {
        brio_log(BRIO_NOTE, "%s: the file is taken as one piece", brio_err_text());
        brio_layout_plain(out);
    }
    free(value);
    return BRIO_OK;
}

const struct brio_fs brio_fs_lustre = {
    .base = {.name = "lustre",
             .about = "files on Lustre: stripes as asked for, and where they are",
             .query = query},
    .open = open_file,
    .layout = layout,
    BRIO_UFS_SLOTS,
};
