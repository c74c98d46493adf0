/* brio run: builds the launcher's command line that preloads Brio into the ranks, runs it,
 * and says if no rank loaded Brio. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

const char brio_help_run[] =
    "brio run [options] [launcher options] PROG [ARGS]\n"
    "\n"
    "Runs an MPI program under its own MPI's launcher, with all its file I/O through Brio.\n"
    "Launcher options are passed on; `--' ends them.\n"
    "\n"
    "  --mpi openmpi|mpich  the MPI of PROG, where it cannot be seen from the program\n"
    "  --without            the same run with the MPI's own I/O, to compare\n"
    "  --no-yield           MPICH: do not make waiting ranks give their core away when there\n"
    "                       are more ranks than cores\n"
    "  --show               print the command line and do not run it\n"
    "\n"
    "  brio run -n 4 ./a.out input.nml\n"
    "  srun -n 4 brio run ./a.out             (or mpirun: a launcher's rank stays one)\n"
    "  brio run -n 4 python3 script.py\n"
    "  BRIO_VERBOSE=2 brio run -n 4 ./a.out\n";

struct job {
    enum brio_mpi mpi;
    bool without, show, no_yield;
    bool placed;               /* the user said where ranks go, or a batch system does */
    bool elsewhere;            /* perhaps on other machines */
    long ranks;                /* 0: not said */
    const char *preload;       /* the user's own, or NULL */
    const char *dir;           /* the ranks' working directory, or NULL */
    struct brio_words options; /* the launcher's */
    const char **program;      /* with its arguments, ended by NULL */
};

/* What is made for one run and removed after it. */
struct scratch {
    char dir[PATH_MAX];
    char *mark;    /* made by the first rank that loads Brio */
    char *dirs[2]; /* links to directories whose path LD_PRELOAD cannot hold */
};

static bool in_batch(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID",    "LSB_JOBID",
                                        "JOB_ID",       "COBALT_JOBID", "FLUX_URI"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* Whether a launcher has started this process, perhaps to be a rank; or a shell of a batch
 * system's, where the user says how many there are to be. */
static bool is_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* One of brio's own options; the number of words used, 0 if it is none, -1 if it is wrong. */
static int take_own(struct job *job, int n, char **argv)
{
    const char *word = argv[0];
    if (strcmp(word, "--without") == 0) {
        job->without = true;
    } else if (strcmp(word, "--show") == 0) {
        job->show = true;
    } else if (strcmp(word, "--no-yield") == 0) {
        job->no_yield = true;
    } else if (strcmp(word, "--mpi") == 0) {
        job->mpi = n > 1 ? brio_mpi_named(argv[1]) : BRIO_MPI_UNKNOWN;
        if (job->mpi == BRIO_MPI_UNKNOWN) {
            brio_say("run: --mpi takes openmpi or mpich");
            return -1;
        }
        return 2;
    } else {
        return 0;
    }
    return 1;
}

/* The value of an option that sets LD_PRELOAD for the ranks, else NULL. */
static const char *preload_value(const struct brio_option *option, char **argv)
{
    static const char name[] = "LD_PRELOAD";
    if (option->role != BRIO_OPTION_SET)
        return NULL;
    if (option->values == 2)
        return strcmp(argv[1], name) == 0 ? argv[2] : NULL;
    size_t len = sizeof name - 1;
    return strncmp(argv[1], name, len) == 0 && argv[1][len] == '=' ? argv[1] + len + 1 : NULL;
}

static int take_launchers(struct job *job, int n, char **argv)
{
    const struct brio_option *option = brio_option_find(argv[0]);
    if (option->values >= n) {
        brio_say("run: %s needs a value, and no program follows", argv[0]);
        return -1;
    }
    if (option->role == BRIO_OPTION_RANKS)
        job->ranks += strtol(argv[1], NULL, 10);
    if (option->role == BRIO_OPTION_DIR)
        job->dir = argv[1];
    job->placed |= option->role == BRIO_OPTION_HOSTS || option->role == BRIO_OPTION_PLACES;
    job->elsewhere |= option->role == BRIO_OPTION_HOSTS;
    const char *preload = preload_value(option, argv);
    if (preload) /* goes into our own */
        job->preload = preload;
    for (int i = 0; i <= option->values && !preload; i++)
        brio_words_add(&job->options, argv[i]);
    return 1 + option->values;
}

static bool parse(struct job *job, int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        int used = take_own(job, argc - i, argv + i);
        if (used == 0)
            used = take_launchers(job, argc - i, argv + i);
        if (used < 0)
            return false;
        i += used;
    }
    if (i >= argc) {
        brio_say("run: no program; see `brio help run'");
        return false;
    }
    job->program = (const char **)argv + i;
    return true;
}

