/* Preloaded into a program that uses Brio: makes the n-th call of a libc function fail, be
 * short or be late, counting only calls that come from the Brio library itself. It knows
 * nothing of Brio but the name of its file.
 *
 *   BRIO_FAULT       FUNCTION:N[+]:WHAT[,...]  WHAT is an errno's name, "short" (half of the
 *                    bytes), "zero" (none, and no error) or "late" (a tenth of a second);
 *                    N+ means the N-th call and all after it
 *   BRIO_FAULT_RANK  the rank of MPI_COMM_WORLD it happens on; all if not set
 *   BRIO_FAULT_LOG   a file to which one line is added for every fault; else stderr
 *
 * A program may also arm it by itself, found with dlsym: brio_fault_arm. The names are those
 * in the table; malloc stands for the whole family, fsync for fdatasync too; of fcntl only
 * locks count. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define SHOWN  __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum function {
    MALLOC,
    PREAD,
    PREADV,
    PWRITE,
    PWRITEV,
    OPEN,
    CLOSE,
    FCNTL,
    FTRUNCATE,
    FALLOCATE,
    FSYNC,
    STAT,
    STATFS,
    UNLINK,
    LSEEK,
    MMAP,
    MADVISE,
    MEMFD,
    GETRANDOM,
    THREAD,
    MUTEX,
    COND,
    FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
    [MALLOC] = "malloc",
    [PREAD] = "pread",
    [PREADV] = "preadv",
    [PWRITE] = "pwrite",
    [PWRITEV] = "pwritev",
    [OPEN] = "open",
    [CLOSE] = "close",
    [FCNTL] = "fcntl",
    [FTRUNCATE] = "ftruncate",
    [FALLOCATE] = "fallocate",
    [FSYNC] = "fsync",
    [STAT] = "stat",
    [STATFS] = "statfs",
    [UNLINK] = "unlink",
    [LSEEK] = "lseek",
    [MMAP] = "mmap",
    [MADVISE] = "madvise",
    [MEMFD] = "memfd_create",
    [GETRANDOM] = "getrandom",
    [THREAD] = "pthread_create",
    [MUTEX] = "pthread_mutex_init",
    [COND] = "pthread_cond_init",
};

enum what {
    NOTHING,
    FAIL,
    SHORT,
    ZERO,
    LATE
};

/* What is to happen to a function. Changed only while nothing is armed. */
struct fault {
    long nth; /* 0: nothing */
    bool onward;
    enum what what;
    int err;
    _Atomic long seen;
};

static struct fault faults[FUNCTIONS];
static _Atomic bool armed;
static _Atomic long fired;
static bool noisy; /* armed from the environment: says so when it fires */
static uintptr_t code_from, code_to;

/* ---- Whose call it is ---------------------------------------------------------------------
 */

static int look_for_brio(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size, (void)arg;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    if (strncmp(name, "libbrio-openmpi.", 16) != 0 && strncmp(name, "libbrio-mpich.", 14) != 0)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            code_from = object->dlpi_addr + part->p_vaddr;
            code_to = code_from + part->p_memsz;
        }
    }
    return 1;
}

static bool from_brio(const void *caller)
{
    return (uintptr_t)caller >= code_from && (uintptr_t)caller < code_to;
}

/* ---- Arming --------------------------------------------------------------------------------
 */

static int errno_named(const char *name)
{
    for (int err = 1; err < 200; err++) {
        const char *known = strerrorname_np(err);
        if (known && strcmp(known, name) == 0)
            return err;
    }
    return 0;
}

static bool arm_one(char *spec)
{
    char *state = NULL;
    const char *name = strtok_r(spec, ":", &state), *nth = strtok_r(NULL, ":", &state),
               *what = strtok_r(NULL, ":", &state);
    int function = 0;
    while (name && function < FUNCTIONS && strcmp(name, names[function]) != 0)
        function++;
    if (!name || !nth || function == FUNCTIONS)
        return false;
    char *end;
    struct fault *f = &faults[function];
    f->nth = strtol(nth, &end, 10);
    f->onward = *end == '+';
    f->err = what ? errno_named(what) : ENOMEM;
    f->what = f->err                       ? FAIL
              : strcmp(what, "short") == 0 ? SHORT
              : strcmp(what, "zero") == 0  ? ZERO
              : strcmp(what, "late") == 0  ? LATE
                                           : NOTHING;
    return f->nth > 0 && f->what != NOTHING;
}

