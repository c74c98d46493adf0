/* What a report says about how a program uses its file, in words. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

struct advices {
    const struct brio_report *r;
    struct brio_advice *out;
    int n;
    double time; /* seconds of all ranks in all phases */
};

/* `text` is taken over. */
static void add(struct advices *a, const char *title, char *text)
{
    if (a->n < BRIO_ADVICE_MOST)
        a->out[a->n++] = (struct brio_advice){title, text};
    else
        free(text);
}

static double total(const struct advices *a, const char *counter)
{
    return brio_report_total(a->r, counter);
}

static const char *module_of(const struct advices *a, const char *framework)
{
    const struct brio_json *list = brio_json_get(a->r->json, "choices");
    for (size_t i = 0; i < list->n; i++) {
        const struct brio_json *c = &list->item[i];
        if (strcmp(brio_report_string(c, "framework", ""), framework) == 0)
            return brio_report_string(c, "module", "");
    }
    return "";
}

static void on_failures(struct advices *a)
{
    double n = total(a, "read.failed") + total(a, "write.failed");
    if (n > 0)
        add(a, "Accesses failed",
            brio_text("%.0f accesses returned an error. BRIO_VERBOSE=2 shows each one's reason "
                      "as it happens.",
                      n));
}

/* Many small accesses of single ranks cost a call each. */
static void on_small(struct advices *a)
{
    double small = 0, all = 0;
    for (int i = 0; i < 34; i++) {
        char *read = brio_text("sizes.read.%d", i), *write = brio_text("sizes.write.%d", i);
        double n = total(a, read) + total(a, write);
        all += n;
        small += i < 17 ? n : 0; /* below 64 KiB */
        free(read);
        free(write);
    }
    double alone = total(a, "read.independent") + total(a, "write.independent") +
                   total(a, "read.shared") + total(a, "write.shared");
    bool cached = strcmp(module_of(a, "cache"), "none") != 0;
    bool written = strcmp(brio_report_string(a->r->file, "mode", ""), "write") == 0;
    if (alone < 0.5 * all || small < 0.5 * all || all < 200.0 * a->r->nranks)
        return;
    add(a, "Many small accesses, each on its own",
        cached ? brio_text("%.0f of %.0f accesses moved less than 64 KiB, each for one rank "
                           "alone. Collective calls (MPI_File_write_at_all and its like) with "
                           "a file view would let Brio join those of all ranks.",
                           small, all)
               : brio_text("%.0f of %.0f accesses moved less than 64 KiB, each for one rank "
                           "alone, and each cost a system call. Collective calls "
                           "(MPI_File_write_at_all and its like) with a file view would let "
                           "Brio join those of all ranks; without changing the program, "
                           "BRIO_CACHE=%s joins them.",
                           small, all, written ? "writebehind" : "coherent"));
}

static void on_alignment(struct advices *a)
{
    double calls = total(a, "read.calls") + total(a, "write.calls");
    double aligned = total(a, "read.calls_aligned") + total(a, "write.calls_aligned");
    double block = brio_report_number(a->r->file, "block_size", 4096);
    if (calls < 100 || aligned > 0.5 * calls)
        return;
    add(a, "Most calls are not of whole blocks",
        brio_text(
            "Only %.0f %% of %.0f system calls began and ended on the %.0f-byte blocks of "
            "the file system, so blocks are touched more than once. Records or headers "
            "padded to a multiple of the block, or collective calls, avoid that.",
            100 * aligned / calls, calls, block));
}

static void on_locks(struct advices *a)
{
    double seconds = total(a, "ns.lock") / 1e9;
    if (total(a, "locks") < 1 || seconds < 0.05 * a->time)
        return;
    add(a, "Atomic mode",
        brio_text("%.0f locks of the file system took %.0f %% of the time, because atomic mode "
                  "is on. If ranks never write the same bytes at the same time, "
                  "MPI_File_set_atomicity(fh, 0) gives the same result without them.",
                  total(a, "locks"), 100 * seconds / (a->time > 0 ? a->time : seconds)));
}

