/* How fast accesses of one size are, by one or several processes, past all caches as far as the
 * file system lets us. */
#ifndef BRIO_CLI_MEASURE_H
#define BRIO_CLI_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    BRIO_MEASURE_PROCESSES = 64 /* at most */
};

/* Files in a directory, one for each process; already without a name, so that nothing is left
 * of them whatever happens. */
struct brio_measure {
    int nprocs;
    int fd[BRIO_MEASURE_PROCESSES];
    size_t file_bytes; /* of each */
    bool direct;       /* O_DIRECT; else each write is followed by fdatasync */
    void *shared;      /* what the processes tell each other */
};

/* False, and said, if it cannot be done there. */
bool brio_measure_open(struct brio_measure *m, const char *dir, int nprocs, size_t file_bytes);
void brio_measure_close(struct brio_measure *m);

/* Bytes per second of the first n processes together, each with accesses of `size` bytes, for
 * about so many seconds, at least one access; a negative number, and said, if one failed. */
double brio_measure_run(struct brio_measure *m, bool write, int n, size_t size, double seconds);

#endif
