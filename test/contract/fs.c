/* The contract of fs: every module, on names, sizes, storage and locks. fallocate is the one
 * below, which can say that it is not supported. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "contract.h"

static int no_fallocate;

int fallocate(int fd, int mode, off_t off, off_t len)
{
    if (no_fallocate) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, off, len);
}

static char path[512];

/* An open of `path` by the module under test. */
struct opened {
    const struct brio_fs *fs;
    void *self;
    struct brio_store store;
};

static enum brio_err open_it(struct opened *o, const struct brio_module *module,
                             const char *name, int amode, bool create)
{
    struct brio_fs_open how = {
        .path = bare(name), .amode = amode, .create = create, .perm = -1};
    void *conf = make_conf(module, NULL);
    o->fs = (const struct brio_fs *)module;
    enum brio_err err = o->fs->open(&how, conf, &o->self, &o->store);
    free(conf);
    return err;
}

static void close_it(struct opened *o)
{
    CHECK(o->fs->close(o->self) == BRIO_OK, "%s", brio_err_text());
}

static enum brio_err remove_it(const struct brio_module *module)
{
    void *conf = make_conf(module, NULL);
    enum brio_err err = ((const struct brio_fs *)module)->remove(bare(path), conf);
    free(conf);
    return err;
}

static int create_it(struct opened *o, const struct brio_module *module)
{
    unlink(path);
    enum brio_err err = open_it(o, module, path, MPI_MODE_RDWR | MPI_MODE_CREATE, true);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    return err == BRIO_OK;
}

static brio_off size_of(struct opened *o)
{
    brio_off size = -1;
    CHECK(o->fs->get_size(o->self, &size) == BRIO_OK, "%s", brio_err_text());
    return size;
}

static void run(void (*fn)(const struct brio_module *module))
{
    snprintf(path, sizeof path, "%s", file_name("fs"));
    each_module(BRIO_FS, path, fn);
    unlink(path);
}

static void (*descriptor_case)(const struct brio_module *module);

static void if_descriptor(const struct brio_module *module)
{
    if (strcmp(((const struct brio_fs *)module)->store, BRIO_STORE_DESCRIPTOR) == 0)
        descriptor_case(module);
}

/* For what only the operating system's own files can show: limits of the process, its users,
 * devices. */
static void run_descriptors(void (*fn)(const struct brio_module *module))
{
    descriptor_case = fn;
    run(if_descriptor);
}

/* ---- Opening ----------------------------------------------------------------------------- */

static void expect_open(const struct brio_module *module, const char *name, int amode,
                        bool create, enum brio_err expected)
{
    struct opened o;
    enum brio_err err = open_it(&o, module, name, amode, create);
    CHECK(err == expected, "open with %d, %s: %s, not %s (%s)", amode,
          create ? "creating" : "finding", brio_err_name(err), brio_err_name(expected),
          brio_err_text());
    if (err == BRIO_OK)
        close_it(&o);
    else
        CHECK(strstr(brio_err_text(), bare(name)), "does not name the file: %s",
              brio_err_text());
}

static void opening_on(const struct brio_module *module)
{
    const int rw = MPI_MODE_RDWR, create = MPI_MODE_CREATE, excl = MPI_MODE_EXCL;
    char missing[600];
    snprintf(missing, sizeof missing, "%s.none/file", path);
    unlink(path);
    expect_open(module, path, rw, false, BRIO_ENOENT);
    expect_open(module, path, rw | create, false, BRIO_ENOENT); /* not the creating rank */
    expect_open(module, missing, rw | create, true, BRIO_ENOENT);
    expect_open(module, path, rw | create | excl, true, BRIO_OK);
    expect_open(module, path, rw | create | excl, true, BRIO_EEXIST);
    expect_open(module, path, rw | create | excl, false, BRIO_OK); /* the others find it */
    expect_open(module, path, rw | create, true, BRIO_OK);
    expect_open(module, path, MPI_MODE_RDONLY, false, BRIO_OK);
    expect_open(module, path, MPI_MODE_WRONLY, false, BRIO_OK);
    expect_open(module, here(), MPI_MODE_RDONLY, false, BRIO_EBADFILE);
    expect_open(module, here(), rw, false, BRIO_EBADFILE);
}

static void opening(void)
{
    run(opening_on);
}