static void on_plans(struct advices *a)
{
    double hits = total(a, "plan.hits"), misses = total(a, "plan.misses");
    double plan = total(a, "ns.plan") / 1e9;
    if (misses < 4.0 * a->r->nranks || misses < hits || plan < 0.1 * a->time)
        return;
    add(a, "Collective accesses are planned anew each time",
        brio_text(
            "%.0f %% of them needed a new plan, which took %.0f %% of the time. A plan is "
            "used again when the pattern of an access is that of one before: the same "
            "view and the same sizes, at any distance in the file.",
            100 * misses / (hits + misses), 100 * plan / a->time));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a rank itself worked, without waiting. */
static double busy(const struct brio_json *rank)
{
    const struct brio_json *c = brio_json_get(rank, "counters");
    return (brio_report_number(c, "ns.file", 0) + brio_report_number(c, "ns.exchange", 0) +
            brio_report_number(c, "ns.plan", 0)) /
           1e9;
}

static void on_slow_rank(struct advices *a)
{
    const struct brio_json *list = brio_json_get(a->r->json, "per_rank");
    size_t n = list->n, worst = 0;
    double *v = malloc((2 * n + 1) * sizeof *v);
    if (!v || n < 3) {
        free(v);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = v[n + i] = busy(&list->item[i]);
        if (v[i] > v[worst])
            worst = i;
    }
    qsort(v + n, n, sizeof *v, by_value);
    double median = v[n + n / 2];
    if (v[worst] > 3 * median && v[worst] > 0.1 * brio_report_number(a->r->json, "seconds", 1))
        add(a, "One rank has most of the work",
            brio_text("Rank %zu worked %.2f s on its accesses, a typical rank %.2f s. If it is "
                      "the only one that accesses the file for others, more owners (cb_nodes) "
                      "may share that; if it has most of the data, the program should spread "
                      "it.",
                      worst, v[worst], median));
    free(v);
}

/* Seconds that ranks waited on average: those that were owners, or those that never were. */
static double average_wait(const struct advices *a, bool owners)
{
    const struct brio_json *list = brio_json_get(a->r->json, "per_rank");
    double sum = 0, n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct brio_json *c = brio_json_get(&list->item[i], "counters");
        if ((brio_report_number(c, "owned", 0) > 0) != owners)
            continue;
        sum += brio_report_number(c, "ns.wait", 0) / 1e9;
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static void on_waiting(struct advices *a)
{
    double wait = total(a, "ns.wait") / 1e9;
    double accesses = total(a, "plan.hits") + total(a, "plan.misses");
    double owners = accesses > 0 ? total(a, "owners") / accesses : 0;
    double cores = brio_report_number(a->r->json, "cores", a->r->nranks);
    if (a->r->nranks < 2 || a->time <= 0 || wait < 0.6 * a->time || a->time < 0.05)
        return;
    if (a->r->nranks > cores && owners >= cores)
        add(a, "Ranks wait for a core",
            brio_text("%.0f %% of the time in accesses was waiting: %d ranks share %.0f "
                      "cores, and the %.1f that access the file keep them busy. More ranks "
                      "do not make this faster.",
                      100 * wait / a->time, a->r->nranks, cores, owners));
    else if (owners > 0 && average_wait(a, false) > 1.3 * average_wait(a, true))
        add(a, "Ranks wait for the owners",
            brio_text(
                "%.0f %% of the time in accesses was waiting, most of it by ranks that do "
                "not access the file themselves: on average %.1f of %d did so for all. "
                "Where cores and store can take more at a time, try more of them "
                "(BRIO_CB_NODES).",
                100 * wait / a->time, owners, a->r->nranks));
    else
        add(a, "Ranks wait for each other",
            brio_text("%.0f %% of the time in accesses was waiting: ranks come to collective "
                      "calls at different times. The timeline shows which ones are late; "
                      "nonblocking collectives (MPI_File_iwrite_at_all) let the others go on.",
                      100 * wait / a->time));
}

static void on_holes(struct advices *a)
{
    double holes = total(a, "holes"), read = total(a, "read.bytes");
    if (holes > 2 * read && holes > 1 << 20) {
        char *text = brio_report_bytes(holes);
        add(a, "More gaps than data are read",
            brio_text("%s between the pieces were read and thrown away, %.1f times the data. "
                      "Collective reads share the pieces of all ranks; BRIO_DS_READ=disable "
                      "reads the pieces alone.",
                      text, holes / (read > 0 ? read : 1)));
        free(text);
    }
}

static void on_syncs(struct advices *a)
{
    double syncs = total(a, "syncs") / a->r->nranks;
    double accesses = brio_report_accesses(a->r, "write") / a->r->nranks;
    if (syncs >= 10 && syncs > 0.25 * accesses)
        add(a, "The file is synced often",
            brio_text("MPI_File_sync was called %.0f times for %.0f writes of a rank. Each one "
                      "waits for the disks; once at the end, or at checkpoints, is enough.",
                      syncs, accesses));
}

/* Calls to the system that are far from what it takes to be fast there. */
static void on_saturation(struct advices *a)
{
    static const char *const dirs[] = {"write", "read"};
    for (int i = 0; i < 2; i++) {
        char *calls = brio_text("%s.calls", dirs[i]),
             *bytes = brio_text("%s.call_bytes", dirs[i]);
        char *k = brio_text("k_%s", dirs[i]);
        double n = total(a, calls), size = n > 0 ? total(a, bytes) / n : 0;
        double want = brio_report_number(a->r->file, k, 0);
        if (n >= 16 && want > 0 && size < want / 4) {
            char *is = brio_report_bytes(size), *should = brio_report_bytes(want);
            add(a,
                i ? "Reads are too small for this file system"
                  : "Writes are too small for this file system",
                brio_text("System calls moved %s on average; this mount was measured to reach "
                          "its speed from %s on (brio calibrate).",
                          is, should));
            free(is);
            free(should);
        }
        free(calls);
        free(bytes);
        free(k);
    }
}

int brio_report_advise(const struct brio_report *r, struct brio_advice out[BRIO_ADVICE_MOST])
{
    struct advices a = {.r = r, .out = out};
    a.time = (total(&a, "ns.plan") + total(&a, "ns.exchange") + total(&a, "ns.file") +
              total(&a, "ns.wait")) /
             1e9;
    on_failures(&a);
    on_small(&a);
    on_locks(&a);
    on_plans(&a);
    on_slow_rank(&a);
    on_waiting(&a);
    on_holes(&a);
    on_syncs(&a);
    on_saturation(&a);
    on_alignment(&a);
    return a.n;
}