/* Takes the place of what was armed; all counts begin again. NULL disarms. False if the text
 * makes no sense. Only while no other thread is inside Brio. */
SHOWN bool brio_fault_arm(const char *spec)
{
    char copy[256];
    bool good = true;
    atomic_store(&armed, false);
    memset(faults, 0, sizeof faults);
    atomic_store(&fired, 0);
    if (!spec)
        return true;
    if (!code_to)
        dl_iterate_phdr(look_for_brio, NULL);
    snprintf(copy, sizeof copy, "%s", spec);
    char *state = NULL;
    for (char *one = strtok_r(copy, ",", &state); one; one = strtok_r(NULL, ",", &state))
        good = arm_one(one) && good;
    atomic_store(&armed, good);
    return good;
}

/* How often something happened since arming. */
SHOWN long brio_fault_fired(void)
{
    return atomic_load(&fired);
}

static const char *my_rank(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return rank ? rank : "0";
}

__attribute__((constructor)) static void begin(void)
{
    const char *spec = getenv("BRIO_FAULT"), *rank = getenv("BRIO_FAULT_RANK");
    dl_iterate_phdr(look_for_brio, NULL);
    if (!spec || (rank && strcmp(rank, my_rank()) != 0))
        return;
    noisy = true;
    if (!brio_fault_arm(spec))
        fprintf(stderr, "fault: cannot read BRIO_FAULT=%s\n", spec);
}

static void note(enum function function, long call)
{
    char line[128];
    const char *path = getenv("BRIO_FAULT_LOG");
    int n = snprintf(line, sizeof line, "fault: rank %s, %s call %ld\n", my_rank(),
                     names[function], call);
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int fd = path ? real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : 2;
    if (write(fd, line, (size_t)n) < 0)
        return;
    if (path)
        close(fd);
}

/* What happens to this call. A late one has been delayed already; of a failing one errno is
 * set already. */
static enum what strike(enum function function, const void *caller)
{
    struct fault *f = &faults[function];
    if (!atomic_load_explicit(&armed, memory_order_acquire) || !f->nth || !from_brio(caller))
        return NOTHING;
    long call = atomic_fetch_add(&f->seen, 1) + 1;
    if (call < f->nth || (call > f->nth && !f->onward))
        return NOTHING;
    atomic_fetch_add(&fired, 1);
    if (noisy)
        note(function, call);
    if (f->what == LATE) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        return NOTHING;
    }
    errno = f->err;
    return f->what;
}

static void *find(void **kept, const char *name)
{
    void *real = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
    if (!real) {
        real = dlsym(RTLD_NEXT, name);
        __atomic_store_n(kept, real, __ATOMIC_RELEASE);
    }
    return real;
}

#define FIND(type, name)                                                                       \
    static void *kept;                                                                         \
    type *real = (type *)find(&kept, name)

/* ---- Memory: the C library's own names, for dlsym may allocate ------------------------------
 */

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

SHOWN void *malloc(size_t n)
{
    return strike(MALLOC, CALLER) == FAIL ? NULL : __libc_malloc(n);
}

SHOWN void *calloc(size_t n, size_t size)
{
    return strike(MALLOC, CALLER) == FAIL ? NULL : __libc_calloc(n, size);
}

SHOWN void *realloc(void *p, size_t n)
{
    return strike(MALLOC, CALLER) == FAIL ? NULL : __libc_realloc(p, n);
}

SHOWN void *aligned_alloc(size_t align, size_t n)
{
    return strike(MALLOC, CALLER) == FAIL ? NULL : __libc_memalign(align, n);
}

SHOWN int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = strike(MALLOC, CALLER) == FAIL ? NULL : __libc_memalign(align, n);
    if (p)
        *out = p;
    return p ? 0 : ENOMEM;
}

SHOWN char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = strike(MALLOC, CALLER) == FAIL ? NULL : __libc_malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}

/* ---- Bytes
 * ----------------------------------------------------------------------------------- */

typedef ssize_t pread_fn(int, void *, size_t, off_t);
typedef ssize_t pwrite_fn(int, const void *, size_t, off_t);
typedef ssize_t vector_fn(int, const struct iovec *, int, off_t);

