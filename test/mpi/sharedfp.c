/* Each sharedfp module, asked for by its name: what the user's directory shows of it, what it
 * does when it cannot serve, and that a rank which computes does not hold up the others. */
#include <dirent.h>

#include "expect.h"

static const char *const numbers[] = {"sm", "rma", "lockedfile", "addproc"};

/* Modules that may be unable to serve: not every MPICH can start processes, and in a file
 * system that is not the operating system's no file can be put beside the user's. */
static int may_refuse(const char *module)
{
#ifndef OPEN_MPI
    if (strcmp(module, "addproc") == 0)
        return 1;
#endif
    return strcmp(module, "lockedfile") == 0 &&
           (strncmp(test_file(), "ceph:", 5) == 0 || strncmp(test_file(), "pvfs2:", 6) == 0);
}

/* BRIO_NODES pretends nodes, and then there is no memory that all ranks share. A module that
 * cannot serve says so, and nothing else. */
static int can_serve(const char *module)
{
    const char *nodes = getenv("BRIO_NODES");
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    if (strcmp(module, "sm") == 0)
        return !nodes || atoi(nodes) < 2;
    if (!may_refuse(module))
        return 1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", module);
    int err =
        MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh);
    MPI_Info_free(&info);
    CHECK(!err || error_class(err) == MPI_ERR_UNSUPPORTED_OPERATION, "%s", error_text(err));
    if (!err)
        OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    return !err;
}

static MPI_File open_with(const char *path, const char *module, int amode)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info, said;
    char name[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", module);
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &fh));
    MPI_Info_free(&info);
    if (fh == MPI_FILE_NULL)
        return fh;
    OK(MPI_File_get_info(fh, &said));
    MPI_Info_get(said, "brio_sharedfp", MPI_MAX_INFO_VAL, name, &flag);
    CHECK(flag && strcmp(name, module) == 0, "%s serves, not %s", name, module);
    MPI_Info_free(&said);
    return fh;
}

