/* brio calibrate: the saturation point of a file system (paper 003): the smallest access with
 * which it is as fast as it gets. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/report.h"
#include "fs/calibration.h"

const char brio_help_calibrate[] =
    "brio calibrate [--seconds N] [--processes N] [--json] [--dry] [--site] DIR\n"
    "\n"
    "Measures how fast accesses of 4 KiB to 32 MiB are in DIR, past the caches, by one "
    "process\n"
    "and by as many as there are cores, and finds the smallest access that is as fast as it\n"
    "gets there. Brio then knows it for all files on that mount: how many aggregators a\n"
    "collective access is worth follows from it. Needs up to 64 MiB a process in DIR while it\n"
    "runs; nothing stays there, also when it is interrupted.\n"
    "\n"
    "  --seconds N    how long to measure, about (default 40)\n"
    "  --processes N  how many at most (default: the cores)\n"
    "  --json         print the result for programs\n"
    "  --dry          measure and print, do not keep it\n"
    "  --site         keep it for all users of this machine (root)\n";

enum {
    SIZES = 14, /* 4 KiB << 0 .. 13 */
    PASSES = 3,
    CURVES = 4
};

static const double near_enough = 0.9; /* of the fastest */

struct curve {
    bool write;
    int procs;
    double speed[SIZES][PASSES]; /* bytes per second; 0: not measured */
    double best[SIZES];
    int disturbed; /* sizes whose passes differ by 30 % and more */
    size_t k;      /* bytes, 0: none */
};

struct options {
    const char *dir;
    double seconds;
    int procs;
    bool json, dry, site;
};

static size_t size_of(int i)
{
    return (size_t)4096 << i;
}

/* ---- Measuring -------------------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show_progress(const struct options *o, const struct curve *c, int i, double share,
                          double left)
{
    if (!isatty(STDERR_FILENO) || o->json)
        return;
    char *size = brio_report_bytes((double)size_of(i));
    fprintf(stderr, "\r%3.0f %%  %s of %s by %d process%s, %.0f s left \033[K", 100 * share,
            c->write ? "writes" : "reads", size, c->procs, c->procs == 1 ? "" : "es",
            left > 0 ? left : 0);
    fflush(stderr);
    free(size);
}

/* Pass after pass over all sizes, so that a disturbance hits one value of each and not all of
 * one. What there is no time for is left out, the last passes first. */
static bool measure(const struct options *o, struct brio_measure *m, struct curve *curves)
{
    const int cells = PASSES * CURVES * SIZES;
    double begin = clock_now(), end = begin + o->seconds;
    for (int cell = 0; cell < cells; cell++) {
        int pass = cell / (CURVES * SIZES), i = cell % SIZES;
        struct curve *c = &curves[cell / SIZES % CURVES];
        double left = end - clock_now();
        if (size_of(i) > m->file_bytes / 2 || (pass > 0 && left <= 0))
            continue;
        show_progress(o, c, i, (double)cell / cells, left);
        double slice = left / (cells - cell) * 0.8;
        double speed =
            brio_measure_run(m, c->write, c->procs, size_of(i), slice > 0.01 ? slice : 0.01);
        if (speed < 0)
            return false;
        c->speed[i][pass] = speed;
    }
    if (isatty(STDERR_FILENO) && !o->json)
        fprintf(stderr, "\r\033[K");
    return true;
}

/* What else goes on only makes an access slower: the best pass tells most. */
static void take_best(struct curve *c)
{
    for (int i = 0; i < SIZES; i++) {
        double least = c->speed[i][0];
        for (int p = 0; p < PASSES; p++) {
            double v = c->speed[i][p];
            c->best[i] = v > c->best[i] ? v : c->best[i];
            least = v > 0 && v < least ? v : least;
        }
        c->disturbed += least < 0.7 * c->best[i];
    }
}

/* The first size that is nearly as good as the three best, which are taken together since one
 * may be luck. */
