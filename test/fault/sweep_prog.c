/* Runs the workload again and again while the preloaded shim (test/shim/fault.c) makes one
 * call of the library fail: the first, the second, and so on until there is none left to
 * fail. Without arguments all of the table; `once` runs the workload a single time with what
 * BRIO_FAULT says, for faults that only a fresh process can meet; `at SPEC RANK` repeats one
 * run of a sweep; else what to go through: FUNCTION or
 * FUNCTION:WHAT. */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault/torture.h"

int torture_rank, torture_nranks;

static bool (*arm)(const char *spec);
static long (*fired)(void);
static char current[100] = "no fault"; /* what is being tried, for messages */
static int complaints;
/* Calls of the workload that fail without any fault: none, unless BRIO_FCOLL forces a module
 * that has no atomic mode. */
static int usual;
static double budget = 100; /* seconds for all sweeps */
static int patience = 30;   /* seconds for one run; longer lets test/run show the stacks */
static volatile sig_atomic_t left; /* of them, while one is on */

enum nature {
    SILENT = 1,  /* the program must not notice */
    LOUD = 2,    /* some call must fail */
    REACHED = 4, /* the workload is known to make such a call */
    ONWARD = 8,  /* all calls from the n-th on fail */
};

struct trial {
    const char *function, *what;
    int nature;
    int most; /* n at most; 0: until it does not happen any more */
};

static const struct trial trials[] = {
    {"malloc", "ENOMEM", REACHED, 0},
    {"malloc", "ENOMEM", REACHED | ONWARD, 0},
    {"pwrite", "ENOSPC", REACHED, 0},
    {"pwrite", "ENOSPC", REACHED | ONWARD | LOUD, 0},
    {"pwrite", "EINTR", SILENT | REACHED, 0},
    {"pwrite", "short", SILENT | REACHED, 0},
    {"pwrite", "short", SILENT | REACHED | ONWARD, 3},
    {"pwrite", "zero", REACHED, 0},
    {"pwrite", "zero", REACHED | ONWARD | LOUD, 3},
    {"pwrite", "late", SILENT | REACHED, 3},
    {"pwritev", "ENOSPC", LOUD | REACHED, 0},
    {"pwritev", "EINTR", SILENT | REACHED, 0},
    {"pwritev", "short", SILENT | REACHED, 0},
    {"pwritev", "zero", REACHED, 0},
    {"pwritev", "zero", REACHED | ONWARD | LOUD, 3},
    {"pwritev", "late", SILENT | REACHED, 3},
    {"pread", "EIO", REACHED, 0},
    {"pread", "EIO", LOUD | REACHED | ONWARD, 0},
    {"pread", "EINTR", SILENT | REACHED, 0},
    {"pread", "short", SILENT | REACHED, 0},
    {"pread", "late", SILENT | REACHED, 3},
    {"preadv", "EIO", LOUD | REACHED, 0},
    {"preadv", "EINTR", SILENT | REACHED, 0},
    {"preadv", "short", SILENT | REACHED, 0},
    {"open", "EMFILE", REACHED, 0},
    {"open", "EACCES", REACHED, 0},
    {"close", "EIO", REACHED, 0},
    {"fcntl", "ENOLCK", REACHED, 0},
    {"fcntl", "EINTR", SILENT | REACHED, 0},
    {"fcntl", "late", SILENT | REACHED, 3},
    {"ftruncate", "ENOSPC", REACHED, 0},
    {"fallocate", "EOPNOTSUPP", SILENT | REACHED, 0},
    {"fallocate", "ENOSPC", REACHED, 0},
    {"fsync", "EIO", LOUD | REACHED, 0},
    {"stat", "EIO", REACHED, 0},
    {"statfs", "EIO", REACHED, 0},
    {"lseek", "EINVAL", 0, 0},
    {"mmap", "ENOMEM", SILENT, 0},
    {"mmap", "ENOMEM", ONWARD | SILENT, 2},
    {"madvise", "EFAULT", SILENT, 0},
    {"madvise", "EFAULT", ONWARD | SILENT, 2},
    {"memfd_create", "ENOSYS", 0, 0},
    {"pthread_create", "EAGAIN", 0, 0},
    {"pthread_mutex_init", "ENOMEM", 0, 0},
    {"pthread_cond_init", "ENOMEM", 0, 0},
};

enum {
    TRIALS = (int)(sizeof trials / sizeof trials[0])
};

