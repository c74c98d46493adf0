/* Starts brio tune, waits, and turns its journal into the JSON of brio bench. */
#include "cli/study.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/bench.h"

enum {
    RANKS = 8
};

/* The last repetition of a run: those before it warm up. */
static const char measure[] = "^time.2.write.([0-9.]+)";
static const char program_options[] = "tile --only=write --element=64 --tile=256x128 --reps=3";
static const long long bytes = (long long)RANKS * 256 * 128 * 64;

char *brio_study_command(const struct brio_study *s)
{
    return brio_text("brio tune --no-profile %s --match '%s' %s -n %d brio-bench-%s %s",
                     s->options, measure, s->what->space, RANKS, brio_mpi_name(s->mpi),
                     program_options);
}

static void add_all(struct brio_words *w, const char *text)
{
    struct brio_words more = brio_words_of("", text);
    for (size_t i = 1; i < more.n; i++)
        brio_words_add(w, more.word[i]);
    free(more.word);
}

static struct brio_words words_of(const struct brio_study *s, const char *file)
{
    struct brio_words w = {0};
    add_all(&w, "/proc/self/exe tune --no-profile");
    add_all(&w, s->options);
    const char *const more[] = {"--match",
                                measure,
                                "--journal",
                                s->journal,
                                brio_place_space(s->what->space),
                                "--mpi",
                                brio_mpi_name(s->mpi),
                                "-n",
                                brio_text("%d", RANKS),
                                brio_place_bench(s->mpi)};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        brio_words_add(&w, more[i]);
    add_all(&w, program_options);
    brio_words_add(&w, brio_text("--file=%s", file));
    return w;
}

static pid_t start(const struct brio_words *w, const char *log)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setpgid(0, 0); /* a signal from the terminal is for us, who end it in order */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execv(w->word[0], (char *const *)w->word);
    _exit(BRIO_EXIT_NOT_FOUND);
}

/* Its exit code; -1 if there is none. */
static int await(const struct brio_study *s, pid_t pid, double expected)
{
    const struct timespec nap = {.tv_nsec = 200000000};
    bool told = false;
    int status = -1;
    for (double waited = 0; pid > 0 && waitpid(pid, &status, WNOHANG) == 0; waited += 0.2) {
        if (brio_bench_interrupted() && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
        s->progress(s->self, "tuning", waited < expected ? waited / expected : 1);
        nanosleep(&nap, NULL);
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- The result ---------------------------------------------------------------------------
 */

struct combination {
    char *label;
    double *seconds;
    size_t n;
};

struct found {
    struct combination *all;
    size_t n;
};

static void add_run(struct found *f, const char *label, double seconds)
{
    size_t i = 0;
    label = strcmp(label, "default") == 0 ? "automatic" : label;
    while (i < f->n && strcmp(f->all[i].label, label) != 0)
        i++;
    if (i == f->n) {
        f->all = brio_memory_again(f->all, (f->n + 1) * sizeof *f->all);
        f->all[f->n++] = (struct combination){.label = brio_copy(label)};
    }
    struct combination *c = &f->all[i];
    if (seconds <= 0)
        return; /* it failed */
    c->seconds = brio_memory_again(c->seconds, (c->n + 1) * sizeof *c->seconds);
    c->seconds[c->n++] = seconds;
}

/* "SECONDS<tab>COMBINATION" behind a head. */
static void read_journal(const char *path, struct found *f)
{
    char *line = NULL, *after;
    size_t room = 0;
    FILE *in = fopen(path, "r");
    while (in && getline(&line, &room, in) > 0) {
        double seconds = strtod(line, &after);
        line[strcspn(line, "\n")] = '\0';
        if (after != line && *after == '\t')
            add_run(f, after + 1, seconds);
    }
    free(line);
    if (in)
        fclose(in);
}

static void put_combination(FILE *out, const struct combination *c)
{
    double median = brio_sample_median(c->seconds, c->n);
    fputs("{\"label\": ", out);
    brio_json_put(out, c->label);
    fprintf(out,
            ", \"io\": \"Brio %s\", \"mpi\": \"\", \"modules\": \"\", \"state\": \"%s\", "
            "\"write\": {\"seconds\": [",
            BRIO_VERSION, c->n > 0 ? "ok" : "failed");
    for (size_t i = 0; i < c->n; i++)
        fprintf(out, "%s%.9g", i ? ", " : "", c->seconds[i]);
    fputs("]", out);
    if (c->n > 0)
        fprintf(out, ", \"mb_per_s\": %.9g, \"spread\": %.9g", (double)bytes / median / 1e6,
                brio_sample_spread(c->seconds, c->n));
    fputs("}}", out);
}

static void put_result(FILE *out, const struct brio_study *s, const struct found *f)
{
    fprintf(out, "{\"brio\": \"%s\", \"workload\": \"tile\", \"ranks\": %d, \"directory\": ",
            BRIO_VERSION, RANKS);
    brio_json_put(out, s->dir);
    fprintf(out,
            ", \"filesystem\": \"%s\", \"cases\": [{\"name\": \"%zu combinations\", \"x\": 64, "
            "\"bytes\": %lld, \"calls\": 1, \"contenders\": [",
            brio_bench_filesystem(s->dir), f->n, bytes);
    for (size_t i = 0; i < f->n; i++) {
        fputs(i ? ", " : "", out);
        put_combination(out, &f->all[i]);
    }
    fputs("]}]}", out);
}

static void show_log(const char *path)
{
    char text[2000];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    fwrite(text, 1, n, stderr);
    if (f)
        fclose(f);
}

/* The same when it goes on, for it is the same program then, and another one for another
 * journal. */
static char *name_file(const struct brio_study *s)
{
    const char *slash = strrchr(s->journal, '/');
    char *dir = brio_text("%.*s", slash ? (int)(slash - s->journal) : 0, s->journal);
    struct stat st = {.st_ino = 0};
    (void)stat(*dir ? dir : ".", &st);
    free(dir);
    return brio_text("%s/brio-tune.%lx", s->dir, (unsigned long)st.st_ino);
}

bool brio_study_run(const struct brio_study *s, FILE *out)
{
    if (!brio_place_space(s->what->space)) {
        brio_say("reproduce: %s is not installed", s->what->space);
        return false;
    }
    char *log = brio_text("%s/tune.log", brio_bench_scratch());
    char *file = name_file(s);
    struct brio_words w = words_of(s, file);
    bool full = strstr(s->options, "exhaustive") != NULL;
    int code = await(s, start(&w, log), s->what->seconds[full]);
    if (code != 0 && !brio_bench_interrupted()) {
        brio_say("reproduce: brio tune ended with code %d:", code);
        show_log(log);
    }
    struct found f = {0};
    if (code == 0) {
        read_journal(s->journal, &f);
        put_result(out, s, &f);
    }
    for (size_t i = 0; i < f.n; i++) {
        free(f.all[i].label);
        free(f.all[i].seconds);
    }
    free(f.all);
    unlink(file);
    unlink(log);
    free(file);
    free(log);
    free(w.word);
    return code == 0;
}
