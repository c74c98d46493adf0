/* Results of a measurement as a table, as CSV and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/json.h"

static const char *const dir_names[BRIO_BENCH_DIRS] = {"write", "read"};

int brio_bench_reference(const struct brio_bench_plan *plan)
{
    for (size_t i = 0; i < plan->nwho; i++)
        if (plan->who[i].brio)
            return (int)i;
    return -1;
}

double brio_bench_speed(const struct brio_bench_case *c, size_t who, int dir)
{
    const struct brio_bench_series *s = &c->cell[who].dir[dir];
    return s->n > 0 ? (double)c->bytes / brio_sample_median(s->seconds, s->n) : NAN;
}

/* How much faster Brio is than this one. */
static struct brio_ratio ratio_to(const struct brio_bench_plan *plan,
                                  const struct brio_bench_case *c, size_t who, int dir)
{
    int ref = brio_bench_reference(plan);
    const struct brio_bench_series *b = &c->cell[who].dir[dir];
    if (ref < 0 || (size_t)ref == who)
        return (struct brio_ratio){.value = NAN};
    const struct brio_bench_series *a = &c->cell[ref].dir[dir];
    return brio_sample_ratio(a->seconds, a->n, b->seconds, b->n);
}

const char *brio_bench_filesystem(const char *dir)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0xef53, "ext4"},      {0x01021994, "tmpfs"}, {0x58465342, "xfs"},
                 {0x9123683e, "btrfs"}, {0x6969, "nfs"},       {0x0bd00bd0, "lustre"},
                 {0x20030528, "pvfs2"}, {0x00c36400, "ceph"},  {0x794c7630, "overlayfs"},
                 {0x65735546, "fuse"},  {0x2fc12fc1, "zfs"},   {0x47504653, "gpfs"}};
    struct statfs s;
    if (statfs(dir, &s) == 0)
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if ((unsigned long)s.f_type == known[i].magic)
                return known[i].name;
    return "an unknown file system";
}

/* ---- Table ------------------------------------------------------------------------------- */

/* Three digits, or so. */
static void print_speed(FILE *out, double mbps)
{
    if (isnan(mbps))
        fprintf(out, "%9s", "-");
    else
        fprintf(out, mbps < 10 ? "%9.3f" : mbps < 100 ? "%9.1f" : "%9.0f", mbps);
}

static void print_ratio(FILE *out, struct brio_ratio r)
{
    char text[40] = "";
    if (isnan(r.value))
        snprintf(text, sizeof text, "-");
    else if (!r.known)
        snprintf(text, sizeof text, "%.3g x (too few)", r.value);
    else if (r.noise)
        snprintf(text, sizeof text, "%.2f x (noise)", r.value);
    else
        snprintf(text, sizeof text, "%.3g x (%.3g-%.3g)", r.value, r.low, r.high);
    fprintf(out, "  %-19s", text);
}