static size_t half(size_t n)
{
    return n > 1 ? n / 2 : n;
}

SHOWN ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
    FIND(pread_fn, "pread");
    enum what what = strike(PREAD, CALLER);
    if (what == FAIL || what == ZERO)
        return what == FAIL ? -1 : 0;
    return real(fd, buf, what == SHORT ? half(n) : n, off);
}

SHOWN ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
    FIND(pwrite_fn, "pwrite");
    enum what what = strike(PWRITE, CALLER);
    if (what == FAIL || what == ZERO)
        return what == FAIL ? -1 : 0;
    return real(fd, buf, what == SHORT ? half(n) : n, off);
}

/* Half of the pieces, or half of the only one. */
static ssize_t half_vector(vector_fn *real, int fd, const struct iovec *iov, int n, off_t off)
{
    if (n > 1)
        return real(fd, iov, n / 2, off);
    struct iovec one = {.iov_base = iov->iov_base, .iov_len = half(iov->iov_len)};
    return real(fd, &one, 1, off);
}

static ssize_t do_vector(vector_fn *real, enum what what, int fd, const struct iovec *iov,
                         int n, off_t off)
{
    if (what == FAIL || what == ZERO)
        return what == FAIL ? -1 : 0;
    return what == SHORT ? half_vector(real, fd, iov, n, off) : real(fd, iov, n, off);
}

SHOWN ssize_t preadv(int fd, const struct iovec *iov, int n, off_t off)
{
    FIND(vector_fn, "preadv");
    return do_vector(real, strike(PREADV, CALLER), fd, iov, n, off);
}

SHOWN ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t off)
{
    FIND(vector_fn, "pwritev");
    return do_vector(real, strike(PWRITEV, CALLER), fd, iov, n, off);
}

/* ---- Files
 * ------------------------------------------------------------------------------------ */

typedef int open_fn(const char *, int, ...);
typedef int fcntl_fn(int, int, ...);
typedef int fd_fn(int);
typedef int length_fn(int, off_t);
typedef int fallocate_fn(int, int, off_t, off_t);
typedef int reserve_fn(int, off_t, off_t);
typedef int fstat_fn(int, struct stat *);
typedef int stat_fn(const char *, struct stat *);
typedef int statfs_fn(const char *, struct statfs *);
typedef int fstatfs_fn(int, struct statfs *);
typedef int path_fn(const char *);
typedef off_t lseek_fn(int, off_t, int);

SHOWN int open(const char *path, int flags, ...)
{
    FIND(open_fn, "open");
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return strike(OPEN, CALLER) == FAIL ? -1 : real(path, flags, mode);
}

SHOWN int close(int fd)
{
    FIND(fd_fn, "close");
    enum what what = strike(CLOSE, CALLER);
    int err = errno;
    int result = real(fd); /* Linux gives the descriptor back whatever it says */
    errno = err;
    return what == FAIL ? -1 : result;
}

SHOWN int fcntl(int fd, int command, ...)
{
    FIND(fcntl_fn, "fcntl");
    va_list args;
    va_start(args, command);
    void *arg = va_arg(args, void *);
    va_end(args);
    bool locks = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_SETLK ||
                 command == F_SETLKW;
    return locks && strike(FCNTL, CALLER) == FAIL ? -1 : real(fd, command, arg);
}

SHOWN int ftruncate(int fd, off_t n)
{
    FIND(length_fn, "ftruncate");
    return strike(FTRUNCATE, CALLER) == FAIL ? -1 : real(fd, n);
}

SHOWN int fallocate(int fd, int mode, off_t off, off_t n)
{
    FIND(fallocate_fn, "fallocate");
    return strike(FALLOCATE, CALLER) == FAIL ? -1 : real(fd, mode, off, n);
}

SHOWN int posix_fallocate(int fd, off_t off, off_t n)
{
    FIND(reserve_fn, "posix_fallocate");
    return strike(FALLOCATE, CALLER) == FAIL ? errno : real(fd, off, n);
}

SHOWN int fsync(int fd)
{
    FIND(fd_fn, "fsync");
    return strike(FSYNC, CALLER) == FAIL ? -1 : real(fd);
}

