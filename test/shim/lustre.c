/* Preloaded, it makes files below LOOK_ALIKE_ROOT look like files on Lustre: the number from
 * statfs, the ioctl that sets stripes, and the attribute that tells them. The wish is kept in
 * an attribute of the file; the servers are made up. It shows what Brio asks Lustre and what it
 * makes of the answers, and nothing about Lustre. LOOK_ALIKE_LOG gets a line for each request.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SHOWN          __attribute__((visibility("default")))
#define WISH_ATTRIBUTE "user.look_alike"

static int is_ours(const char *path)
{
    const char *root = getenv("LOOK_ALIKE_ROOT");
    return root && strncmp(path, root, strlen(root)) == 0;
}

static int is_ours_fd(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    return is_ours(path);
}

static void note(const char *fmt, ...)
{
    const char *name = getenv("LOOK_ALIKE_LOG");
    FILE *f = name ? fopen(name, "a") : NULL;
    if (!f)
        return;
    va_list args;
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
    fclose(f);
}

SHOWN int statfs(const char *path, struct statfs *out)
{
    int (*real)(const char *, struct statfs *);
    *(void **)&real = dlsym(RTLD_NEXT, "statfs");
    int failed = real(path, out);
    if (!failed && is_ours(path))
        out->f_type = 0x0BD00BD0;
    return failed;
}

SHOWN int fstatfs(int fd, struct statfs *out)
{
    int (*real)(int, struct statfs *);
    *(void **)&real = dlsym(RTLD_NEXT, "fstatfs");
    int failed = real(fd, out);
    if (!failed && is_ours_fd(fd))
        out->f_type = 0x0BD00BD0;
    return failed;
}

SHOWN int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, ...);
    va_list args;
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (request != 0x4008669aUL || !is_ours_fd(fd)) {
        *(void **)&real = dlsym(RTLD_NEXT, "ioctl");
        return real(fd, request, arg);
    }
    uint32_t magic, stripe;
    uint16_t count;
    memcpy(&magic, arg, 4);
    memcpy(&stripe, (char *)arg + 24, 4);
    memcpy(&count, (char *)arg + 28, 2);
    note("set magic %x stripe %u count %u\n", magic, stripe, count);
    if (magic != 0x0BD10BD0 || stripe % 65536 || getenv("LOOK_ALIKE_REFUSES")) {
        errno = EINVAL;
        return -1;
    }
    return fsetxattr(fd, WISH_ATTRIBUTE, arg, 32, 0);
}

SHOWN ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    ssize_t (*real)(int, const char *, void *, size_t);
    unsigned char wish[32];
    uint16_t count;
    *(void **)&real = dlsym(RTLD_NEXT, "fgetxattr");
    if (strcmp(name, "lustre.lov") != 0 || !is_ours_fd(fd))
        return real(fd, name, value, size);
    note("get\n");
    if (real(fd, WISH_ATTRIBUTE, wish, sizeof wish) != sizeof wish) {
        errno = ENODATA;
        return -1;
    }
    memcpy(&count, wish + 28, 2);
    if (count == 0)
        count = 1;
    size_t need = 32 + (size_t)count * 24;
    if (size < need) {
        errno = ERANGE;
        return -1;
    }
    memset(value, 0, need);
    memcpy(value, wish, 32);
    memcpy((char *)value + 28, &count, 2);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t server = 40 + 3 * i;
        memcpy((char *)value + 32 + 24 * i + 20, &server, 4);
    }
    return (ssize_t)need;
}