/* The one MPI that is here, if there is only one. */
static enum brio_mpi only_mpi(void)
{
    bool open = brio_place_library(BRIO_MPI_OPENMPI) != NULL;
    bool mpich = brio_place_library(BRIO_MPI_MPICH) != NULL;
    return open == mpich ? BRIO_MPI_UNKNOWN : open ? BRIO_MPI_OPENMPI : BRIO_MPI_MPICH;
}

static int find_mpi(struct job *job)
{
    const char *name = job->program[0];
    char *path = brio_program_find(name, job->dir);
    if (!path) {
        if (!strchr(name, '/') && access(name, X_OK) == 0)
            brio_say("run: `%s' is not on PATH; did you mean ./%s?", name, name);
        else
            brio_say("run: cannot find the program `%s'; if that is the value of a launcher "
                     "option, put `--' before the program",
                     name);
        return BRIO_EXIT_NOT_FOUND;
    }
    if (job->mpi == BRIO_MPI_UNKNOWN)
        job->mpi = brio_program_mpi(path, job->program + 1);
    if (job->mpi == BRIO_MPI_UNKNOWN)
        job->mpi = only_mpi();
    bool python = strncmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, "python", 6) == 0;
    free(path);
    if (job->mpi != BRIO_MPI_UNKNOWN)
        return 0;
    brio_say("run: `%s' %s; say which MPI it will load: --mpi openmpi or --mpi mpich", name,
             python ? "has no mpi4py" : "is not linked with an MPI that I know");
    return BRIO_EXIT_USAGE;
}

/* LD_PRELOAD separates names by blanks and colons: a path with one in it goes through a link to
 * the directory, for the library looks for what else it needs beside itself. */
static const char *preloadable(struct scratch *s, const char *path, int slot)
{
    const char *name = strrchr(path, '/');
    if (!strpbrk(path, " :"))
        return path;
    char *dir = brio_text("%.*s", (int)(name - path), path);
    s->dirs[slot] = brio_text("%s/%d", s->dir, slot);
    if (symlink(dir, s->dirs[slot]) != 0)
        brio_say("run: cannot make %s: %s", s->dirs[slot], strerror(errno));
    free(dir);
    return brio_text("%s%s", s->dirs[slot], name);
}

static bool make_scratch(struct scratch *s)
{
    const char *tmp = getenv("TMPDIR");
    if (!tmp || !*tmp || strpbrk(tmp, " :"))
        tmp = "/tmp";
    snprintf(s->dir, sizeof s->dir, "%s/brio-run.XXXXXX", tmp);
    if (!mkdtemp(s->dir)) {
        brio_say("run: cannot make a directory in %s: %s", tmp, strerror(errno));
        return false;
    }
    s->mark = brio_text("%s/mark", s->dir);
    return true;
}

static void remove_scratch(const struct scratch *s)
{
    unlink(s->mark);
    for (int i = 0; i < 2; i++)
        if (s->dirs[i])
            unlink(s->dirs[i]);
    rmdir(s->dir);
}

static bool crowded(const struct job *job)
{
    return job->mpi == BRIO_MPI_MPICH && !job->no_yield && !job->elsewhere &&
           job->ranks > sysconf(_SC_NPROCESSORS_ONLN);
}

/* What the ranks preload: Brio, what the user preloads anyway, and for MPICH with more ranks
 * than cores the library that makes them yield. NULL for nothing. */
static char *preload_list(const struct job *job, struct scratch *s, const char *library)
{
    const char *own = job->preload ? job->preload : getenv("LD_PRELOAD");
    const char *yield = crowded(job) ? brio_place_yield() : NULL;
    const char *parts[] = {job->without ? NULL : preloadable(s, library, 0), own,
                           yield ? preloadable(s, yield, 1) : NULL};
    char *list = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!parts[i] || !*parts[i])
            continue;
        char *longer = list ? brio_text("%s:%s", list, parts[i]) : brio_copy(parts[i]);
        free(list);
        list = longer;
    }
    return list;
}

/* Open MPI gives remote ranks no environment of its own accord. */
static void forward_settings(struct brio_words *line)
{
    for (char **e = environ; *e; e++) {
        size_t len = strcspn(*e, "=");
        if (strncmp(*e, "BRIO_", 5) == 0) {
            brio_words_add(line, "-x");
            brio_words_add(line, brio_text("%.*s", (int)len, *e));
        }
    }
}

static void add_openmpi(const struct job *job, const char *preload, struct brio_words *line)
{
    if (!job->placed)
        brio_words_add(line, "--oversubscribe");
    if (preload) {
        brio_words_add(line, "-x");
        brio_words_add(line, brio_text("LD_PRELOAD=%s", preload));
    }
    forward_settings(line);
}