void torture_complain(struct record *record, const char *fmt, ...)
{
    char line[400];
    int n = snprintf(line, sizeof line, "%s: rank %d: ", current, torture_rank);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    strcat(line, "\n");
    record->wrong++;
    if (++complaints <= 30)
        fputs(line, stderr);
}

/* A call that does not come back within this time never will. Time in which the process is
 * stopped, as all its peers may be, does not count: then of many seconds one signal is left. */
static void tick(int sig)
{
    char line[160];
    (void)sig;
    left--;
    if (left > 0) {
        alarm(1);
        return;
    }
    int n = snprintf(line, sizeof line, "%s: rank %d hangs\n", current, torture_rank);
    if (write(2, line, (size_t)n) < 0)
        _exit(4);
    _exit(3);
}

static void start_clock(void)
{
    left = patience;
    alarm(1);
}

static void crash(int sig)
{
    char line[160];
    int n = snprintf(line, sizeof line, "%s: rank %d: signal %d\n", current, torture_rank, sig);
    signal(sig, SIG_DFL);
    if (write(2, line, (size_t)n) > 0)
        raise(sig);
}

static int sum(int value)
{
    int all = 0;
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void remove_files(const char *path)
{
    static const char *const endings[] = {"plain", "shared", "converted"};
    char name[600];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; torture_rank == 0 && i < 3; i++) {
        snprintf(name, sizeof name, "%s.%s", path, endings[i]);
        unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What became of one run. All ranks know it. */
struct outcome {
    int fired;
    int failed; /* calls that failed, on all ranks */
    int wrong;
};

/* The workload once, with the fault on the victim only. Collective. */
static struct outcome run_once(const char *path, const char *spec, int victim)
{
    struct record record = {0};
    struct outcome out = {0};
    bool mine = spec && torture_rank == victim;
    int failed = 0, struck = 0;
    start_clock();
    if (mine && !arm(spec))
        torture_complain(&record, "cannot be armed");
    torture_work(path, &record);
    if (mine) {
        struck = (int)fired();
        arm(NULL);
    }
    for (int i = 0; i < record.n; i++) {
        const struct step *s = &record.steps[i];
        failed += s->code != MPI_SUCCESS;
        if (s->code != MPI_SUCCESS && !s->coll && spec && !mine)
            torture_complain(&record, "%s failed where there was no fault", s->name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int lies = torture_judge(path, &record);
    out.fired = sum(struck);
    out.failed = sum(failed);
    out.wrong = sum(record.wrong + lies);
    torture_forget(&record);
    remove_files(path);
    alarm(0);
    return out;
}

/* Without a fault everything works, whatever happened before. */
static int run_clean(const char *path)
{
    struct outcome out = run_once(path, NULL, 0);
    if (out.failed != usual || out.wrong) {
        if (torture_rank == 0)
            fprintf(stderr, "%s: afterwards %d calls failed\n", current, out.failed);
        return 1;
    }
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int judge_nature(const struct trial *t, const struct outcome *out)
{
    int bad = out->wrong != 0;
    const char *why = NULL;
    if ((t->nature & SILENT) && out->failed != usual)
        why = "calls failed, where none should have been disturbed";
    if ((t->nature & LOUD) && out->failed <= usual)
        why = "no call told of it";
    if (why && torture_rank == 0)
        fprintf(stderr, "%s: %s\n", current, why);
    return bad || why != NULL;
}

/* The next n: every one at first, then in growing steps, larger if time runs short. Rank 0
 * decides. */
static int next_n(int n, double start, double share)
{
    int step = n < 60 ? 1 : 1 + n / 40;
    if (now() - start > share / 2)
        step = 1 + n / 4;
    if (now() - start > share)
        step = 1 << 20;
    MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n + step;
}

/* n = 1, 2, ... on one rank. Returns the number of runs that went wrong; *reached is the last
 * call that a fault happened to. */
static int sweep(const char *path, const struct trial *t, int victim, double share,
                 int *reached)
{
    int bad = 0, runs = 0, failed = 0;
    double start = now();
    for (int n = 1; (!t->most || n <= t->most) && n < 1 << 20 && bad < 5;
         n = next_n(n, start, share)) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s:%d%s:%s", t->function, n, t->nature & ONWARD ? "+" : "",
                 t->what);
        snprintf(current, sizeof current, "%s on rank %d", spec, victim);
        struct outcome out = run_once(path, spec, victim);
        runs++;
        if (!out.fired)
            break;
        *reached = n;
        bad += judge_nature(t, &out);
        failed += out.failed > usual;
        if (out.failed > usual && runs % 8 == 1)
            bad += run_clean(path);
    }
    snprintf(current, sizeof current, "after %s:%s", t->function, t->what);
    if (failed)
        bad += run_clean(path);
    if (torture_rank == 0)
        printf("%s %s:%s%s on rank %d: %d runs, the last fault at call %d, %.1f s\n",
               bad ? "FAIL" : "ok", t->function, t->what,
               t->nature & ONWARD ? " from there on" : "", victim, runs, *reached,
               now() - start);
    fflush(stdout);
    return bad;
}

/* malloc is called most often by far: it gets half of the time. What nobody may notice needs
 * to happen on one rank only. */
static int sweep_all(const char *path, int argc, char **argv)
{
    int bad = 0;
    for (int i = 0; i < TRIALS; i++) {
        const struct trial *t = &trials[i];
        bool wanted = argc < 2;
        int reached[2] = {0};
        char whole[64];
        snprintf(whole, sizeof whole, "%s:%s", t->function, t->what);
        for (int a = 1; a < argc; a++)
            wanted = wanted || !strcmp(argv[a], t->function) || !strcmp(argv[a], whole);
        if (!wanted)
            continue;
        double share = budget / (strcmp(t->function, "malloc") == 0 ? 4 : 2 * TRIALS);
        if (torture_nranks == 1 || !(t->nature & SILENT))
            bad += sweep(path, t, 0, share, &reached[0]);
        if (torture_nranks > 1)
            bad += sweep(path, t, torture_nranks - 1, share, &reached[1]);
        if ((t->nature & REACHED) && !reached[0] && !reached[1]) {
            bad++;
            if (torture_rank == 0)
                fprintf(stderr, "%s was never called\n", t->function);
        }
    }
    return bad;
}

/* One run with a fault that a sweep complained about. */
static int run_at(const char *path, const char *spec, int victim)
{
    snprintf(current, sizeof current, "%s on rank %d", spec, victim);
    struct outcome out = run_once(path, spec, victim);
    if (torture_rank == 0)
        printf("%s: happened %d times, %d calls failed, %d wrong\n", current, out.fired,
               out.failed, out.wrong);
    return out.wrong + run_clean(path);
}

static int run_with_environment(const char *path)
{
    struct record record;
    snprintf(current, sizeof current, "%s",
             getenv("BRIO_FAULT") ? getenv("BRIO_FAULT") : "none");
    start_clock();
    torture_work(path, &record);
    if (arm)
        arm(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = sum(record.wrong + torture_judge(path, &record));
    torture_forget(&record);
    remove_files(path);
    return wrong + run_clean(path);
}

int main(int argc, char **argv)
{
    int level, bad;
    char path[512];
    const char *dir = getenv("BRIO_TEST_DIR"), *limit = getenv("TORTURE_SECONDS"),
               *wait = getenv("TORTURE_PATIENCE");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &torture_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &torture_nranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    signal(SIGALRM, tick);
    signal(SIGSEGV, crash);
    signal(SIGBUS, crash);
    signal(SIGABRT, crash);
    if (limit)
        budget = atof(limit);
    if (wait)
        patience = atoi(wait);
    arm = (bool (*)(const char *))dlsym(RTLD_DEFAULT, "brio_fault_arm");
    fired = (long (*)(void))dlsym(RTLD_DEFAULT, "brio_fault_fired");
    snprintf(path, sizeof path, "%s/torture", dir ? dir : ".");
    if (getenv("BRIO_FCOLL"))
        usual = run_once(path, NULL, 0).failed;
    if (usual > torture_nranks) {
        fprintf(stderr, "BRIO_FCOLL=%s: %d calls fail without any fault\n",
                getenv("BRIO_FCOLL"), usual);
        complaints++;
    }
    if (argc > 1 && strcmp(argv[1], "once") == 0)
        bad = run_with_environment(path);
    else if (arm && fired && argc > 3 && strcmp(argv[1], "at") == 0)
        bad = run_at(path, argv[2], atoi(argv[3]));
    else if (arm && fired)
        bad = run_clean(path) + sweep_all(path, argc, argv);
    else
        bad = 1 + fprintf(stderr, "the shim is not loaded\n");
    bad = sum(bad + complaints);
    MPI_Finalize();
    return bad ? 1 : 0;
}
