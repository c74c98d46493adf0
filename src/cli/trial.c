/* Signals are waited for, never handled: a child's end, the time that is over, and the user's
 * wish to stop all come through sigtimedwait. */
#include "cli/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
    KEPT = 1 << 20, /* bytes of output that are looked through, from its end */
    GRACE = 5       /* seconds between SIGTERM and SIGKILL */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void become(const struct brio_trial *t, int out, const sigset_t *mask)
{
    int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (char *const *set = t->set; *set; set++)
        putenv(*set);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(t->argv[0], (char *const *)t->argv);
    fprintf(stderr, "brio: cannot start %s: %s\n", t->argv[0], strerror(errno));
    _exit(BRIO_EXIT_NOT_FOUND);
}

/* The signal that comes next, 0 if none comes within the time (negative: no limit). */
static int await_signal(const sigset_t *set, double seconds)
{
    double until = now() + seconds;
    for (;;) {
        double rest = seconds < 0 ? 3600 : fmax(until - now(), 0);
        struct timespec t = {.tv_sec = (time_t)rest, .tv_nsec = (long)(1e9 * fmod(rest, 1))};
        int sig = sigtimedwait(set, NULL, &t);
        if (sig > 0)
            return sig;
        if (errno != EINTR && seconds >= 0 && now() >= until)
            return 0;
    }
}

/* Ends the program and all that it has started in its group: in order through brio run, which
 * passes the signal on (a launcher that gets it twice clears nothing up), or else by force. */
static void end(pid_t pid, const sigset_t *set, int *status)
{
    double until = now() + GRACE;
    kill(pid, SIGTERM);
    while (waitpid(pid, status, WNOHANG) == 0 && now() < until)
        await_signal(set, 0.1);
    kill(-pid, SIGKILL);
    waitpid(pid, status, 0);
}

/* Waits for the program; false if it had to be ended, with the reason in `sig`: a signal to
 * us, or 0 for the time. */
static bool await_end(const struct brio_trial *t, pid_t pid, const sigset_t *set, int *status,
                      int *sig)
{
    double until = now() + t->limit;
    for (;;) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        *sig = await_signal(set, t->limit > 0 ? fmax(until - now(), 0) : -1);
        if (*sig != SIGCHLD)
            break;
    }
    end(pid, set, status);
    return false;
}

static char *read_end(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    size_t n = size > KEPT ? KEPT : size > 0 ? (size_t)size : 0;
    char *text = calloc(1, n + 1);
    if (!text) {
        brio_say("out of memory");
        exit(1);
    }
    ssize_t got = pread(fd, text, n, size > KEPT ? size - KEPT : 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

bool brio_trial_number(const regex_t *match, const char *text, double *out)
{
    regmatch_t at[2];
    bool found = false;
    for (int flags = 0; *text && regexec(match, text, 2, at, flags) == 0; flags = REG_NOTBOL) {
        const char *digits = text + (at[1].rm_so >= 0 ? at[1].rm_so : at[0].rm_so);
        char *after;
        double value = strtod(digits, &after);
        if (after != digits) {
            *out = value;
            found = true;
        }
        text += at[0].rm_eo > 0 ? at[0].rm_eo : 1;
    }
    return found;
}

static enum brio_trial_end judge(const struct brio_trial *t, int status,
                                 struct brio_trial_result *r)
{
    if (WIFSIGNALED(status))
        snprintf(r->why, sizeof r->why, "ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(r->why, sizeof r->why, "exit code %d", WEXITSTATUS(status));
    else if (t->match && !brio_trial_number(t->match, r->said, &r->value))
        snprintf(r->why, sizeof r->why, "nothing that it prints fits the pattern");
    else if (t->match && !(r->value > 0 && isfinite(r->value)))
        snprintf(r->why, sizeof r->why, "the number %g cannot be compared", r->value);
    else
        return BRIO_TRIAL_DONE;
    return BRIO_TRIAL_FAILED;
}

static enum brio_trial_end run(const struct brio_trial *t, int out, const sigset_t *set,
                               const sigset_t *old, struct brio_trial_result *r)
{
    int status = 0, sig = 0;
    double begin = now();
    pid_t pid = fork();
    if (pid == 0)
        become(t, out, old);
    if (pid < 0) {
        snprintf(r->why, sizeof r->why, "cannot fork: %s", strerror(errno));
        return BRIO_TRIAL_FAILED;
    }
    setpgid(pid, pid);
    bool ended = await_end(t, pid, set, &status, &sig);
    r->value = r->took = now() - begin;
    r->said = read_end(out);
    if (ended)
        return judge(t, status, r);
    if (sig)
        return BRIO_TRIAL_INTERRUPTED;
    snprintf(r->why, sizeof r->why, "not done after %.1f seconds", t->limit);
    return BRIO_TRIAL_FAILED;
}

/* What is waited for stays blocked from the first run on, for the time between runs; the
 * program gets the mask of before. */
static void block(sigset_t *set, sigset_t *old)
{
    static sigset_t before;
    static bool blocked;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    if (!blocked)
        sigprocmask(SIG_BLOCK, set, &before);
    blocked = true;
    *old = before;
}

enum brio_trial_end brio_trial_run(const struct brio_trial *t, struct brio_trial_result *out)
{
    sigset_t set, old;
    *out = (struct brio_trial_result){.value = 0};
    int fd = memfd_create("brio-tune", MFD_CLOEXEC);
    if (fd < 0) {
        snprintf(out->why, sizeof out->why, "no memory for its output: %s", strerror(errno));
        return BRIO_TRIAL_FAILED;
    }
    fcntl(fd, F_SETFL, O_APPEND);
    block(&set, &old);
    enum brio_trial_end how = run(t, fd, &set, &old, out);
    close(fd);
    return how;
}
