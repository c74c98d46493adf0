/* Data whose every byte says where in the file it belongs, and in which repetition it was
 * written: a byte that is misplaced, stale or missing is seen. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum {
    SEED_SHIFT = 40 /* words of a file have smaller numbers */
};

static const uint64_t factor = 0x9e3779b97f4a7c15u; /* odd, so it has an inverse */

static uint64_t word_at(long long index, uint64_t seed)
{
    return ((uint64_t)index + (seed << SEED_SHIFT)) * factor;
}

static uint64_t inverse(void)
{
    uint64_t x = factor; /* right to 3 bits; each step doubles them */
    for (int i = 0; i < 5; i++)
        x *= 2 - factor * x;
    return x;
}

/* The bytes of the word at `off` that are within the next `len`. */
static long long part_of_word(long long off, long long len)
{
    long long n = 8 - off % 8;
    return n < len ? n : len;
}

void data_fill(void *buf, long long off, long long len, uint64_t seed)
{
    char *at = buf;
    for (long long n; len > 0; at += n, off += n, len -= n) {
        uint64_t word = word_at(off / 8, seed);
        n = part_of_word(off, len);
        if (n == 8)
            memcpy(at, &word, 8);
        else
            memcpy(at, (char *)&word + off % 8, (size_t)n);
    }
}

long long data_check(const void *buf, long long off, long long len, uint64_t seed)
{
    const char *at = buf;
    long long bad = 0;
    for (long long n; len > 0; at += n, off += n, len -= n) {
        uint64_t word = word_at(off / 8, seed);
        const char *want = (const char *)&word + off % 8;
        n = part_of_word(off, len);
        if (memcmp(at, want, (size_t)n) != 0)
            for (long long i = 0; i < n; i++)
                bad += at[i] != want[i];
    }
    return bad;
}

long long data_find(const void *buf, long long len, uint64_t seed)
{
    uint64_t back = inverse();
    for (int shift = 0; shift < 8 && shift + 8 <= len; shift++) {
        uint64_t word;
        memcpy(&word, (const char *)buf + shift, 8);
        uint64_t index = word * back - (seed << SEED_SHIFT);
        if (index >> SEED_SHIFT)
            continue;
        long long off = (long long)index * 8 - shift;
        if (off >= 0 && data_check(buf, off, len, seed) == 0)
            return off;
    }
    return -1;
}

void runs_fill(struct job *job, int call)
{
    char *at = job->buf;
    for (long long i = 0, len; i < job->nruns; i++, at += len) {
        long long off = job->run(job, call, i, &len);
        data_fill(at, off, len, job->seed);
    }
}

long long runs_check(struct job *job, int call)
{
    const char *at = job->buf;
    long long bad = 0;
    for (long long i = 0, len; i < job->nruns; i++, at += len) {
        long long off = job->run(job, call, i, &len);
        bad += data_check(at, off, len, job->seed);
    }
    return bad;
}

/* What is missing at the end counts as wrong. */
static long long check_part(int fd, long long from, long long to, uint64_t seed)
{
    enum {
        PIECE = 1 << 20
    };
    char *piece = need_memory(PIECE);
    long long bad = 0;
    while (from < to) {
        size_t want = to - from < PIECE ? (size_t)(to - from) : PIECE;
        ssize_t got = pread(fd, piece, want, (off_t)from);
        if (got <= 0)
            break;
        bad += data_check(piece, from, got, seed);
        from += got;
    }
    free(piece);
    return bad + to - from;
}

long long dense_verify(struct job *job)
{
    long long total = job->all;
    int fd = open(job->path, O_RDONLY);
    if (fd < 0)
        return total / nranks + 1;
    long long bad =
        check_part(fd, total / nranks * rank,
                   rank == nranks - 1 ? total : total / nranks * (rank + 1), job->seed);
    close(fd);
    return bad;
}
