/* Runs a command and keeps the beginning of what it prints. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static void become(const char *const *argv, int out, bool errors)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    if (!errors)
        dup2(null, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    unsetenv("LD_PRELOAD");
    execv(argv[0], (char *const *)argv);
    _exit(BRIO_EXIT_NOT_FOUND);
}

static size_t read_some(int fd, char *out, size_t size)
{
    size_t have = 0;
    char rest[512]; /* read on when full: the command must not die of a closed pipe */
    for (;;) {
        bool full = have == size;
        ssize_t got = read(fd, full ? rest : out + have, full ? sizeof rest : size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return have;
        if (!full)
            have += (size_t)got;
    }
}

static bool output_of(const char *const *argv, bool errors, char *out, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become(argv, ends[1], errors);
    close(ends[1]);
    size_t have = pid > 0 ? read_some(ends[0], out, size - 1) : 0;
    close(ends[0]);
    out[have] = '\0';
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool brio_output_of(const char *const *argv, char *out, size_t size)
{
    return output_of(argv, false, out, size);
}

bool brio_output_and_errors_of(const char *const *argv, char *out, size_t size)
{
    return output_of(argv, true, out, size);
}
