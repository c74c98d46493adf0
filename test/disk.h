/* The bytes of a file by system calls. With BRIO_TEST_DIRECT set, past the caches of this node,
 * which a network file system need not keep alike: whole blocks, and sizes asked anew. */
#ifndef BRIO_TEST_DISK_H
#define BRIO_TEST_DISK_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What was written is with the servers, for other nodes; a close alone may return before. */
static inline void hand_over(int fd)
{
    if (getenv("BRIO_TEST_DIRECT"))
        fsync(fd);
}

/* -1 if there is no such file. */
static inline int64_t size_on_disk(const char *path)
{
    struct statx st;
    int how = getenv("BRIO_TEST_DIRECT") ? AT_STATX_FORCE_SYNC : 0;
    return statx(AT_FDCWD, path, how, STATX_SIZE, &st) == 0 ? (int64_t)st.stx_size : -1;
}

/* `len` bytes of the file at `at`; what is not there comes as 0xEE. */
static inline void load_file(const char *path, int64_t at, void *buf, size_t len)
{
    enum {
        BLOCK = 4096
    };
    (void)size_on_disk(path); /* or the kernel may end the reads at an old length */
    int fd = open(path, O_RDONLY | (getenv("BRIO_TEST_DIRECT") ? O_DIRECT : 0));
    int64_t lo = at / BLOCK * BLOCK, have = 0;
    int64_t all = (at + (int64_t)len - lo + BLOCK - 1) / BLOCK * BLOCK;
    char *blocks = aligned_alloc(BLOCK, (size_t)all + BLOCK);
    if (!blocks)
        abort();
    memset(blocks, 0xEE, (size_t)all);
    for (ssize_t n = 1; fd >= 0 && have < all && n > 0; have += n > 0 ? n : 0)
        n = pread(fd, blocks + have, (size_t)(all - have), lo + have);
    memcpy(buf, blocks + (at - lo), len);
    free(blocks);
    if (fd >= 0)
        close(fd);
}

#endif
