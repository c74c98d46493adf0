/* brio calibrate: the saturation point of a file system (paper 003): the smallest access with
 * which it is as fast as it gets. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/curves.h"
#include "cli/measure.h"
#include "cli/report.h"
#include "fs/calibration.h"

const char brio_help_calibrate[] =
    "brio calibrate [--seconds N] [--processes N] [--json] [--dry] [--site] DIR\n"
    "brio calibrate --show [--json] [--site] DIR\n"
    "\n"
    "Measures how fast accesses of 4 KiB to 32 MiB are in DIR, past the caches, by one "
    "process\n"
    "and by as many as there are cores, and finds the smallest access that is as fast as it\n"
    "gets there. Brio then knows it for all files on that mount: how many aggregators a\n"
    "collective access is worth follows from it. Scattered reads by io_uring are compared "
    "with\n"
    "plain ones; where they are faster, Brio uses them on that mount. Needs up to 64 MiB a\n"
    "process in DIR while it runs; nothing stays there, also when it is interrupted.\n"
    "\n"
    "  --seconds N    how long to measure, about (default 40)\n"
    "  --processes N  how many at most (default: the cores)\n"
    "  --json         print the result for programs\n"
    "  --dry          measure and print, do not keep it\n"
    "  --site         keep it for all users of this machine (root)\n"
    "  --show         measure nothing; show what was kept, with the curves\n";

static const double near_enough = 0.9; /* of the fastest */

struct options {
    const char *dir;
    double seconds;
    int procs;
    bool json, dry, site, show;
};

/* ---- Measuring -------------------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show_progress(const struct options *o, const struct brio_speeds *c, int i,
                          double share, double left)
{
    if (!isatty(STDERR_FILENO) || o->json)
        return;
    char *size = brio_report_bytes((double)brio_curve_size(i));
    fprintf(stderr, "\r%3.0f %%  %s of %s by %d process%s, %.0f s left \033[K", 100 * share,
            c->write ? "writes" : "reads", size, c->procs, c->procs == 1 ? "" : "es",
            left > 0 ? left : 0);
    fflush(stderr);
    free(size);
}

/* Pass after pass over all sizes, so that a disturbance hits one value of each and not all of
 * one. What there is no time for is left out, the last passes first. */
static bool measure(const struct options *o, struct brio_measure *m, struct brio_speeds *curves)
{
    const int cells = BRIO_CURVE_PASSES * BRIO_CURVES * BRIO_CURVE_SIZES;
    double begin = clock_now(), end = begin + o->seconds;
    for (int cell = 0; cell < cells; cell++) {
        int pass = cell / (BRIO_CURVES * BRIO_CURVE_SIZES), i = cell % BRIO_CURVE_SIZES;
        struct brio_speeds *c = &curves[cell / BRIO_CURVE_SIZES % BRIO_CURVES];
        double left = end - clock_now();
        if (brio_curve_size(i) > m->file_bytes / 2 || (pass > 0 && left <= 0))
            continue;
        show_progress(o, c, i, (double)cell / cells, left);
        double slice = left / (cells - cell) * 0.8;
        double speed = brio_measure_run(m, c->write, c->procs, brio_curve_size(i),
                                        slice > 0.01 ? slice : 0.01);
        if (speed < 0)
            return false;
        c->speed[i][pass] = speed;
    }
    if (isatty(STDERR_FILENO) && !o->json)
        fprintf(stderr, "\r\033[K");
    return true;
}

/* By the library, which has both ways; any one will do. If there is none, or it refuses, the
 * numbers stay 0. The file is opened once more, to be read through the cache. */
