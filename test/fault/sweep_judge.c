/* Holds what the calls said against what is in the files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/torture.h"

/* The whole file in memory; *size is -1 if there is none. */
static char *read_whole(const char *name, off_t *size)
{
    struct stat st;
    int fd = open(name, O_RDONLY);
    *size = -1;
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *all = malloc((size_t)st.st_size + 1);
    off_t got = 0;
    while (got < st.st_size) {
        ssize_t n = pread(fd, all + got, (size_t)(st.st_size - got), got);
        if (n <= 0)
            break;
        got += n;
    }
    close(fd);
    *size = got;
    return all;
}

/* How many of the first n bytes of the step's buffer are in the file where they belong. */
static int bytes_true(const struct step *s, const char *all, off_t size, int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Offset at = s->at.base + i / s->at.block * s->at.stride + i % s->at.block;
        if (at >= size || all[at] != s->buf[i])
            return i;
    }
    return n;
}

static int judge_data(struct record *r, const struct step *s, const char *all, off_t size)
{
    int before = r->wrong;
    if (s->bytes < 0 || s->bytes > s->len) {
        torture_complain(r, "%s claims %lld of %d bytes", s->name, (long long)s->bytes, s->len);
        return r->wrong - before;
    }
    int there = bytes_true(s, all, size, (int)s->bytes);
    if (there < s->bytes)
        torture_complain(r, "%s claims %lld bytes, %d are %s", s->name, (long long)s->bytes,
                         there, s->write ? "in the file" : "the file's");
    if (s->write && s->code == MPI_SUCCESS && s->bytes != s->len)
        torture_complain(r, "%s: success with %lld of %d bytes", s->name, (long long)s->bytes,
                         s->len);
    return r->wrong - before;
}

static int judge_shared(struct record *r, const struct step *s, const char *all, off_t size)
{
    int found = 0, before = r->wrong;
    for (off_t at = 0; at + s->len <= size; at++)
        found += memcmp(all + at, s->buf, (size_t)s->len) == 0;
    if (s->code == MPI_SUCCESS && (found != 1 || s->bytes != s->len))
        torture_complain(r,
                         "%s: success, %lld bytes claimed, its record is %d times in the file",
                         s->name, (long long)s->bytes, found);
    if (s->code != MPI_SUCCESS && s->bytes == s->len && found == 0)
        torture_complain(r, "%s failed and claims a record that is not in the file", s->name);
    return r->wrong - before;
}

int torture_judge(const char *path, const struct record *record)
{
    char name[600];
    off_t plain_size, shared_size;
    struct record mine = {0};
    snprintf(name, sizeof name, "%s.plain", path);
    char *plain = read_whole(name, &plain_size);
    snprintf(name, sizeof name, "%s.shared", path);
    char *shared = read_whole(name, &shared_size);
    int lies = 0;
    for (int i = 0; i < record->n; i++) {
        const struct step *s = &record->steps[i];
        if (s->data)
            lies += judge_data(&mine, s, plain, plain_size);
        else if (s->buf)
            lies += judge_shared(&mine, s, shared, shared_size);
    }
    free(plain);
    free(shared);
    return lies;
}
