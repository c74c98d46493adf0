/* Counters and reports: the numbers are those of what was done, on every rank; reports do not
 * collide; one that cannot be written harms nobody. */
#include "expect.h"

#include <sys/stat.h>

#include "brio/brio.h"

enum {
    COUNT = 1000, /* integers of one access */
    TIMES = 5
};

static long long counter(MPI_File fh, const char *name)
{
    long long value = -1;
    OK(brio_counter(fh, name, &value));
    return value;
}

static void is(MPI_File fh, const char *name, long long want)
{
    long long got = counter(fh, name);
    CHECK(got == want, "%s is %lld, not %lld", name, got, want);
}

static MPI_File open_path(const char *path)
{
    MPI_File fh = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &fh));
    return fh;
}

/* Integers of all ranks in turn. */
static void view_in_turn(MPI_File fh)
{
    MPI_Datatype type;
    MPI_Type_vector(COUNT, 1, test_nranks, MPI_INT, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * (MPI_Offset)sizeof(int), MPI_INT, type,
                         "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
}

static void work(MPI_File fh)
{
    static int buf[COUNT];
    MPI_Request req;
    for (int i = 0; i < TIMES; i++) {
        MPI_Offset at = (MPI_Offset)(test_rank * TIMES + i) * (MPI_Offset)sizeof buf;
        OK(MPI_File_write_at(fh, at, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_sync(fh));
    view_in_turn(fh);
    for (int i = 0; i < TIMES; i++)
        OK(MPI_File_write_at_all(fh, 0, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(fh, 0, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at(fh, 0, buf, COUNT / 2, MPI_INT, &req));
    MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void counters_are_right(void)
{
    const long long bytes = COUNT * (long long)sizeof(int);
    MPI_File fh = open_path(test_file());
    work(fh);
    is(fh, "write.independent", TIMES);
    is(fh, "write.collective", TIMES);
    is(fh, "write.bytes", 2 * TIMES * bytes);
    is(fh, "read.collective", 1);
    is(fh, "read.independent", 1);
    is(fh, "read.nonblocking", 1);
    is(fh, "read.bytes", bytes + bytes / 2);
    is(fh, "sizes.write.12", 2 * TIMES);
    is(fh, "sizes.read.12", 1);
    is(fh, "sizes.read.11", 1);
    is(fh, "views", 1);
    is(fh, "syncs", 1);
    is(fh, "write.failed", 0);
    CHECK(counter(fh, "ns.file") > 0, "no time in the file");
    CHECK(counter(fh, "write.calls") >= TIMES, "%lld calls", counter(fh, "write.calls"));
    /* With one rank nothing is gained by a plan. */
    is(fh, "direct", test_nranks > 1 ? 0 : TIMES + 1);
    is(fh, "plan.misses", test_nranks > 1 ? 2 : 0); /* one for each direction */
    is(fh, "plan.hits", test_nranks > 1 ? TIMES - 1 : 0);
    if (test_nranks > 1)
        CHECK(counter(fh, "copied") >= (TIMES + 1) * bytes, "%lld copied",
              counter(fh, "copied"));
    MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN);
    long long value;
    int class = 0;
    MPI_Error_class(brio_counter(fh, "no such thing", &value), &class);
    CHECK(class == MPI_ERR_ARG, "class %d", class);
    OK(MPI_File_close(&fh));
}

static void atomic_mode_locks(void)
{
    int x = 0;
    MPI_File fh = open_path(test_file());
    OK(MPI_File_set_atomicity(fh, 1));
    OK(MPI_File_write_at(fh, 4 * test_rank, &x, 1, MPI_INT, MPI_STATUS_IGNORE));
    is(fh, "locks", 1);
    CHECK(counter(fh, "ns.lock") > 0, "no time for a lock");
    OK(MPI_File_close(&fh));
}

/* The whole file as text, to be freed; "" if there is none. */
static char *text_of(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 22);
    size_t n = f ? fread(text, 1, (1 << 22) - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

static void says(const char *text, const char *fmt, long long value)
{
    char want[100];
    snprintf(want, sizeof want, fmt, value);
    CHECK(strstr(text, want) != NULL, "nothing says %s", want);
}

static void report_to(const char *word)
{
    setenv("BRIO_REPORT", word, 1);
}

static void report_has_all_ranks(void)
{
    char name[600];
    snprintf(name, sizeof name, "%s.json", test_file());
    unlink(name);
    report_to(name);
    MPI_File fh = open_path(test_file());
    work(fh);
    OK(MPI_File_close(&fh));
    unsetenv("BRIO_REPORT");
    if (test_rank == 0) {
        char *text = text_of(name);
        const char *total = strstr(text, "\"total\"");
        REQUIRE(total, "no report in %s", name);
        says(total, "\"write.independent\": %lld", (long long)TIMES * test_nranks);
        says(total, "\"write.bytes\": %lld", 8LL * TIMES * COUNT * test_nranks);
        says(total, "\"rank\": %lld", test_nranks - 1);
        says(total, "[\"write.collective\", %lld, ", 1);
        says(text, "\"ranks\": %lld", test_nranks);
        says(text, "\"framework\": \"fcoll\"", 0);
        free(text);
        unlink(name);
    }
}

/* Two files at once, closed one after the other; and the same names again. */
static void reports_do_not_collide(void)
{
    char dir[600], other[600], name[900];
    snprintf(dir, sizeof dir, "%s.reports/", test_file());
    snprintf(other, sizeof other, "%s.other", test_file());
    snprintf(name, sizeof name, "%sone.json", dir);
    if (test_rank == 0)
        mkdir(dir, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    report_to(name);
    for (int i = 0; i < 2; i++) {
        MPI_File a = open_path(test_file()), b = open_path(other);
        work(a);
        OK(MPI_File_close(&b));
        OK(MPI_File_close(&a));
    }
    unsetenv("BRIO_REPORT");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank != 0)
        return;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, i ? "%sone.%d.json" : "%sone.json", dir, i);
        char *text = text_of(name);
        CHECK(strstr(text, i % 2 ? "dat\", \"size\"" : ".other\", \"size\""),
              "%s is of another file", name);
        CHECK(strlen(text) > 3 && strcmp(text + strlen(text) - 3, "\n}\n") == 0,
              "%s is not whole", name);
        free(text);
        unlink(name);
    }
    CHECK(rmdir(dir) == 0, "there are others in %s", dir);
    unlink(other);
}

static void failing_report_harms_nobody(void)
{
    static int buf[COUNT];
    report_to("/no/such/directory/report.json");
    MPI_File fh = open_path(test_file());
    OK(MPI_File_write_at_all(fh, 0, buf, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    unsetenv("BRIO_REPORT");
}

static const struct test_case cases[] = {
    TEST(counters_are_right),     TEST(atomic_mode_locks),           TEST(report_has_all_ranks),
    TEST(reports_do_not_collide), TEST(failing_report_harms_nobody), {0}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int failed = test_main_mpi(argc, argv, cases);
    MPI_Finalize();
    return failed;
}