static void store_on(const struct brio_module *module)
{
    struct opened o;
    if (!create_it(&o, module))
        return;
    CHECK(o.store.readable && o.store.writable, "cannot do what was asked for");
    CHECK(o.store.fd >= 0 || o.store.handle, "nothing for fbtl");
    CHECK(o.store.block_size > 0, "block size %lld", (long long)o.store.block_size);
    CHECK(o.store.fd < 0 || (fcntl(o.store.fd, F_GETFD) & FD_CLOEXEC), "a child inherits it");
    CHECK(o.store.fd < 0 || !(fcntl(o.store.fd, F_GETFL) & (O_APPEND | O_NONBLOCK)),
          "flags that nobody asked for");
    struct brio_layout layout = {.nservers = -1};
    CHECK(o.fs->layout(o.self, &layout) == BRIO_OK, "%s", brio_err_text());
    CHECK(layout.nservers >= 1 && layout.stripe >= 0, "layout of %d servers", layout.nservers);
    CHECK(o.fs->sync(o.self) == BRIO_OK, "%s", brio_err_text());
    close_it(&o);
    if (open_it(&o, module, path, MPI_MODE_WRONLY | MPI_MODE_APPEND, false) == BRIO_OK) {
        CHECK(o.store.readable && o.store.writable, "write-only is not readable as well");
        CHECK(o.store.fd < 0 || !(fcntl(o.store.fd, F_GETFL) & O_APPEND), "O_APPEND");
        close_it(&o);
    }
    if (open_it(&o, module, path, MPI_MODE_RDONLY, false) == BRIO_OK) {
        CHECK(o.store.readable && !o.store.writable, "read-only is writable");
        CHECK(o.fs->sync(o.self) == BRIO_OK, "%s", brio_err_text());
        close_it(&o);
    }
}

static void what_the_store_can_do(void)
{
    run(store_on);
}

/* Permissions do not bind root, so this runs as somebody else, in a process of its own. */
static void denied_on(const struct brio_module *module)
{
    struct opened o;
    if (!create_it(&o, module))
        return;
    close_it(&o);
    chmod(path, 0222);
    pid_t child = fork();
    if (child == 0) {
        int bad = 0;
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(77);
        enum brio_err err = open_it(&o, module, path, MPI_MODE_WRONLY, false);
        if (err == BRIO_EACCESS || err == BRIO_ENOENT) /* the directory is closed to us */
            _exit(access(path, W_OK) ? 77 : 1);
        bad |= err != BRIO_OK || o.store.readable || !o.store.writable;
        bad |= o.fs->lock(o.self, BRIO_LOCK_SHARED, 0, 10) != BRIO_OK;
        bad |= open_it(&o, module, path, MPI_MODE_RDONLY, false) != BRIO_EACCESS;
        bad |= open_it(&o, module, path, MPI_MODE_RDWR, false) != BRIO_EACCESS;
        _exit(bad);
    }
    int status = 0;
    waitpid(child, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    CHECK(code == 0 || code == 77, "a file that may only be written: exit %d", code);
    if (code == 77)
        fprintf(stderr, "permissions not tested: the directory is closed to others\n");
}

static void permissions(void)
{
    chmod(getenv("BRIO_TEST_DIR") ? getenv("BRIO_TEST_DIR") : ".", 0755);
    run_descriptors(denied_on);
}

static void mode_on(const struct brio_module *module)
{
    struct stat st;
    struct brio_fs_open how = {.path = bare(path),
                               .amode = MPI_MODE_RDWR | MPI_MODE_CREATE,
                               .create = true,
                               .perm = 0640};
    void *conf = make_conf(module, NULL);
    struct opened o = {.fs = (const struct brio_fs *)module};
    mode_t old = umask(022);
    unlink(path);
    CHECK(o.fs->open(&how, conf, &o.self, &o.store) == BRIO_OK, "%s", brio_err_text());
    close_it(&o);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "mode %o", st.st_mode & 0777);
    unlink(path);
    how.perm = -1;
    CHECK(o.fs->open(&how, conf, &o.self, &o.store) == BRIO_OK, "%s", brio_err_text());
    close_it(&o);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644, "mode %o", st.st_mode & 0777);
    umask(old);
    free(conf);
}

static void mode_of_a_new_file(void)
{
    run(mode_on);
}

