/* One contender's program: started by `brio run`, given its turns through a named pipe, read
 * line by line, ended when it takes too long. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"

enum {
    START_LIMIT = 60, /* seconds for a launcher to start the ranks */
    STOP_LIMIT = 5,   /* seconds from asking to killing */
    LINE_WORDS = 8
};

struct brio_bench_job {
    pid_t pid;
    int out;   /* what it prints */
    int turns; /* the pipe's end */
    int ranks; /* that wait at the pipe */
    bool open; /* `out` is not at its end */
    char *pipe, *errors, *file;
    char *tmp; /* launchers that start together stumble over each other's directories */
    int nranks;
    double slow; /* as the plan has it */
    char line[4096];
    size_t have;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* brio run ... brio-bench-<mpi> WORKLOAD ... */
static struct brio_words command(const struct brio_bench_plan *plan,
                                 const struct brio_bench_job *job, size_t slot, int from)
{
    const struct brio_contender *who = &plan->who[slot];
    struct brio_words w = {0};
    brio_words_add(&w, "/proc/self/exe");
    brio_words_add(&w, "run");
    brio_words_add(&w, "--mpi");
    brio_words_add(&w, brio_mpi_name(who->mpi));
    if (!who->brio)
        brio_words_add(&w, "--without");
    brio_words_add(&w, "-n");
    brio_words_add(&w, brio_text("%d", plan->ranks));
    if (who->io) {
        brio_words_add(&w, "--mca");
        brio_words_add(&w, "io");
        brio_words_add(&w, who->io);
    }
    for (size_t i = 0; i < plan->launch.n; i++)
        brio_words_add(&w, plan->launch.word[i]);
    brio_words_add(&w, brio_place_bench(who->mpi));
    brio_words_add(&w, plan->workload);
    for (size_t i = 0; i < plan->args.n; i++)
        brio_words_add(&w, plan->args.word[i]);
    for (size_t i = 0; i < who->args.n; i++)
        brio_words_add(&w, who->args.word[i]);
    brio_words_add(&w, brio_text("--reps=%d", plan->reps));
    brio_words_add(&w, brio_text("--from=%d", from));
    brio_words_add(&w, brio_text("--file=%s", job->file));
    brio_words_add(&w, brio_text("--turns=%s", job->pipe));
    return w;
}

/* Ranks are to find the files slow; LD_PRELOAD cannot hold a path with a blank, a link can. */
static void slow_down(const struct brio_bench_job *job)
{
    char *link = brio_text("%s/delay.so", job->tmp), *us = brio_text("%.0f", job->slow);
    char *dir = brio_text("%.*s", (int)(strrchr(job->file, '/') - job->file), job->file);
    if (symlink(brio_place_delay(), link) != 0 && errno != EEXIST)
        brio_say("bench: cannot make %s: %s", link, strerror(errno));
    setenv("LD_PRELOAD", link, 1);
    setenv("DELAY_DIR", dir, 1);
    setenv("DELAY_US", us, 1);
}

static void become(const struct brio_words *w, const struct brio_bench_job *job, int out)
{
    int null = open("/dev/null", O_RDONLY);
    int err = open(job->errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    setenv("TMPDIR", job->tmp, 1);
    if (job->slow > 0)
        slow_down(job);
    setpgid(0, 0); /* a signal from the terminal is for brio bench, which ends all in order */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execv(w->word[0], (char *const *)w->word);
    _exit(BRIO_EXIT_NOT_FOUND);
}

static bool launch(struct brio_bench_job *job, const struct brio_words *w)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    job->pid = fork();
    if (job->pid == 0)
        become(w, job, ends[1]);
    close(ends[1]);
    job->out = ends[0];
    job->open = job->pid > 0;
    return job->pid > 0;
}

/* Splits at tabs, in place. */
static size_t split(char *line, char **word)
{
    size_t n = 0;
    while (n < LINE_WORDS) {
        word[n++] = line;
        line = n < LINE_WORDS ? strchr(line, '\t') : NULL;
        if (!line)
            break;
        *line++ = '\0';
    }
    return n;
}

/* The next line that is there already, without its end; NULL if there is none. */
static char *take_line(struct brio_bench_job *job, char *room)
{
    char *end = memchr(job->line, '\n', job->have);
    if (!end)
        return NULL;
    size_t len = (size_t)(end - job->line);
    memcpy(room, job->line, len);
    room[len] = '\0';
    job->have -= len + 1;
    memmove(job->line, end + 1, job->have);
    return room;
}

/* Reads lines until one begins with `last`. */
static enum brio_bench_turn read_until(struct brio_bench_job *job, const char *last,
                                       double limit, brio_bench_line *line, void *self)
{
    double end = now() + limit;
    char room[sizeof job->line], *word[LINE_WORDS];
    for (;;) {
        while (take_line(job, room)) {
            size_t n = split(room, word);
            if (strcmp(word[0], "node") == 0 && n > 1)
                job->ranks = atoi(word[1]);
            else if (line)
                line(self, word, n);
            if (strcmp(word[0], last) == 0)
                return BRIO_BENCH_DONE;
        }
        double left = end - now();
        if (left <= 0 || brio_bench_interrupted())
            return BRIO_BENCH_LATE;
        struct pollfd p = {.fd = job->out, .events = POLLIN};
        int ready = poll(&p, 1, left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (ready <= 0)
            continue;
        if (job->have == sizeof job->line)
            job->have = 0; /* no line of ours is so long */
        ssize_t got = read(job->out, job->line + job->have, sizeof job->line - job->have);
        if (got > 0) {
            job->have += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            job->open = false;
            return BRIO_BENCH_ENDED;
        }
    }
}

struct brio_bench_job *brio_bench_start(const struct brio_bench_plan *plan, size_t slot,
                                        int from)
{
    struct brio_bench_job *job = brio_memory(sizeof *job);
    memset(job, 0, sizeof *job);
    job->nranks = plan->ranks;
    job->slow = plan->slow;
    job->pipe = brio_text("%s/turns.%zu", brio_bench_scratch(), slot);
    job->errors = brio_text("%s/errors.%zu", brio_bench_scratch(), slot);
    job->file = brio_text("%s.%zu", plan->file, slot);
    job->tmp = brio_text("%s/tmp.%zu", brio_bench_scratch(), slot);
    job->turns = -1;
    if (mkdir(job->tmp, 0700) != 0 && errno != EEXIST)
        brio_say("bench: cannot make %s: %s", job->tmp, strerror(errno));
    if (mkfifo(job->pipe, 0600) != 0 || (job->turns = open(job->pipe, O_RDWR | O_CLOEXEC)) < 0)
        brio_say("bench: cannot make the pipe %s: %s", job->pipe, strerror(errno));
    struct brio_words w = command(plan, job, slot, from);
    if (job->turns < 0 || !launch(job, &w)) {
        brio_bench_stop(job, NULL);
        return NULL;
    }
    return job;
}

bool brio_bench_ready(struct brio_bench_job *job)
{
    return read_until(job, "node", START_LIMIT, NULL, NULL) == BRIO_BENCH_DONE;
}

enum brio_bench_turn brio_bench_turn(struct brio_bench_job *job, double limit,
                                     brio_bench_line *line, void *self)
{
    for (int i = 0; i < job->ranks; i++)
        if (write(job->turns, "t", 1) != 1)
            return BRIO_BENCH_ENDED;
    return read_until(job, "turn", limit, line, self);
}

static bool ended(struct brio_bench_job *job, double limit)
{
    double end = now() + limit;
    int status;
    while (waitpid(job->pid, &status, WNOHANG) == 0) {
        if (now() > end)
            return false;
        struct timespec nap = {.tv_nsec = 20000000};
        nanosleep(&nap, NULL);
    }
    return true;
}

/* The first line that is the program's own, not its launcher's; NULL if there is none. */
static char *show_errors(const char *path)
{
    static const char own[] = "brio bench: ";
    char text[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (n > 0)
        fwrite(text, 1, n, stderr);
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *line = strstr(text, own);
    if (!line)
        return NULL;
    line += sizeof own - 1;
    return brio_text("%.*s", (int)strcspn(line, "\n"), line);
}

void brio_bench_finish(struct brio_bench_job *job)
{
    if (job)
        read_until(job, "end of output", START_LIMIT, NULL, NULL);
    brio_bench_stop(job, NULL);
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    (void)where;
    return remove(path);
}

void brio_bench_stop(struct brio_bench_job *job, char **why)
{
    if (!job)
        return;
    if (job->turns >= 0)
        close(job->turns); /* ranks that wait for a turn see its end */
    if (job->pid > 0 && (job->open || !ended(job, STOP_LIMIT))) {
        kill(job->pid, SIGTERM);
        if (!ended(job, STOP_LIMIT)) {
            kill(-job->pid, SIGKILL);
            ended(job, STOP_LIMIT);
        }
    }
    if (job->out > 0)
        close(job->out);
    if (why)
        *why = show_errors(job->errors);
    nftw(job->tmp, remove_entry, 8, FTW_DEPTH | FTW_PHYS); /* a launcher that was killed */
    unlink(job->pipe);
    unlink(job->errors);
    unlink(job->file);
    for (int i = 0; i < job->nranks; i++) {
        char *own = brio_text("%s.%d", job->file, i);
        unlink(own);
        free(own);
    }
    free(job->pipe);
    free(job->errors);
    free(job->tmp);
    free(job->file);
    free(job);
}