SHOWN int fdatasync(int fd)
{
    FIND(fd_fn, "fdatasync");
    return strike(FSYNC, CALLER) == FAIL ? -1 : real(fd);
}

SHOWN int fstat(int fd, struct stat *st)
{
    FIND(fstat_fn, "fstat");
    return strike(STAT, CALLER) == FAIL ? -1 : real(fd, st);
}

SHOWN int stat(const char *path, struct stat *st)
{
    FIND(stat_fn, "stat");
    return strike(STAT, CALLER) == FAIL ? -1 : real(path, st);
}

SHOWN int lstat(const char *path, struct stat *st)
{
    FIND(stat_fn, "lstat");
    return strike(STAT, CALLER) == FAIL ? -1 : real(path, st);
}

SHOWN int statfs(const char *path, struct statfs *st)
{
    FIND(statfs_fn, "statfs");
    return strike(STATFS, CALLER) == FAIL ? -1 : real(path, st);
}

SHOWN int fstatfs(int fd, struct statfs *st)
{
    FIND(fstatfs_fn, "fstatfs");
    return strike(STATFS, CALLER) == FAIL ? -1 : real(fd, st);
}

SHOWN int unlink(const char *path)
{
    FIND(path_fn, "unlink");
    return strike(UNLINK, CALLER) == FAIL ? -1 : real(path);
}

SHOWN off_t lseek(int fd, off_t off, int whence)
{
    FIND(lseek_fn, "lseek");
    return strike(LSEEK, CALLER) == FAIL ? -1 : real(fd, off, whence);
}

/* ---- Pages and threads
 * ------------------------------------------------------------------------ */

typedef void *mmap_fn(void *, size_t, int, int, int, off_t);
typedef int madvise_fn(void *, size_t, int);
typedef int memfd_fn(const char *, unsigned);
typedef ssize_t random_fn(void *, size_t, unsigned);
typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int mutex_fn(pthread_mutex_t *, const pthread_mutexattr_t *);
typedef int cond_fn(pthread_cond_t *, const pthread_condattr_t *);

SHOWN void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    FIND(mmap_fn, "mmap");
    return strike(MMAP, CALLER) == FAIL ? MAP_FAILED : real(at, n, prot, flags, fd, off);
}

SHOWN int madvise(void *at, size_t n, int advice)
{
    FIND(madvise_fn, "madvise");
    return strike(MADVISE, CALLER) == FAIL ? -1 : real(at, n, advice);
}

SHOWN int memfd_create(const char *name, unsigned flags)
{
    FIND(memfd_fn, "memfd_create");
    return strike(MEMFD, CALLER) == FAIL ? -1 : real(name, flags);
}

SHOWN ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    FIND(random_fn, "getrandom");
    return strike(GETRANDOM, CALLER) == FAIL ? -1 : real(buf, n, flags);
}

SHOWN int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                         void *arg)
{
    FIND(create_fn, "pthread_create");
    return strike(THREAD, CALLER) == FAIL ? errno : real(thread, attr, run, arg);
}

SHOWN int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    FIND(mutex_fn, "pthread_mutex_init");
    return strike(MUTEX, CALLER) == FAIL ? errno : real(mutex, attr);
}

SHOWN int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    FIND(cond_fn, "pthread_cond_init");
    return strike(COND, CALLER) == FAIL ? errno : real(cond, attr);
}

/* ---- The same functions under their other names
 * ---------------------------------------------- */

#define ALSO(name) SHOWN __attribute__((alias(name)))

ssize_t pread64(int, void *, size_t, off64_t) ALSO("pread");
ssize_t pwrite64(int, const void *, size_t, off64_t) ALSO("pwrite");
ssize_t preadv64(int, const struct iovec *, int, off64_t) ALSO("preadv");
ssize_t pwritev64(int, const struct iovec *, int, off64_t) ALSO("pwritev");
int open64(const char *, int, ...) ALSO("open");
int fcntl64(int, int, ...) ALSO("fcntl");
int ftruncate64(int, off64_t) ALSO("ftruncate");
int fallocate64(int, int, off64_t, off64_t) ALSO("fallocate");
int posix_fallocate64(int, off64_t, off64_t) ALSO("posix_fallocate");
off64_t lseek64(int, off64_t, int) ALSO("lseek");
void *mmap64(void *, size_t, int, int, int, off64_t) ALSO("mmap");