static void judge(struct curve *c)
{
    double top[3] = {0, 0, 0};
    take_best(c);
    for (int i = 0; i < SIZES; i++) {
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
    for (int i = 0; i < SIZES && !c->k; i++)
        if (c->best[i] > 0 && c->best[i] >= near_enough * full)
            c->k = size_of(i);
}

/* ---- Printing --------------------------------------------------------------------------- */

static void print_curve(const struct curve *c)
{
    double most = 0;
    for (int i = 0; i < SIZES; i++)
        most = c->best[i] > most ? c->best[i] : most;
    printf("  %s, %d process%s\n", c->write ? "Writes" : "Reads", c->procs,
           c->procs == 1 ? "" : "es");
    for (int i = 0; i < SIZES; i++) {
        if (c->best[i] <= 0)
            continue;
        char *size = brio_report_bytes((double)size_of(i));
        char *speed = brio_report_bytes(c->best[i]);
        int wide = (int)(40 * c->best[i] / most + 0.5);
        printf("    %9s ", size);
        for (int x = 0; x < 40; x++)
            putchar(x < wide ? '#' : '.');
        printf(" %11s/s%s\n", speed, size_of(i) == c->k ? "  <- k" : "");
        free(size);
        free(speed);
    }
    printf("\n");
}

static void print_json(const struct brio_mount *mount, const struct brio_measure *m,
                       const struct curve *curves, const char *kept)
{
    printf("{\n  \"mount\": ");
    brio_json_put(stdout, mount->key);
    printf(",\n  \"direct\": %s,\n  \"k_write\": %zu,\n  \"k_read\": %zu,\n  \"kept\": ",
           m->direct ? "true" : "false", curves[0].k, curves[1].k);
    brio_json_put(stdout, kept);
    printf(",\n  \"curves\": [");
    for (int i = 0; i < CURVES; i++) {
        const struct curve *c = &curves[i];
        const char *comma = "";
        printf("%s\n    {\"access\": \"%s\", \"processes\": %d, \"k\": %zu, \"points\": [",
               i ? "," : "", c->write ? "write" : "read", c->procs, c->k);
        for (int s = 0; s < SIZES; s++) {
            if (c->best[s] <= 0)
                continue;
            printf("%s[%zu, %.0f]", comma, size_of(s), c->best[s]);
            comma = ", ";
        }
        printf("]}");
    }
    printf("]\n}\n");
}

static void print_text(const struct options *o, const struct brio_mount *mount,
                       const struct brio_measure *m, const struct curve *curves,
                       const char *kept)
{
    char *write = brio_report_bytes((double)curves[0].k);
    char *read = brio_report_bytes((double)curves[1].k);
    printf("%s is on %s (%s)\n\n", o->dir, mount->point,
           m->direct ? "accesses go past the cache" : "each write is synced");
    for (int i = 0; i < CURVES; i++)
        print_curve(&curves[i]);
    printf("  k: one process reaches its full speed (%.0f %% of it) with writes of %s and "
           "reads of %s.\n",
           100 * near_enough, write, read);
    if (curves[0].disturbed > SIZES / 3 || curves[1].disturbed > SIZES / 3)
        printf("  The same accesses took very different times: something else uses this store. "
               "Repeat it\n  when it is quiet.\n");
    if (*kept)
        printf("  Kept in %s for all files on %s.\n", kept, mount->point);
    free(write);
    free(read);
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

/* As large as is useful, as there is room for; 0, and said, if there is none. */
static size_t choose_room(const struct options *o)
{
    struct statvfs fs;
    struct stat st;
    if (stat(o->dir, &st) || !S_ISDIR(st.st_mode)) {
        brio_say("calibrate: %s is no directory", o->dir);
        return 0;
    }
    if (statvfs(o->dir, &fs)) {
        brio_say("calibrate: cannot look at %s: %s", o->dir, strerror(errno));
        return 0;
    }
    double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    size_t room = 2 * size_of(SIZES - 1);
    while (room >= 1 << 22 && (double)room * o->procs > 0.5 * free_bytes)
        room /= 2;
    if (room < 1 << 22) {
        brio_say("calibrate: %s has too little room: %.0f MiB free", o->dir,
                 free_bytes / (1 << 20));
        return 0;
    }
    return room;
}

/* Where it is kept, or "" if it is not to be; NULL, and said, if that failed. */
static char *keep(const struct options *o, const struct brio_mount *mount,
                  const struct curve *curves)
{
    char file[4096];
    struct brio_calibration c = {(brio_off)curves[0].k, (brio_off)curves[1].k,
                                 (long long)time(NULL)};
    if (o->dry)
        return brio_copy("");
    if (!brio_calibration_file(o->site, file, sizeof file)) {
        brio_say("calibrate: there is no home directory to keep the result in");
        return NULL;
    }
    if (brio_calibration_write(file, mount, &c) != BRIO_OK) {
        brio_say("calibrate: the result is not kept: %s", brio_err_text());
        return NULL;
    }
    return brio_copy(file);
}

int brio_cmd_calibrate(int argc, char **argv)
{
    struct options o = {.seconds = 40, .procs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct brio_mount mount;
    struct brio_measure m;
    if (o.procs < 1 || o.procs > BRIO_MEASURE_PROCESSES)
        o.procs = o.procs < 1 ? 1 : BRIO_MEASURE_PROCESSES;
    if (!take_options(argc, argv, &o))
        return BRIO_EXIT_USAGE;
    size_t room = choose_room(&o);
    if (room == 0)
        return 1;
    if (!brio_mount_of(o.dir, &mount)) {
        brio_say("calibrate: cannot find out what %s is mounted from", o.dir);
        return 1;
    }
    struct curve curves[CURVES] = {{.write = true, .procs = 1},
                                   {.write = false, .procs = 1},
                                   {.write = true, .procs = o.procs},
                                   {.write = false, .procs = o.procs}};
    if (!brio_measure_open(&m, o.dir, o.procs, room))
        return 1;
    bool good = measure(&o, &m, curves);
    brio_measure_close(&m);
    if (!good)
        return 1;
    for (int i = 0; i < CURVES; i++)
        judge(&curves[i]);
    char *kept = keep(&o, &mount, curves);
    if (o.json)
        print_json(&mount, &m, curves, kept ? kept : "");
    else
        print_text(&o, &mount, &m, curves, kept ? kept : "");
    good = kept != NULL;
    free(kept);
    return good ? 0 : 1;
}