static struct brio_words command_line(const struct job *job, const char *launcher,
                                      const char *preload)
{
    struct brio_words line = {0};
    brio_words_add(&line, launcher);
    if (job->mpi == BRIO_MPI_OPENMPI) {
        add_openmpi(job, preload, &line);
    } else if (preload) {
        brio_words_add(&line, "-genv");
        brio_words_add(&line, "LD_PRELOAD");
        brio_words_add(&line, preload);
    }
    for (size_t i = 0; i < job->options.n; i++)
        brio_words_add(&line, job->options.word[i]);
    for (const char **word = job->program; *word; word++) {
        brio_words_add(&line, *word);
        /* after a colon comes another program, with options of its own */
        if (strcmp(*word, ":") == 0 && job->mpi == BRIO_MPI_OPENMPI && preload) {
            brio_words_add(&line, "-x");
            brio_words_add(&line, brio_text("LD_PRELOAD=%s", preload));
        }
    }
    return line;
}

static void show(const struct brio_words *line)
{
    for (size_t i = 0; i < line->n; i++) {
        const char *word = line->word[i];
        bool plain =
            *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                        "UVWXYZ0123456789_-./:=,+@%^")];
        printf("%s", i ? " " : "");
        for (const char *c = plain ? "" : word; *c; c++)
            printf(*c == '\'' ? "%s'\\''" : "%s%c", c == word ? "'" : "", *c);
        printf("%s", plain ? word : *word ? "'" : "''");
    }
    putchar('\n');
}

static volatile sig_atomic_t child;

static void pass_on(int sig)
{
    if (child > 0)
        kill((pid_t)child, sig);
}

/* The exit code of what the line starts, or 128 and the signal that ended it. */
static int execute(const struct brio_words *line, const char *preload, bool *signalled)
{
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("LD_PRELOAD");
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        execvp(line->word[0], (char *const *)line->word);
        brio_say("run: cannot start %s: %s", line->word[0], strerror(errno));
        _exit(BRIO_EXIT_NOT_FOUND);
    }
    if (pid < 0) {
        brio_say("run: cannot fork: %s", strerror(errno));
        return 1;
    }
    child = pid;
    struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    sigaction(SIGINT, &ignore, NULL); /* a terminal sends it to the launcher as well */
    sigaction(SIGQUIT, &ignore, NULL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    *signalled = WIFSIGNALED(status);
    return *signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const struct job *job, struct scratch *s, const char *launcher,
               const char *library)
{
    char *preload = preload_list(job, s, library);
    if (job->mpi == BRIO_MPI_OPENMPI && geteuid() == 0) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
    if (!job->without && !job->show)
        setenv("BRIO_RUN_MARK", s->mark, 1);
    struct brio_words line = command_line(job, launcher, preload);
    if (job->show) {
        show(&line);
        return 0;
    }
    bool signalled = false;
    int code = execute(&line, NULL, &signalled); /* the ranks preload it, not the launcher */
    if (!job->without && !signalled && !job->elsewhere && !in_batch() &&
        access(s->mark, F_OK) != 0)
        brio_say("no rank of %s loaded Brio; its file I/O was the MPI's own", job->program[0]);
    return code;
}

/* As the rank that a launcher has started. */
static int run_rank(struct job *job, struct scratch *s, const char *library)
{
    const char *here = getenv("MPI_LOCALNRANKS"); /* MPICH's */
    job->ranks = here ? strtol(here, NULL, 10) : 0;
    char *preload = preload_list(job, s, library);
    struct brio_words line = {0};
    if (job->show && preload) {
        brio_words_add(&line, "env");
        brio_words_add(&line, brio_text("LD_PRELOAD=%s", preload));
    }
    for (const char **word = job->program; *word; word++)
        brio_words_add(&line, *word);
    if (job->show) {
        show(&line);
        return 0;
    }
    bool signalled;
    return execute(&line, preload, &signalled);
}

int brio_cmd_run(int argc, char **argv)
{
    struct job job = {0};
    if (!parse(&job, argc, argv))
        return BRIO_EXIT_USAGE;
    job.placed |= in_batch();
    int code = find_mpi(&job);
    if (code != 0)
        return code;
    bool launched = is_rank() && job.options.n == 0;
    const char *launcher = launched ? NULL : brio_place_launcher(job.mpi);
    if (!launcher && !launched) {
        brio_say("run: %s uses %s, but neither mpirun.%s nor a mpirun of it is on PATH",
                 job.program[0], brio_mpi_name(job.mpi), brio_mpi_name(job.mpi));
        return BRIO_EXIT_NOT_FOUND;
    }
    const char *library = job.without ? NULL : brio_place_library(job.mpi);
    if (!library && !job.without) {
        brio_say("run: %s uses %s, but there is no libbrio-%s.so here; set BRIO_LIBDIR",
                 job.program[0], brio_mpi_name(job.mpi), brio_mpi_name(job.mpi));
        return BRIO_EXIT_NOT_FOUND;
    }
    struct scratch scratch = {0};
    if (!make_scratch(&scratch))
        return 1;
    code =
        launcher ? run(&job, &scratch, launcher, library) : run_rank(&job, &scratch, library);
    remove_scratch(&scratch);
    return code;
}
