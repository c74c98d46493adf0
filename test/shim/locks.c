/* Preloaded into a program that uses Brio: a network file system, whose lock server is of the
 * kind that LOCK_SERVER says.
 *
 *   none    has no locks (ENOLCK)
 *   liar    grants every lock to everybody
 *   N       answers N calls of a process and then none any more
 *
 * LOCK_RANK is the rank of MPI_COMM_WORLD for which it is so; all if not set. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_meant(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *meant = getenv("LOCK_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return !meant || (rank && strcmp(rank, meant) == 0);
}

static int ask_server(const char *kind)
{
    static _Atomic int calls;
    if (strcmp(kind, "none") == 0) {
        errno = ENOLCK;
        return -1;
    }
    if (strcmp(kind, "liar") == 0)
        return 0;
    while (atomic_fetch_add(&calls, 1) >= atoi(kind))
        pause();
    return 1;
}

int fcntl(int fd, int command, ...)
{
    int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
    const char *kind = getenv("LOCK_SERVER");
    va_list args;
    va_start(args, command);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (command == F_OFD_SETLK && kind && is_meant()) {
        int answer = ask_server(kind);
        if (answer <= 0)
            return answer;
    }
    return real(fd, command, arg);
}

int statfs(const char *path, struct statfs *out)
{
    int (*real)(const char *, struct statfs *) =
        (int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs");
    int failed = real(path, out);
    if (!failed)
        out->f_type = 0x6969; /* NFS */
    return failed;
}
