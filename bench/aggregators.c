/* How good the automatic choice of aggregators is: collective writes and reads of tiles and of
 * the BT pattern, of several sizes, with even and uneven data, with each number of
 * aggregators that there can be (hint cb_nodes) and with none said, in alternation. The regret
 * of a case is the time of the automatic choice against that of the best number. For Brio, or
 * any library that knows the hint.
 *
 *     aggregators FILE [repetitions] [MiB in all...]
 */
#include "bench.h"

enum {
    CHOICES = 64 /* numbers of aggregators, at most, and the automatic one */
};

static struct {
    int cases, ten, twentyfive;
    double worst;
} tally;

struct trial {
    const char *name;
    struct boxes boxes;
    MPI_Datatype elem;
    int nchoices; /* choice 0 is automatic, choice k is k aggregators */
    MPI_File fh[CHOICES];
    uint64_t *buf;
};

static void open_all(struct trial *t, const char *path)
{
    MPI_Datatype type = boxes_type(&t->boxes);
    for (int k = 0; k < t->nchoices; k++) {
        MPI_Info info;
        char text[16];
        must(MPI_Info_create(&info), "info");
        snprintf(text, sizeof text, "%d", k);
        if (k > 0)
            MPI_Info_set(info, "cb_nodes", text);
        t->fh[k] = bench_open(path, info);
        MPI_Info_free(&info);
        must(MPI_File_set_view(t->fh[k], 0, t->elem, type, "native", MPI_INFO_NULL),
             "set_view");
    }
    MPI_Type_free(&type);
}

static double once(struct trial *t, int k, int write)
{
    double start = begin();
    access_all(t->fh[k], write, 0, t->buf, (int)boxes_elements(&t->boxes), t->elem);
    return since(start);
}

/* Medians of all choices, by one rank's clock or another's: the same on all ranks. */
static void measure_all(struct trial *t, int write, int reps, double *m)
{
    static double time[CHOICES][BENCH_REPS];
    for (int i = 0; i <= reps; i++) /* the first time does not count: plans are made in it */
        for (int j = 0; j < t->nchoices; j++) {
            int k = (i + j) % t->nchoices; /* each is first, and last, now and then */
            time[k][i > 0 ? i - 1 : 0] = once(t, k, write);
        }
    for (int k = 0; k < t->nchoices; k++)
        m[k] = median(time[k], reps);
}

static void report(const struct trial *t, int write, const double *m, double mb)
{
    int best = 1;
    for (int k = 2; k < t->nchoices; k++)
        if (m[k] < m[best])
            best = k;
    double regret = m[0] / m[best];
    tally.cases++;
    tally.ten += regret <= 1.10;
    tally.twentyfive += regret <= 1.25;
    if (regret > tally.worst)
        tally.worst = regret;
    if (rank != 0)
        return;
    printf("%-28s %-5s", t->name, write ? "write" : "read");
    for (int k = 1; k < t->nchoices; k++)
        printf(" %6.0f", mb / m[k]);
    printf("  best %d, automatic %6.0f MB/s: %.2f\n", best, mb / m[0], regret);
    fflush(stdout);
}

static void run_trial(struct trial *t, const char *path, int reps)
{
    double m[CHOICES];
    long long bytes = boxes_bytes(&t->boxes), all;
    MPI_Allreduce(&bytes, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    t->elem = element_type(t->boxes.elem);
    t->nchoices = nranks < CHOICES ? nranks + 1 : CHOICES;
    t->buf = malloc((size_t)bytes + 8);
    if (!t->buf)
        fail("malloc");
    boxes_words(&t->boxes, 0, t->buf, 0);
    open_all(t, path);
    for (int write = 1; write >= 0; write--) {
        measure_all(t, write, reps, m);
        report(t, write, m, (double)all / 1e6);
    }
    if (boxes_words(&t->boxes, 0, t->buf, 1) != 0)
        fail("the data");
    for (int k = 0; k < t->nchoices; k++)
        must(MPI_File_close(&t->fh[k]), "close");
    MPI_Type_free(&t->elem);
    free(t->buf);
    if (rank == 0)
        unlink(path);
}

static void sweep(const char *path, int reps, long mib)
{
    static struct trial t;
    char name[64];
    int width = 1, side = 1;
    while ((long long)width * width * 64 < (long long)mib << 20)
        width++;
    while ((long long)side * side * side * 40 < (long long)mib << 20)
        side++;
    for (int uneven = 0; uneven < 2; uneven++) {
        t.name = name;
        snprintf(name, sizeof name, "tile %ld MiB %s", mib, uneven ? "uneven" : "even");
        tile_boxes(&t.boxes, width, width, 64, uneven);
        run_trial(&t, path, reps);
        snprintf(name, sizeof name, "BT %ld MiB %s", mib, uneven ? "uneven" : "even");
        bt_boxes(&t.boxes, side, uneven);
        run_trial(&t, path, reps);
    }
}

int main(int argc, char **argv)
{
    static const long usual[] = {1, 4, 16, 48};
    bench_start(&argc, &argv, "aggregators");
    if (argc < 2) {
        if (rank == 0)
            fprintf(stderr, "usage: aggregators FILE [repetitions] [MiB in all...]\n");
        MPI_Finalize();
        return 2;
    }
    int reps = (int)bench_number(argc, argv, 2, 5, 1, BENCH_REPS);
    if (rank == 0)
        printf("%d ranks, median of %d, MB/s with 1, 2, ... aggregators\n", nranks, reps);
    for (int i = 0; argc <= 3 && i < 4; i++)
        sweep(argv[1], reps, usual[i]);
    for (int i = 3; i < argc; i++)
        sweep(argv[1], reps, bench_number(argc, argv, i, 0, 1, 1 << 16));
    if (rank == 0)
        printf("%d cases: %.0f %% within 10 %% of the best, %.0f %% within 25 %%, worst %.2f\n",
               tally.cases, 100.0 * tally.ten / tally.cases,
               100.0 * tally.twentyfive / tally.cases, tally.worst);
    MPI_Finalize();
    return 0;
}
