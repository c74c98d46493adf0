/* brio_counter: the counters of a file, for programs. */
#include "mpi/entry.h"

__attribute__((visibility("default"))) int brio_counter(MPI_File fh, const char *name,
                                                        long long *value)
{
    struct brio_file *f = brio_from_handle(fh);
    if (!f)
        return brio_leave(fh, BRIO_EFILE);
    if (!name || !value)
        return brio_leave(fh, brio_no_room(name ? "value" : "name"));
    int64_t found = 0;
    enum brio_err err = brio_file_counter(f, name, &found);
    *value = found;
    return brio_leave(fh, err);
}
