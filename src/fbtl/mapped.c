/* Writing many small pieces through a shared mapping: the processor stores the data bytes
 * and nothing else, so that, unlike read-modify-write, it needs no lock against others who
 * write between them. Blocks of the file are had before the first store, by a call that
 * fails where a store would be a signal. What remains is the case that someone truncates the
 * file in the middle of an access, which MPI forbids and other programs should not do. */
#include "fbtl/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lane/sieve.h"
#include "type/pack.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

bool brio_mapped_reach(const struct brio_port *to, const struct brio_io *io, brio_off hi)
{
    brio_off at = brio_map_offset(io->mem, io->mem_pos + io->bytes - 1);
    if (pwrite(to->fd, (const char *)io->buf + at, 1, hi - 1) != 1)
        return false;
    brio_count_call(to->stats, BRIO_WRITE, hi - 1, 1, to->block);
    return true;
}

/* Saves a quarter of the time of a first write on ext4. The file system may not know how, or be
 * full: populate tells. */
void brio_mapped_allocate(const struct brio_port *to, brio_off lo, brio_off hi)
{
    struct stat st;
    if (fstat(to->fd, &st) == 0 && st.st_blocks < st.st_size / 512)
        (void)fallocate(to->fd, FALLOC_FL_KEEP_SIZE, lo, hi - lo);
}

/* All pages present and writable, or an error. Large pages where the system has them and the
 * window covers them: a first write takes half the time then, but twenty times as long where
 * the system makes a large page and can map only small parts of it, each at the whole's cost.
 */
static bool populate(void *map, size_t len, brio_off start)
{
    int failed;
    if (start % BRIO_LARGE_PAGE == 0 && len > BRIO_LARGE_PAGE - 4096)
        (void)madvise(map, len, MADV_HUGEPAGE);
    do
        failed = madvise(map, len, MADV_POPULATE_WRITE);
    while (failed && (errno == EINTR || errno == EAGAIN));
    return !failed;
}

bool brio_mapped_write(const struct brio_port *to, const struct brio_io *io, brio_off lo,
                       brio_off hi)
{
    struct brio_cursor file, mem;
    brio_off page = sysconf(_SC_PAGESIZE);
    brio_off start = lo - lo % page;
    size_t len = (size_t)(hi - start);
    if (!brio_mapped_reach(to, io, hi)) /* a mapping goes only to the end of the file */
        return false;
    brio_mapped_allocate(to, start, hi);
    void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, to->fd, start);
    if (map == MAP_FAILED)
        return false;
    bool good = populate(map, len, start);
    if (good) {
        brio_cursor_init(&file, io->file, io->pos);
        brio_cursor_init(&mem, io->mem, io->mem_pos);
        /* Where offset 0 of the pattern would be mapped; a number, for it may be nowhere. */
        uintptr_t origin = (uintptr_t)map + (uintptr_t)(io->base - start);
        brio_copy((void *)origin, &file, io->buf, &mem, io->bytes);
        brio_count(to->stats, BRIO_N_MAPPED, 1);
        brio_count(to->stats, BRIO_N_MAPPED_BYTES, io->bytes);
    }
    munmap(map, len);
    return good;
}