static void each(void (*fn)(const char *module))
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int before = test_failed;
        if (!can_serve(numbers[i]))
            continue;
        fn(numbers[i]);
        if (test_failed > before)
            fprintf(stderr, "  with %s\n", numbers[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All calls once, and what is in the file afterwards. */
static void all_calls_on(const char *module)
{
    MPI_File fh = open_with(test_file(), module,
                            MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    if (fh == MPI_FILE_NULL)
        return;
    int n = test_nranks, me = test_rank, got = -1;
    MPI_Offset at = -1;
    MPI_Request req;
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_shared(fh, &me, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_iwrite_shared(fh, &me, 1, MPI_INT, &req));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    OK(MPI_File_write_ordered(fh, &me, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 3 * n, "at %lld", (long long)at);
    OK(MPI_File_seek_shared(fh, -n, MPI_SEEK_END));
    OK(MPI_File_read_ordered(fh, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == me, "read %d", got);
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    int *seen = calloc((size_t)n, sizeof *seen), *all = calloc((size_t)n, sizeof *all);
    for (int i = 0; i < 2; i++) {
        OK(MPI_File_read_shared(fh, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        if (got >= 0 && got < n)
            seen[got]++;
    }
    MPI_Allreduce(seen, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        CHECK(all[i] == 2, "rank %d's came %d times", i, all[i]);
    free(seen);
    free(all);
    OK(MPI_File_close(&fh));
}

static void all_calls(void)
{
    each(all_calls_on);
}

/* A file that is appended to begins at its end, and a view puts the pointer to 0. */
static void append_on(const char *module)
{
    make_file(test_file(), 12, 7);
    MPI_File fh = open_with(test_file(), module, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset at = -1;
    OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 12, "at %lld", (long long)at);
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_position_shared(fh, &at));
    CHECK(at == 0, "at %lld", (long long)at);
    OK(MPI_File_close(&fh));
}

static void append(void)
{
    each(append_on);
}

static int entries(void)
{
    char dir[700];
    int n = 0;
    snprintf(dir, sizeof dir, "%s", test_file());
    *strrchr(dir, '/') = 0;
    DIR *d = opendir(dir);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Whoever does not use the pointer finds nothing beside his file, and afterwards nobody. */
static void traces_on(const char *module)
{
    make_file(test_file(), 0, 0);
    int before = entries(), one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_with(test_file(), module, MPI_MODE_RDWR | MPI_MODE_APPEND);
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(fh, test_rank, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(entries() == before, "%d entries, not %d", entries(), before);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == test_nranks - 1) /* one rank alone */
        OK(MPI_File_write_shared(fh, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(entries() == before, "%d entries, not %d", entries(), before);
}

static void no_traces(void)
{
    each(traces_on);
}

/* Rank 0 does not call MPI for two seconds. */
static void home_computes_on(const char *module)
{
    MPI_File fh = open_with(test_file(), module, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (test_rank == 0)
        usleep(2000000);
    for (int i = 0; test_rank > 0 && i < 20; i++)
        OK(MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    double took = MPI_Wtime() - begin;
    CHECK(test_rank == 0 || took < 1.5, "rank 0 held it up: %.3f s", took);
    OK(MPI_File_close(&fh));
}

static void home_computes(void)
{
    each(home_computes_on);
}

/* An unprivileged user in a directory that he may only read. */
static void no_permission(void)
{
    char dir[700], path[750], way[750];
    snprintf(dir, sizeof dir, "%s", other_file("dir"));
    snprintf(path, sizeof path, "%s/data", dir);
    int root = geteuid() == 0;
    if (test_rank == 0) {
        mkdir(dir, 0755);
        int fd = open(path, O_RDWR | O_CREAT, 0666);
        CHECK(fd >= 0 && write(fd, "data", 4) == 4 && fchmod(fd, 0666) == 0, "%s", path);
        close(fd);
        chmod(dir, 0555);
        snprintf(way, sizeof way, "%s/..", dir);
        chmod(way, 0711); /* the other user's way to it */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (root && seteuid(65534) != 0)
        SKIP("no other user to be");
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", "lockedfile");
    int reached = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0, all;
    MPI_Allreduce(&reached, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) {
        FAILS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, info, &fh),
              MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK(fh == MPI_FILE_NULL, "a handle");
        /* Without the hint there is another module. */
        char got[4] = "";
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
        OK(MPI_File_read_ordered(fh, got, test_rank == 0 ? 4 : 0, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(test_rank || memcmp(got, "data", 4) == 0, "read %.4s", got);
        OK(MPI_File_close(&fh));
    }
    MPI_Info_free(&info);
    if (root)
        CHECK(seteuid(0) == 0, "who am I");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        chmod(dir, 0755);
        unlink(path);
        rmdir(dir);
    }
    if (!all)
        SKIP("another user cannot reach %s", path);
}

/* What a killed job has left is removed; what a living one uses is not. */
static void stale_files(void)
{
    static const char tag[] = "0123456789abcdef0123456789abcde";
    char dead[900], alive[900];
    const char *base = strrchr(test_file(), '/') + 1;
    int dir = (int)(base - test_file());
    snprintf(dead, sizeof dead, "%.*s.%s.brio-lock-%s0", dir, test_file(), base, tag);
    snprintf(alive, sizeof alive, "%.*s.%s.brio-lock-%s1", dir, test_file(), base, tag);
    int fd = -1;
    if (test_rank == 0) {
        struct flock range = {.l_type = F_RDLCK, .l_start = 8, .l_len = 1};
        close(open(dead, O_RDWR | O_CREAT, 0600));
        fd = open(alive, O_RDWR | O_CREAT, 0600);
        CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &range) == 0, "no lock");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = open_with(test_file(), "lockedfile", MPI_MODE_RDWR | MPI_MODE_CREATE);
    OK(MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    if (test_rank == 0) {
        CHECK(access(dead, F_OK) != 0, "%s is still there", dead);
        CHECK(access(alive, F_OK) == 0, "%s is gone", alive);
        close(fd);
        unlink(alive);
    }
}

/* A lock that another process never gives back is an error in time, not a hang. */
static void lost_lock(void)
{
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sharedfp", "lockedfile");
    MPI_Info_set(info, "lockedfile_limit", "1");
    OK(MPI_File_open(MPI_COMM_WORLD, test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE, info, &fh));
    MPI_Info_free(&info);
    OK(MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = -1;
    if (test_rank == 0) {
        struct flock range = {.l_type = F_WRLCK, .l_start = 0, .l_len = 8};
        char dir[700];
        snprintf(dir, sizeof dir, "%s", test_file());
        *strrchr(dir, '/') = 0;
        DIR *d = opendir(dir);
        for (struct dirent *e = readdir(d); e; e = readdir(d))
            if (strstr(e->d_name, ".brio-lock-"))
                fd = openat(dirfd(d), e->d_name, O_RDWR);
        closedir(d);
        CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLKW, &range) == 0, "no lock file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    FAILS(MPI_File_write_shared(fh, "y", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_IO);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_write_shared(fh, "z", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(size_on_disk(test_file()) == 2 * test_nranks, "size %lld",
          (long long)size_on_disk(test_file()));
}

static const struct test_case cases[] = {
    TEST(all_calls),     TEST(append),      TEST(no_traces), TEST(home_computes),
    TEST(no_permission), TEST(stale_files), TEST(lost_lock), {0}};
TEST_MAIN(cases)