/* A pipe has no offsets, and opening it must not wait for the other end. */
static void pipe_on(const struct brio_module *module)
{
    unlink(path);
    if (mkfifo(path, 0600) != 0) {
        fprintf(stderr, "no pipes here: %s\n", strerror(errno));
        return;
    }
    expect_open(module, path, MPI_MODE_RDONLY, false, BRIO_EBADFILE);
    expect_open(module, path, MPI_MODE_RDWR, false, BRIO_EBADFILE);
    unlink(path);
}

static void pipes(void)
{
    run(pipe_on);
}

static void remove_on(const struct brio_module *module)
{
    const struct brio_fs *fs = (const struct brio_fs *)module;
    struct opened o;
    if (!create_it(&o, module))
        return;
    CHECK(remove_it(module) == BRIO_OK, "%s", brio_err_text());
    CHECK(access(path, F_OK) != 0, "still there");
    if (strcmp(fs->store, "pvfs2") != 0) /* its servers do not know who has a file open */
        CHECK(fs->set_size(o.self, 100) == BRIO_OK && size_of(&o) == 100,
              "an open file is gone");
    close_it(&o);
    CHECK(remove_it(module) == BRIO_ENOENT, "%s", brio_err_text());
    REQUIRE(mkdir(path, 0700) == 0, "mkdir");
    CHECK(remove_it(module) == BRIO_EBADFILE, "%s", brio_err_text());
    rmdir(path);
}

static void removing(void)
{
    run(remove_on);
}

/* ---- Sizes ----------------------------------------------------------------------------------
 */

static void put(const char *text, brio_off off)
{
    long n = (long)strlen(text);
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, text, (size_t)n, off) == n, "pwrite");
    close(fd);
}

static void expect_bytes(const char *text, size_t n, brio_off off)
{
    char got[64];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && pread(fd, got, n, off) == (long)n && memcmp(got, text, n) == 0,
          "other bytes at %lld", (long long)off);
    close(fd);
}

static void size_on(const struct brio_module *module)
{
    struct opened o;
    if (!create_it(&o, module))
        return;
    CHECK(size_of(&o) == 0, "a new file has bytes");
    const brio_off sizes[] = {10, 5, 0, 100000, (brio_off)5 << 30, 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK(o.fs->set_size(o.self, sizes[i]) == BRIO_OK, "%s", brio_err_text());
        CHECK(size_of(&o) == sizes[i], "%lld, not %lld", (long long)size_of(&o),
              (long long)sizes[i]);
    }
    put("abcdefg", 0);
    CHECK(o.fs->set_size(o.self, 3) == BRIO_OK, "%s", brio_err_text());
    CHECK(o.fs->set_size(o.self, 6) == BRIO_OK, "%s", brio_err_text());
    expect_bytes("abc\0\0\0", 6, 0);
    CHECK(o.fs->set_size(o.self, -1) != BRIO_OK, "a negative size");
    close_it(&o);
}

static void sizes(void)
{
    run(size_on);
}

static void allocate_on(const struct brio_module *module)
{
    struct opened o;
    if (!create_it(&o, module))
        return;
    CHECK(o.fs->allocate(o.self, 0) == BRIO_OK && size_of(&o) == 0, "%s", brio_err_text());
    put("first", 0);
    CHECK(o.fs->allocate(o.self, 300000) == BRIO_OK, "%s", brio_err_text());
    CHECK(size_of(&o) == 300000, "%lld bytes", (long long)size_of(&o));
    struct stat st;
    expect_bytes("first\0\0", 7, 0);
    expect_bytes("\0\0\0", 3, 299997);
    CHECK(stat(path, &st) == 0 && st.st_blocks >= 300000 / 512, "only %ld blocks",
          (long)st.st_blocks);
    put("last", 299996);
    CHECK(o.fs->allocate(o.self, 1000) == BRIO_OK, "%s", brio_err_text());
    CHECK(size_of(&o) == 300000, "it shrank to %lld bytes", (long long)size_of(&o));
    expect_bytes("first", 5, 0);
    expect_bytes("last", 4, 299996);
    close_it(&o);
}

static void allocating(void)
{
    run(allocate_on);
    no_fallocate = 1;
    run(allocate_on);
    no_fallocate = 0;
}