static void measure_rings(const struct options *o, const struct brio_measure *store,
                          struct brio_measured *m)
{
    int (*contest)(int, long long, double, double[2][2]);
    char *name = brio_text("/proc/self/fd/%d", store->fd[0]);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    void *so = NULL, *found = NULL;
    for (enum brio_mpi mpi = BRIO_MPI_OPENMPI; mpi <= BRIO_MPI_MPICH && !so; mpi++) {
        const char *library = brio_place_library(mpi);
        so = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    if (so)
        found = dlsym(so, "brio_contest_rings");
    if (found && fd >= 0) {
        memcpy(&contest, &found, sizeof found); /* C has no cast for it */
        if (contest(fd, (long long)store->file_bytes, o->seconds / 8, m->ring))
            memset(m->ring, 0, sizeof m->ring);
    }
    if (fd >= 0)
        close(fd);
    free(name);
}

/* What else goes on only makes an access slower: the best pass tells most. */
static void take_best(struct brio_speeds *c)
{
    for (int i = 0; i < BRIO_CURVE_SIZES; i++) {
        double least = c->speed[i][0];
        for (int p = 0; p < BRIO_CURVE_PASSES; p++) {
            double v = c->speed[i][p];
            c->best[i] = v > c->best[i] ? v : c->best[i];
            least = v > 0 && v < least ? v : least;
        }
        c->disturbed += least < 0.7 * c->best[i];
    }
}

/* The first size that is nearly as good as the three best, which are taken together since one
 * may be luck. */
static void judge(struct brio_speeds *c)
{
    double top[3] = {0, 0, 0};
    take_best(c);
    for (int i = 0; i < BRIO_CURVE_SIZES; i++) {
        double v = c->best[i];
        for (int t = 0; t < 3; t++) {
            double lower = top[t];
            if (v > lower) {
                top[t] = v;
                v = lower;
            }
        }
    }
    double full = (top[0] + top[1] + top[2]) / 3;
    for (int i = 0; i < BRIO_CURVE_SIZES && !c->k; i++)
        if (c->best[i] > 0 && c->best[i] >= near_enough * full)
            c->k = brio_curve_size(i);
}

/* ---- The command ------------------------------------------------------------------------ */

static bool take_number(const char *text, double least, double most, double *out)
{
    char *end;
    double n = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end || !(n >= least && n <= most))
        return false;
    *out = n;
    return true;
}

static bool take_options(int argc, char **argv, struct options *o)
{
    double number = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else if (strcmp(argv[i], "--dry") == 0)
            o->dry = true;
        else if (strcmp(argv[i], "--site") == 0)
            o->site = true;
        else if (strcmp(argv[i], "--show") == 0)
            o->show = true;
        else if (strcmp(argv[i], "--seconds") == 0 &&
                 take_number(argv[i + 1], 1, 3600, &number))
            o->seconds = number, i++;
        else if (strcmp(argv[i], "--processes") == 0 &&
                 take_number(argv[i + 1], 1, BRIO_MEASURE_PROCESSES, &number))
            o->procs = (int)number, i++;
        else if (argv[i][0] != '-' && !o->dir)
            o->dir = argv[i];
        else {
            brio_say("calibrate: cannot use `%s'; see `brio help calibrate'", argv[i]);
            return false;
        }
    }
    if (!o->dir)
        brio_say("calibrate: no directory given; see `brio help calibrate'");
    return o->dir != NULL;
}

static bool is_directory(const char *dir)
{
    struct stat st;
    bool is = stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
    if (!is)
        brio_say("calibrate: %s is no directory", dir);
    return is;
}

/* As large as is useful, as there is room for; 0, and said, if there is none. */
static size_t choose_room(const struct options *o)
{
    struct statvfs fs;
    if (statvfs(o->dir, &fs)) {
        brio_say("calibrate: cannot look at %s: %s", o->dir, strerror(errno));
        return 0;
    }
    double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    size_t room = 2 * brio_curve_size(BRIO_CURVE_SIZES - 1);
    while (room >= 1 << 22 && (double)room * o->procs > 0.5 * free_bytes)
        room /= 2;
    if (room < 1 << 22) {
        brio_say("calibrate: %s has too little room: %.0f MiB free", o->dir,
                 free_bytes / (1 << 20));
        return 0;
    }
    return room;
}

/* The names of the user's and the site's file; "" for none. */
static void name_file(bool site, char *out, size_t size)
{
    if (!brio_calibration_file(site, out, size))
        out[0] = '\0';
}