static long long count_of(const char *counts, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%s=", name);
    const char *at = counts ? strstr(counts, key) : NULL;
    return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static void print_row(FILE *out, const struct brio_bench_plan *plan,
                      const struct brio_bench_case *c, size_t who)
{
    const struct brio_bench_cell *cell = &c->cell[who];
    fprintf(out, "  %-16.16s", plan->who[who].label);
    for (int d = 0; d < BRIO_BENCH_DIRS; d++) {
        const struct brio_bench_series *s = &cell->dir[d];
        print_speed(out, brio_bench_speed(c, who, d) / 1e6);
        if (s->n > 1)
            fprintf(out, " %3.0f%%", 100 * brio_sample_spread(s->seconds, s->n));
        else
            fprintf(out, "    -");
        print_ratio(out, ratio_to(plan, c, who, d));
        fprintf(out, "%8lld", count_of(s->counts, d ? "read_calls" : "write_calls"));
    }
    if (cell->state == BRIO_BENCH_GAVE_UP)
        fprintf(out, "  gave up after %g s: below %.3g MB/s", plan->limit,
                (double)c->bytes / plan->limit / 1e6);
    if (cell->state == BRIO_BENCH_FAILED)
        fprintf(out, "  failed");
    if (cell->state == BRIO_BENCH_NOT_RUN)
        fprintf(out, "  not run");
    if (cell->dir[0].wrong + cell->dir[1].wrong > 0)
        fprintf(out, "  WRONG BYTES");
    fputc('\n', out);
}

static void print_who(FILE *out, const struct brio_bench_plan *plan,
                      const struct brio_bench_result *r)
{
    for (size_t k = 0; k < plan->nwho; k++)
        for (size_t i = 0; i < r->ncases; i++) {
            const struct brio_bench_cell *cell = &r->c[i].cell[k];
            if (!cell->io)
                continue;
            fprintf(out, "  %-16s %s on %s%s%s\n", plan->who[k].label, cell->io, cell->mpi,
                    *cell->modules ? ": " : "", cell->modules);
            break;
        }
}

/* How far from the best of all of Brio's the first one is: the regret of its own choice. */
static void print_regret(FILE *out, const struct brio_bench_plan *plan,
                         const struct brio_bench_result *r)
{
    int ref = brio_bench_reference(plan), cases = 0, ten = 0, quarter = 0, brios = 0;
    double worst = 1;
    for (size_t k = 0; k < plan->nwho; k++)
        brios += plan->who[k].brio;
    for (size_t i = 0; i < r->ncases && brios > 2; i++)
        for (int d = 0; d < BRIO_BENCH_DIRS; d++) {
            double slower = 1;
            for (size_t k = 0; k < plan->nwho; k++)
                if (plan->who[k].brio)
                    slower = fmax(slower, 1 / ratio_to(plan, &r->c[i], k, d).value);
            if (isnan(brio_bench_speed(&r->c[i], (size_t)ref, d)))
                continue;
            cases++;
            ten += slower <= 1.10;
            quarter += slower <= 1.25;
            worst = fmax(worst, slower);
        }
    if (cases > 0)
        fprintf(out,
                "\n%s against the best of Brio's: within 10 %% in %d of %d (%.0f %%), within "
                "25 %% in %d (%.0f %%), at worst %.2f times slower\n",
                plan->who[ref].label, ten, cases, 100.0 * ten / cases, quarter,
                100.0 * quarter / cases, worst);
}

void brio_bench_table(FILE *out, const struct brio_bench_plan *plan,
                      const struct brio_bench_result *r)
{
    int ref = brio_bench_reference(plan);
    const char *label = ref < 0 ? "-" : plan->who[ref].label;
    char is[24];
    snprintf(is, sizeof is, "%.12s is", label);
    fprintf(out, "\n%s: %d ranks on %ld cores, %s in %s, median of %d\n", plan->workload,
            plan->ranks, sysconf(_SC_NPROCESSORS_ONLN), brio_bench_filesystem(plan->dir),
            plan->dir, plan->reps * plan->starts);
    if (plan->slow > 0)
        fprintf(out, "every read and write of the files takes %.0f us longer\n", plan->slow);
    print_who(out, plan, r);
    for (size_t i = 0; i < r->ncases; i++) {
        const struct brio_bench_case *c = &r->c[i];
        if (!c->name)
            continue;
        fprintf(out, "\n%s, %.1f MB in %d call%s a rank\n", c->name, (double)c->bytes / 1e6,
                c->calls, c->calls == 1 ? "" : "s");
        fprintf(out, "  %-16s", "");
        for (int d = 0; d < BRIO_BENCH_DIRS; d++)
            fprintf(out, "%6s MB/s   +-  %-19s%8s", d ? "read" : "write", is, "syscalls");
        fputc('\n', out);
        for (size_t k = 0; k < plan->nwho; k++)
            print_row(out, plan, c, k);
    }
    print_regret(out, plan, r);
}

/* ---- CSV --------------------------------------------------------------------------------- */

void brio_bench_csv(FILE *out, const struct brio_bench_plan *plan,
                    const struct brio_bench_result *r, bool head)
{
    if (head)
        fputs("workload,ranks,case,x,bytes,contender,io,mpi,direction,repetition,seconds,"
              "access_seconds\n",
              out);
    for (size_t i = 0; i < r->ncases; i++)
        for (size_t k = 0; k < plan->nwho; k++)
            for (int d = 0; d < BRIO_BENCH_DIRS; d++) {
                const struct brio_bench_case *c = &r->c[i];
                const struct brio_bench_series *s = &c->cell[k].dir[d];
                for (size_t n = 0; n < s->n; n++)
                    fprintf(out, "%s,%d,\"%s\",%g,%lld,\"%s\",%s,%s,%s,%zu,%.9f,%.9f\n",
                            plan->workload, plan->ranks, c->name, c->x, c->bytes,
                            plan->who[k].label, c->cell[k].io, c->cell[k].mpi, dir_names[d],
                            n + 1, s->seconds[n], s->access[n]);
            }
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_number(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "%.9g", x);
    else
        fputs("null", out);
}

static void json_list(FILE *out, const char *name, const double *v, size_t n)
{
    fprintf(out, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        json_number(out, v[i]);
    }
    fputs("]", out);
}

/* name=value name=value as an object. */
static void json_counts(FILE *out, const char *counts)
{
    const char *comma = "";
    fputs("\"counts\": {", out);
    for (const char *at = counts ? counts : ""; *at;) {
        size_t len = strcspn(at, "="), end = strcspn(at, " ");
        if (len < end) {
            fprintf(out, "%s\"%.*s\": %.*s", comma, (int)len, at, (int)(end - len - 1),
                    at + len + 1);
            comma = ", ";
        }
        at += end;
        at += strspn(at, " ");
    }
    fputs("}", out);
}

static void json_series(FILE *out, const struct brio_bench_plan *plan,
                        const struct brio_bench_case *c, size_t who, int dir)
{
    const struct brio_bench_series *s = &c->cell[who].dir[dir];
    struct brio_ratio r = ratio_to(plan, c, who, dir);
    fprintf(out, "\"%s\": {", dir_names[dir]);
    json_list(out, "seconds", s->seconds, s->n);
    fputs(", ", out);
    json_list(out, "access", s->access, s->n);
    fputs(", \"median\": ", out);
    json_number(out, brio_sample_median(s->seconds, s->n));
    fputs(", \"mb_per_s\": ", out);
    json_number(out, brio_bench_speed(c, who, dir) / 1e6);
    fputs(", \"spread\": ", out);
    json_number(out, brio_sample_spread(s->seconds, s->n));
    fprintf(out, ", \"wrong_bytes\": %lld, ", s->wrong);
    json_counts(out, s->counts);
    if (!isnan(r.value)) {
        fputs(", \"brio_is\": {\"ratio\": ", out);
        json_number(out, r.value);
        fputs(", \"low\": ", out);
        json_number(out, r.low);
        fputs(", \"high\": ", out);
        json_number(out, r.high);
        fprintf(out, ", \"noise\": %s}", r.noise ? "true" : "false");
    }
    fputs("}", out);
}

static void json_cell(FILE *out, const struct brio_bench_plan *plan,
                      const struct brio_bench_case *c, size_t who)
{
    static const char *const states[] = {"not run", "ok", "gave up", "failed"};
    const struct brio_bench_cell *cell = &c->cell[who];
    fputs("{\"label\": ", out);
    brio_json_put(out, plan->who[who].label);
    fputs(", \"io\": ", out);
    brio_json_put(out, cell->io);
    fputs(", \"mpi\": ", out);
    brio_json_put(out, cell->mpi);
    fputs(", \"modules\": ", out);
    brio_json_put(out, cell->modules);
    fputs(", \"why\": ", out);
    brio_json_put(out, cell->why);
    fprintf(out, ", \"state\": \"%s\", ", states[cell->state]);
    json_series(out, plan, c, who, BRIO_BENCH_WRITE);
    fputs(", ", out);
    json_series(out, plan, c, who, BRIO_BENCH_READ);
    fputs("}", out);
}

void brio_bench_json(FILE *out, const struct brio_bench_plan *plan,
                     const struct brio_bench_result *r)
{
    fprintf(out, "{\"brio\": \"%s\", \"workload\": ", BRIO_VERSION);
    brio_json_put(out, plan->workload);
    fprintf(
        out,
        ", \"ranks\": %d, \"cores\": %ld, \"repetitions\": %d, \"starts\": %d, \"limit\": %g, ",
        plan->ranks, sysconf(_SC_NPROCESSORS_ONLN), plan->reps, plan->starts, plan->limit);
    fputs("\"directory\": ", out);
    brio_json_put(out, plan->dir);
    fprintf(out,
            ", \"filesystem\": \"%s\", \"slow_us\": %.0f, \"interrupted\": %s, "
            "\"options\": [",
            brio_bench_filesystem(plan->dir), plan->slow, r->interrupted ? "true" : "false");
    for (size_t i = 0; i < plan->args.n; i++) {
        fputs(i ? ", " : "", out);
        brio_json_put(out, plan->args.word[i]);
    }
    fputs("], \"cases\": [", out);
    for (size_t i = 0; i < r->ncases; i++) {
        const struct brio_bench_case *c = &r->c[i];
        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        brio_json_put(out, c->name);
        fputs(", \"x\": ", out);
        json_number(out, c->x);
        fprintf(out, ", \"bytes\": %lld, \"calls\": %d, \"contenders\": [", c->bytes, c->calls);
        for (size_t k = 0; k < plan->nwho; k++) {
            fputs(k ? ", " : "", out);
            json_cell(out, plan, c, k);
        }
        fputs("]}", out);
    }
    fputs("]}", out);
}