static void allocate_too_much_on(const struct brio_module *module)
{
    struct opened o;
    struct rlimit old, now;
    if (!create_it(&o, module))
        return;
    put("data", 0);
    getrlimit(RLIMIT_FSIZE, &old);
    now = old;
    now.rlim_cur = 50000;
    setrlimit(RLIMIT_FSIZE, &now);
    CHECK(o.fs->allocate(o.self, 100000) == BRIO_EQUOTA, "%s", brio_err_text());
    CHECK(o.fs->set_size(o.self, 100000) == BRIO_EQUOTA, "%s", brio_err_text());
    setrlimit(RLIMIT_FSIZE, &old);
    expect_bytes("data", 4, 0);
    close_it(&o);
}

static void file_size_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    run_descriptors(allocate_too_much_on);
    no_fallocate = 1;
    run_descriptors(allocate_too_much_on);
    no_fallocate = 0;
}

static void device_on(const struct brio_module *module)
{
    struct opened o;
    expect_open(module, "/dev/null", MPI_MODE_RDWR | MPI_MODE_CREATE, true, BRIO_OK);
    enum brio_err err = open_it(&o, module, "/dev/null", MPI_MODE_RDWR, false);
    REQUIRE(err == BRIO_OK, "%s", brio_err_text());
    CHECK(size_of(&o) == 0, "it has a size");
    CHECK(o.fs->sync(o.self) == BRIO_OK, "%s", brio_err_text());
    CHECK(o.fs->set_size(o.self, 10) == BRIO_EUNSUPOP, "%s", brio_err_text());
    CHECK(o.fs->allocate(o.self, 10) == BRIO_EUNSUPOP, "%s", brio_err_text());
    CHECK(!o.store.mappable && !o.store.local, "it can be mapped");
    close_it(&o);
}

static void devices(void)
{
    run_descriptors(device_on);
}

/* ---- Locks
 * ------------------------------------------------------------------------------------ */

struct waiter {
    struct opened *o;
    enum brio_lock how;
    brio_off off, len;
    _Atomic int got;
};

static void *wait_for(void *arg)
{
    struct waiter *w = arg;
    enum brio_err err = w->o->fs->lock(w->o->self, w->how, w->off, w->len);
    atomic_store(&w->got, err == BRIO_OK ? 1 : -1);
    return NULL;
}

/* Whether a lock by `b` is had while `a` holds its own. */
static void expect_exclusion(struct opened *a, enum brio_lock held, struct opened *b,
                             enum brio_lock wanted, brio_off off, int excluded)
{
    struct waiter w = {.o = b, .how = wanted, .off = off, .len = 10};
    pthread_t thread;
    CHECK(a->fs->lock(a->self, held, 100, 50) == BRIO_OK, "%s", brio_err_text());
    REQUIRE(pthread_create(&thread, NULL, wait_for, &w) == 0, "no thread");
    for (int i = 0; i < (excluded ? 10 : 1000) && !atomic_load(&w.got); i++)
        usleep(10000);
    CHECK(atomic_load(&w.got) == !excluded, "%d against %d at %lld", (int)wanted, (int)held,
          (long long)off);
    CHECK(a->fs->lock(a->self, BRIO_LOCK_NONE, 100, 50) == BRIO_OK, "%s", brio_err_text());
    pthread_join(thread, NULL);
    CHECK(atomic_load(&w.got) == 1, "never got it");
    CHECK(b->fs->lock(b->self, BRIO_LOCK_NONE, off, 10) == BRIO_OK, "%s", brio_err_text());
}

static void lock_on(const struct brio_module *module)
{
    struct opened a, b;
    if (!create_it(&a, module))
        return;
    enum brio_err err = open_it(&b, module, path, MPI_MODE_RDWR, false);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    if (err == BRIO_OK) {
        const enum brio_lock ex = BRIO_LOCK_EXCLUSIVE, sh = BRIO_LOCK_SHARED;
        expect_exclusion(&a, ex, &b, ex, 120, 1);
        expect_exclusion(&a, ex, &b, sh, 149, 1);
        expect_exclusion(&a, sh, &b, ex, 91, 1);
        /* OrangeFS has but one lock for a file. */
        int coarse = strcmp(a.fs->store, "pvfs2") == 0;
        expect_exclusion(&a, sh, &b, sh, 120, coarse);
        expect_exclusion(&a, ex, &b, ex, 150, coarse); /* beside it */
        expect_exclusion(&a, ex, &b, ex, 90, coarse);
        CHECK(a.fs->lock(a.self, ex, 0, BRIO_OFF_MAX) == BRIO_OK, "%s", brio_err_text());
        CHECK(a.fs->lock(a.self, BRIO_LOCK_NONE, 0, BRIO_OFF_MAX) == BRIO_OK, "%s",
              brio_err_text());
        CHECK(b.fs->lock(b.self, ex, 10, BRIO_OFF_MAX) == BRIO_OK, "%s", brio_err_text());
        CHECK(b.fs->lock(b.self, BRIO_LOCK_NONE, 10, BRIO_OFF_MAX) == BRIO_OK, "%s",
              brio_err_text());
        close_it(&b);
    }
    close_it(&a);
}