/* False, and said, if it cannot be kept; `file` is its name, "" if it is not to be. */
static bool keep(const struct options *o, const struct brio_mount *mount,
                 const struct brio_measured *m, char *file, size_t size)
{
    const struct brio_calibration c = {(brio_off)m->curve[0].k, (brio_off)m->curve[1].k,
                                       m->when, brio_measured_ring(m, false),
                                       brio_measured_ring(m, true)};
    file[0] = '\0';
    if (o->dry)
        return true;
    name_file(o->site, file, size);
    if (!*file) {
        brio_say("calibrate: there is no home directory to keep the result in");
        return false;
    }
    if (brio_calibration_write(file, mount, &c) != BRIO_OK) {
        brio_say("calibrate: the result is not kept: %s", brio_err_text());
        return false;
    }
    if (!brio_measured_keep(file, m, mount)) {
        brio_say("calibrate: the curves are not kept in %s.d: %s", file, strerror(errno));
        return false;
    }
    return true;
}

static bool is_disturbed(const struct brio_measured *m)
{
    return m->curve[0].disturbed > BRIO_CURVE_SIZES / 3 ||
           m->curve[1].disturbed > BRIO_CURVE_SIZES / 3;
}

/* What was measured before. */
static int show(const struct options *o, const struct brio_mount *mount)
{
    struct brio_measured m;
    char file[4096];
    bool found = false;
    for (int site = o->site; site < 2 && !found; site++) {
        name_file(site, file, sizeof file);
        found = *file && brio_measured_recall(file, mount, &m);
    }
    if (!found) {
        brio_say("calibrate: nothing is known of %s; `brio calibrate %s' measures it",
                 mount->point, o->dir);
        return 1;
    }
    if (o->json)
        brio_measured_json(stdout, &m, mount, file);
    else
        brio_measured_print(&m, mount);
    return 0;
}

static int measure_and_keep(const struct options *o, const struct brio_mount *mount)
{
    struct brio_measure store;
    struct brio_measured m = {.curve = {{.write = true, .procs = 1},
                                        {.write = false, .procs = 1},
                                        {.write = true, .procs = o->procs},
                                        {.write = false, .procs = o->procs}}};
    char file[4096];
    size_t room = choose_room(o);
    if (room == 0 || !brio_measure_open(&store, o->dir, o->procs, room))
        return 1;
    bool good = measure(o, &store, m.curve);
    if (good)
        measure_rings(o, &store, &m);
    m.direct = store.direct;
    m.when = (long long)time(NULL);
    brio_measure_close(&store);
    if (!good)
        return 1;
    for (int i = 0; i < BRIO_CURVES; i++)
        judge(&m.curve[i]);
    good = keep(o, mount, &m, file, sizeof file);
    if (o->json) {
        brio_measured_json(stdout, &m, mount, good ? file : "");
        return good ? 0 : 1;
    }
    brio_measured_print(&m, mount);
    if (is_disturbed(&m))
        printf("  The same accesses took very different times: something else uses this store. "
               "Repeat it\n  when it is quiet.\n");
    if (good && *file)
        printf("  Kept in %s for all files on %s.\n", file, mount->point);
    return good ? 0 : 1;
}

int brio_cmd_calibrate(int argc, char **argv)
{
    struct options o = {.seconds = 40, .procs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct brio_mount mount;
    if (o.procs < 1 || o.procs > BRIO_MEASURE_PROCESSES)
        o.procs = o.procs < 1 ? 1 : BRIO_MEASURE_PROCESSES;
    if (!take_options(argc, argv, &o))
        return BRIO_EXIT_USAGE;
    if (!is_directory(o.dir))
        return 1;
    if (!brio_mount_of(o.dir, &mount)) {
        brio_say("calibrate: cannot find out what %s is mounted from", o.dir);
        return 1;
    }
    return o.show ? show(&o, &mount) : measure_and_keep(&o, &mount);
}