/* A process that ends with a lock holds up nobody. Comes first: once this process is connected
 * to servers, a child of it cannot be. */
static void abandon_on(const struct brio_module *module)
{
    struct opened o;
    if (strcmp(((const struct brio_fs *)module)->store, "ceph") == 0)
        return; /* its servers wait a minute for a client that was killed */
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        enum brio_err err = open_it(&o, module, path, MPI_MODE_RDWR | MPI_MODE_CREATE, true);
        _exit(err || o.fs->lock(o.self, BRIO_LOCK_EXCLUSIVE, 0, 10));
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "the child got no lock");
    enum brio_err err = open_it(&o, module, path, MPI_MODE_RDWR, false);
    CHECK(err == BRIO_OK, "%s", brio_err_text());
    if (err)
        return;
    alarm(20);
    CHECK(o.fs->lock(o.self, BRIO_LOCK_EXCLUSIVE, 0, 10) == BRIO_OK, "%s", brio_err_text());
    CHECK(o.fs->lock(o.self, BRIO_LOCK_NONE, 0, 10) == BRIO_OK, "%s", brio_err_text());
    alarm(0);
    close_it(&o);
}

static void abandoned_locks(void)
{
    run(abandon_on);
}

static void locks(void)
{
    run(lock_on);
}

/* ---- Names
 * ------------------------------------------------------------------------------------- */

static void expect_split(const char *name, const char *prefix, const char *rest)
{
    char got[16];
    const char *behind = brio_fs_split(name, got);
    CHECK(strcmp(got, prefix) == 0 && strcmp(behind, rest) == 0, "%s: \"%s\" and \"%s\"", name,
          got, behind);
}

static void prefixes(void)
{
    expect_split("ufs:/a/b", "ufs", "/a/b");
    expect_split("nfs:c", "nfs", "c");
    expect_split("lustre:/x:y", "lustre", "/x:y");
    expect_split("plain", "", "plain");
    expect_split("a:b", "", "a:b");
    expect_split("./ufs:b", "", "./ufs:b");
    expect_split("ufsx:b", "", "ufsx:b");
    expect_split("ufs", "", "ufs");
    expect_split("", "", "");
}

static void probing(void)
{
    struct brio_facts facts = {0};
    const char *name = file_name("probe");
    brio_fs_probe("/dev/shm", &facts);
    if (strcmp(facts.fs_name, "tmpfs") == 0)
        CHECK(facts.local && facts.exists && facts.block_size > 0, "tmpfs");
    brio_fs_probe(name, &facts);
    CHECK(!facts.exists && facts.fs_name[0] && facts.block_size > 0, "%s", facts.fs_name);
    brio_fs_probe("no such directory/file", &facts);
    CHECK(!facts.exists && !facts.local && strcmp(facts.fs_name, "unknown") == 0, "%s",
          facts.fs_name);
    CHECK(brio_fs_kind(0x6969) && !(brio_fs_kind(0x6969)->traits & BRIO_FS_LOCAL),
          "nfs is not local");
    CHECK(brio_fs_kind((long)(int)0x9123683e), "a negative number is the same number");
    CHECK(!brio_fs_kind(1), "nothing has this number");
}

static const struct test_case cases[] = {TEST(abandoned_locks),
                                         TEST(opening),
                                         TEST(what_the_store_can_do),
                                         TEST(permissions),
                                         TEST(mode_of_a_new_file),
                                         TEST(pipes),
                                         TEST(removing),
                                         TEST(sizes),
                                         TEST(allocating),
                                         TEST(file_size_limit),
                                         TEST(devices),
                                         TEST(locks),
                                         TEST(prefixes),
                                         TEST(probing),
                                         {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
