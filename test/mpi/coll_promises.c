/* What the collective engine promises beside the right bytes: how much it asks of the MPI,
 * however many rounds an access has and however many blocks its views, and that ranks copy
 * while an owner accesses the file. Nothing here depends on time: calls are counted, and what
 * must happen at the same time is made to wait for each other. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "coll_modules.h"
#include "coll_tally.h"

#include "brio/brio.h"
#include "calls.h"

enum {
    BUFFER = 64 << 10, /* cb_buffer_size */
    FEW = 4,           /* rounds, about */
    MANY = 40
};

/* Every module that has owners, on every number of nodes named; the last one is 0. */
static void each(const int *nodes, void (*body)(const struct coll_setup *setup))
{
    for (int m = 0; m < coll_count; m++)
        for (int i = 0; nodes[i]; i++) {
            struct coll_setup setup = {
                .module = coll_name[m], .nodes = nodes[i], .buffer = BUFFER};
            int before = test_failed;
            if (strcmp(setup.module, "individual") == 0 || nodes[i] > test_nranks)
                continue;
            body(&setup);
            if (test_failed > before)
                fprintf(stderr, "  rank %d: %s\n", test_rank, coll_text(&setup));
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

/* ---- Accesses --------------------------------------------------------------------------- */

/* Blocks of all ranks in turn, and after each turn bytes of nobody; a rank has n bytes. */
struct dealt {
    int block;
    int n;
    int gap;
};

static MPI_File open_dealt(const struct coll_setup *setup, const struct dealt *d)
{
    MPI_Datatype vector;
    if (test_rank == 0)
        unlink(test_file());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File fh = coll_open(setup);
    MPI_Type_vector(d->n / d->block, d->block, d->block * test_nranks + d->gap, MPI_BYTE,
                    &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * d->block, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
    return fh;
}

static unsigned char value_at(int i, int generation)
{
    return (unsigned char)((test_rank * 31 + i * 7 + i / 251 + generation * 83) % 251);
}

/* What one access cost. */
struct cost {
    long long alltoalls, others, sends, bytes; /* this rank's */
    long long hits;                            /* plans of before that it used */
    long long windows, messages;               /* all ranks' */
};

static long long counter(MPI_File fh, const char *name)
{
    long long value = -1;
    OK(brio_counter(fh, name, &value));
    return value;
}

static struct cost count(MPI_File fh, int write, const struct call *call)
{
    MPI_Status status;
    long long hits = counter(fh, "plan.hits");
    long long mine[] = {counter(fh, "windows"), counter(fh, "messages")}, all[2];
    MPI_Barrier(MPI_COMM_WORLD);
    tally_start();
    OK(write ? call_write(fh, call, &status) : call_read(fh, call, &status));
    tally_stop();
    CHECK(status_bytes(&status) == call->count, "%lld bytes", (long long)status_bytes(&status));
    mine[0] = counter(fh, "windows") - mine[0];
    mine[1] = counter(fh, "messages") - mine[1];
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return (struct cost){.alltoalls = tally.calls[TALLY_ALLTOALL],
                         .others = tally.calls[TALLY_OTHER],
                         .sends = tally.calls[TALLY_SEND],
                         .bytes = tally.bytes,
                         .hits = counter(fh, "plan.hits") - hits,
                         .windows = all[0],
                         .messages = all[1]};
}

/* Written twice and read twice, with a plan to be made and with one that is there. */
struct costs {
    struct cost cost[2][2]; /* [write][again] */
};

static struct costs count_all(const struct coll_setup *setup, const struct dealt *d,
                              enum kind kind)
{
    struct costs out;
    unsigned char *buf = malloc((size_t)d->n);
    struct call call = {.kind = kind, .buf = buf, .count = d->n, .type = MPI_BYTE};
    int wrong = 0;
    if (!buf)
        abort();
    MPI_File fh = open_dealt(setup, d);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < d->n; i++)
            buf[i] = value_at(i, again);
        out.cost[1][again] = count(fh, 1, &call);
    }
    for (int again = 0; again < 2; again++) {
        memset(buf, 0xEE, (size_t)d->n);
        out.cost[0][again] = count(fh, 0, &call);
        for (int i = 0; i < d->n; i++)
            wrong += buf[i] != value_at(i, 1);
    }
    CHECK(wrong == 0, "%d bytes are others", wrong);
    for (int write = 0; write < 2; write++)
        CHECK(out.cost[write][1].hits == 1, "%s: no plan was used again",
              write ? "write" : "read");
    OK(MPI_File_close(&fh));
    free(buf);
    return out;
}

/* ---- The number of rounds ---------------------------------------------------------------- */

static void compare_rounds(const struct coll_setup *plain, enum kind kind)
{
    struct coll_setup setup = *plain;
    struct costs costs[2];
    setup.owners = 2;
    for (int many = 0; many < 2; many++) {
        struct dealt d = {.block = 512, .n = (many ? MANY : FEW) * BUFFER / test_nranks};
        costs[many] = count_all(&setup, &d, kind);
    }
    for (int i = 0; i < 4; i++) {
        int write = i / 2, again = i % 2;
        const struct cost *few = &costs[0].cost[write][again];
        const struct cost *many = &costs[1].cost[write][again];
        const char *what = write ? "write" : "read";
        CHECK(few->windows >= FEW && many->windows >= few->windows * MANY / FEW,
              "%s: %lld windows, and %lld", what, few->windows, many->windows);
        CHECK(few->alltoalls == many->alltoalls && few->others == many->others,
              "%s, %s: %lld all-to-alls and %lld other collectives for %lld windows, %lld and "
              "%lld for %lld",
              what, again ? "again" : "new", few->alltoalls, few->others, few->windows,
              many->alltoalls, many->others, many->windows);
        CHECK(!again || many->alltoalls == 0, "%s: %lld all-to-alls with a plan", what,
              many->alltoalls);
        CHECK(setup.nodes == 1 || many->others > 0, "%s: nobody has agreed on anything", what);
    }
}

static void rounds_blocking(const struct coll_setup *setup)
{
    compare_rounds(setup, AT_ALL);
}

static void rounds_nonblocking(const struct coll_setup *setup)
{
    compare_rounds(setup, IAT_ALL);
}

/* How much is in which round is known from the plan: nobody asks again in each. */
static void no_collective_in_a_round(void)
{
    each((const int[]){1, 2, 0}, rounds_blocking);
    each((const int[]){1, 2, 0}, rounds_nonblocking);
}

/* ---- Messages between nodes ---------------------------------------------------------------
 */

/* `most` messages for each window of an owner, or more. */
static void check_messages(const struct costs *costs, int most, int more)
{
    for (int i = 0; i < 4; i++) {
        int write = i / 2, again = i % 2;
        const struct cost *c = &costs->cost[write][again];
        long long sends;
        MPI_Allreduce(&c->sends, &sends, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        /* with a plan that is there, nothing else is sent */
        long long n = again ? sends : c->messages;
        CHECK((n > most * c->windows) == more,
              "%s, %s: %lld messages for %lld windows, %d nodes", write ? "write" : "read",
              again ? "again" : "new", n, c->windows, most);
        CHECK(!again || sends == c->messages, "%lld messages, and %lld are counted", sends,
              c->messages);
    }
}

/* Every rank has data in each window: one message a node, not one a rank. */
static void gathered(const struct coll_setup *plain)
{
    struct coll_setup setup = *plain;
    struct dealt d = {.block = 128, .n = 8 * BUFFER / test_nranks};
    if (strcmp(setup.module, "iec") == 0)
        return; /* one message a rank and phase, to whichever owner */
    for (setup.owners = 1; setup.owners <= 4 && setup.owners <= test_nranks; setup.owners++) {
        struct costs costs = count_all(&setup, &d, AT_ALL);
        check_messages(&costs, setup.nodes, 0);
    }
    /* Where each rank sends for itself they are more, and the difference is seen here. */
    setup.owners = 1;
    setup.exchange = 2;
    if (test_nranks > setup.nodes + 1) {
        struct costs costs = count_all(&setup, &d, AT_ALL);
        check_messages(&costs, setup.nodes, 1);
    }
}

static void one_message_a_node(void)
{
    each((const int[]){2, 4, 0}, gathered);
}

/* ---- Descriptions -------------------------------------------------------------------------
 */

/* The same bytes, in 1024 blocks of each rank or in as many as there are bytes: what is said
 * about them is the same, and little. Every rank is a node, so that all of it goes through the
 * MPI. */
static void described(const struct coll_setup *plain)
{
    enum {
        BYTES = 1 << 20,
        LITTLE = 4096
    };
    static const int block[] = {1024, 1};
    struct coll_setup setup = *plain;
    long long said[2][2];
    if (strcmp(setup.module, "static") == 0 || strcmp(setup.module, "dynamic") == 0)
        return; /* the same inspection; but a group of ranks would write single bytes */
    setup.nodes = test_nranks;
    setup.owners = 2;
    setup.buffer = 4 << 20;
    for (int i = 0; i < 2; i++) {
        struct dealt d = {.block = block[i], .n = BYTES};
        struct costs costs = count_all(&setup, &d, AT_ALL);
        for (int write = 0; write < 2; write++)
            said[write][i] = costs.cost[write][0].bytes - costs.cost[write][1].bytes;
    }
    for (int write = 0; write < 2; write++)
        CHECK(said[write][0] > 0 && said[write][0] == said[write][1] &&
                  said[write][0] < LITTLE * test_nranks,
              "%s: %lld bytes of description for 1024 blocks, %lld for a million",
              write ? "write" : "read", said[write][0], said[write][1]);
}

static void blocks_are_not_listed(void)
{
    each((const int[]){1, 0}, described);
}

/* Each rank has a part of the file to itself, in blocks, and the parts of half of the ranks are
 * one owner's: nothing goes to the other one. */
static void halves_of_the_file(const struct coll_setup *plain)
{
    enum {
        BLOCK = 64,
        PART = 1 << 20 /* of the file, every second block of it is the rank's */
    };
    static unsigned char buf[PART / 2];
    struct coll_setup setup = *plain;
    MPI_Datatype vector;
    int told = 0;
    setup.nodes = test_nranks;
    setup.owners = 2;
    if (strcmp(setup.module, "iec") == 0 || strcmp(setup.module, "ioserver") == 0)
        return; /* data goes by other ranks; owners have stripes of the file in turn */
    MPI_File fh = coll_open(&setup);
    MPI_Type_vector(PART / BLOCK / 2, BLOCK, 2 * BLOCK, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    MPI_Offset first = test_rank == test_nranks - 1 ? BLOCK : 0; /* so that the file ends so */
    OK(MPI_File_set_view(fh, (MPI_Offset)test_rank * PART + first, MPI_BYTE, vector, "native",
                         MPI_INFO_NULL));
    MPI_Type_free(&vector);
    struct call call = {.kind = AT_ALL, .buf = buf, .count = sizeof buf, .type = MPI_BYTE};
    count(fh, 1, &call);
    long long owner = counter(fh, "owned"), owners;
    MPI_Allreduce(&owner, &owners, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(owners == 2, "%lld owners", owners);
    for (int r = 0; r < test_nranks; r++)
        told += r != test_rank && tally.to[r] > 0;
    CHECK(owner || told == 1, "%d ranks are told of what one of them owns", told);
    OK(MPI_File_close(&fh));
}

static void only_owners_are_told(void)
{
    if (test_nranks < 4)
        SKIP("all ranks are owners");
    each((const int[]){1, 0}, halves_of_the_file);
}

/* ---- Both buffers of an owner --------------------------------------------------------------
 */

enum {
    WINDOWS = 256, /* at most */
    NAPS = 20000,  /* of a millisecond, before a wait counts as one without end */
};

/* What the ranks see of each other. */
struct scene_of {
    _Atomic int stuck;              /* somebody has waited in vain */
    _Atomic int begun[WINDOWS];     /* the owner's access of a window */
    _Atomic int touched[][WINDOWS]; /* by rank: its bytes of a window, in the user's memory */
};

static struct {
    struct scene_of *scene; /* NULL: nobody watches */
    int write, owner;
    size_t nwindows;
    off_t window;        /* bytes of the file, */
    size_t share;        /* and of a rank's memory */
    unsigned char *data; /* nwindows shares, each without access until it is touched */
} watch;

static void await(_Atomic int *flag)
{
    struct scene_of *scene = watch.scene;
    for (int i = 0; !*flag && !scene->stuck; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (i == NAPS)
            scene->stuck = 1;
    }
}

/* Which bytes of the file may be written: the first ones of every turn, and none at the end or
 * beyond. */
static struct {
    off_t turn; /* 0: nobody looks */
    off_t first, end;
    _Atomic int calls, bad;
} allowed;

static void at_write(off_t off, size_t len)
{
    if (!allowed.turn)
        return;
    off_t in_turn = off % allowed.turn + (off_t)len;
    allowed.calls++;
    allowed.bad += in_turn > allowed.first || off + (off_t)len > allowed.end;
}

/* The owner's write of a window does not end before all others have come to the next one. */
static void at_access(off_t off)
{
    if (!watch.scene)
        return;
    size_t k = (size_t)(off / watch.window);
    watch.owner = 1;
    if (k >= watch.nwindows)
        return;
    watch.scene->begun[k] = 1;
    for (int r = 0; watch.write && k + 1 < watch.nwindows && r < test_nranks; r++)
        if (r != test_rank)
            await(&watch.scene->touched[r][k + 1]);
}

/* And nobody else takes what was read of a window before the owner reads the next one. */
static void at_touch(int sig, siginfo_t *info, void *context)
{
    (void)context;
    uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)watch.data;
    size_t k = watch.share ? at / watch.share : 0;
    if (!watch.scene || at >= watch.nwindows * watch.share) {
        signal(sig, SIG_DFL);
        return;
    }
    mprotect(watch.data + k * watch.share, watch.share, PROT_READ | PROT_WRITE);
    watch.scene->touched[test_rank][k] = 1;
    if (!watch.write && !watch.owner && k + 1 < watch.nwindows)
        await(&watch.scene->begun[k + 1]);
}

#pragma GCC visibility push(default)

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
    at_access(off);
    at_write(off, len);
    return syscall(SYS_pwrite64, fd, buf, len, off);
}

ssize_t pwritev(int fd, const struct iovec *iov, int niov, off_t off)
{
    size_t len = 0;
    for (int i = 0; i < niov; i++)
        len += iov[i].iov_len;
    at_access(off);
    at_write(off, len);
    return syscall(SYS_pwritev, fd, iov, niov, off, 0);
}

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
    at_access(off);
    return syscall(SYS_pread64, fd, buf, len, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int niov, off_t off)
{
    at_access(off);
    return syscall(SYS_preadv, fd, iov, niov, off, 0);
}

#pragma GCC visibility pop

static void *map_shared(const char *path, size_t bytes)
{
    make_file(path, (int64_t)bytes, 0);
    int fd = open(path, O_RDWR);
    void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(path);
    return mem;
}

/* One access, watched. */
static void watch_access(MPI_File fh, int write, const struct call *call)
{
    size_t bytes = sizeof(struct scene_of) + (size_t)test_nranks * sizeof(int[WINDOWS]);
    struct sigaction mine = {.sa_sigaction = at_touch, .sa_flags = SA_SIGINFO}, before;
    int seen = 0, owners;
    struct scene_of *scene = map_shared(other_file("scene"), bytes);
    REQUIRE(scene != MAP_FAILED, "no shared memory");
    watch.write = write;
    watch.owner = 0;
    watch.data = call->buf;
    watch.scene = scene;
    mprotect(call->buf, (size_t)call->count, PROT_NONE);
    sigaction(SIGSEGV, &mine, &before);
    OK(write ? call_write(fh, call, MPI_STATUS_IGNORE)
             : call_read(fh, call, MPI_STATUS_IGNORE));
    watch.scene = NULL;
    sigaction(SIGSEGV, &before, NULL);
    mprotect(call->buf, (size_t)call->count, PROT_READ | PROT_WRITE);
    CHECK(!scene->stuck, "%s: the owner accesses the file or the others copy, never both",
          write ? "write" : "read");
    for (size_t k = 0; k < watch.nwindows; k++)
        seen += scene->begun[k] && scene->touched[test_rank][k];
    CHECK(seen == (int)watch.nwindows, "%d of %zu windows were seen", seen, watch.nwindows);
    MPI_Allreduce(&watch.owner, &owners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(owners == 1, "%d ranks accessed the file", owners);
    munmap(scene, bytes);
}

/* In every round of an access: one owner, so that all others are free to copy. */
static void overlapping(const struct coll_setup *plain)
{
    struct coll_setup setup = *plain;
    struct dealt d = {.block = 512, .n = 12 * BUFFER / test_nranks};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (test_failed)
        return; /* each more would wait as long */
    setup.owners = 1;
    setup.no_sieve = 1;
    unsigned char *buf =
        mmap(NULL, (size_t)d.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(buf != MAP_FAILED, "no memory");
    struct call call = {.kind = AT_ALL, .buf = buf, .count = d.n, .type = MPI_BYTE};
    MPI_File fh = open_dealt(&setup, &d);
    struct cost first = count(fh, 1, &call);
    watch.nwindows = (size_t)first.windows;
    watch.share = (size_t)(d.n / first.windows);
    watch.window = (off_t)watch.share * test_nranks;
    REQUIRE(first.windows >= 12 && first.windows <= WINDOWS && watch.share % page == 0,
            "%lld windows, %zu bytes of a rank in each", first.windows, watch.share);
    for (int i = 0; i < d.n; i++)
        buf[i] = value_at(i, 3);
    watch_access(fh, 1, &call);
    memset(buf, 0xEE, (size_t)d.n);
    watch_access(fh, 0, &call);
    watch_access(fh, 0, &call);
    int wrong = 0;
    for (int i = 0; i < d.n; i++)
        wrong += buf[i] != value_at(i, 3);
    CHECK(wrong == 0, "%d bytes are others", wrong);
    OK(MPI_File_close(&fh));
    munmap(buf, (size_t)d.n);
}

static void copies_beside_the_access(void)
{
    each((const int[]){1, 2, 0}, overlapping);
}

/* ---- A rank that is slow to copy ----------------------------------------------------------
 */

/* What the others do meanwhile. */
static struct {
    volatile int *writing; /* another rank is through with the read and goes on to a write */
    unsigned char *data;
    size_t bytes;
} held;

/* The held rank has touched the memory that it reads to: nothing is there yet. Where others
 * wait for it to end the read there is nothing to see, and it goes on after a while. */
static void at_copy(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if ((unsigned char *)info->si_addr < held.data ||
        (unsigned char *)info->si_addr >= held.data + held.bytes) {
        signal(sig, SIG_DFL);
        return;
    }
    for (int i = 0; i < 200 && !*held.writing; i++)
        usleep(1000);
    usleep(20000);
    mprotect(held.data, held.bytes, PROT_READ | PROT_WRITE);
}

static void write_generation(MPI_File fh, const struct call *call, int generation)
{
    for (int i = 0; i < call->count; i++)
        ((unsigned char *)call->buf)[i] = value_at((int)call->off + i, generation);
    OK(call_write(fh, call, MPI_STATUS_IGNORE));
}

static int count_others(const struct call *call, int generation)
{
    int others = 0;
    for (int i = 0; i < call->count; i++)
        others += ((unsigned char *)call->buf)[i] != value_at((int)call->off + i, generation);
    return others;
}

/* The last rank copies what was read when the others fill the same buffers for a write, in
 * which half a block is left out at the beginning: so all bytes lie elsewhere. */
static void held_up(const struct coll_setup *plain)
{
    struct coll_setup setup = *plain;
    struct dealt d = {.block = 512, .n = BUFFER};
    struct sigaction mine = {.sa_sigaction = at_copy, .sa_flags = SA_SIGINFO}, before;
    int last = test_rank == test_nranks - 1, half = d.block / 2;
    unsigned char *mem =
        mmap(NULL, 2 * (size_t)d.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mem != MAP_FAILED, "no memory");
    struct call in = {.kind = AT_ALL, .buf = mem, .count = d.n, .type = MPI_BYTE};
    struct call out = in;
    out.off = half;
    out.buf = mem + d.n;
    out.count = d.n - half;
    setup.owners = 1;
    setup.buffer = 4 * BUFFER * test_nranks;
    MPI_File fh = open_dealt(&setup, &d);
    held.writing = map_shared(other_file("held"), sizeof(int));
    held.data = mem;
    held.bytes = (size_t)d.n;
    write_generation(fh, &in, 1);
    for (int i = 0; i < 2; i++) { /* plans are there */
        write_generation(fh, &out, 1);
        OK(call_read(fh, &in, MPI_STATUS_IGNORE));
    }
    memset(mem, 0xEE, held.bytes);
    sigaction(SIGSEGV, &mine, &before);
    if (last)
        mprotect(mem, held.bytes, PROT_NONE);
    OK(call_read(fh, &in, MPI_STATUS_IGNORE));
    *held.writing |= !last;
    write_generation(fh, &out, 2);
    sigaction(SIGSEGV, &before, NULL);
    CHECK(count_others(&in, 1) == 0, "%d bytes of %d are others", count_others(&in, 1), d.n);
    in = out;
    OK(call_read(fh, &in, MPI_STATUS_IGNORE));
    CHECK(count_others(&in, 2) == 0, "%d bytes were not written", count_others(&in, 2));
    OK(MPI_File_close(&fh));
    munmap((void *)(uintptr_t)held.writing, sizeof(int));
    munmap(mem, 2 * (size_t)d.n);
}

static void what_is_read_stays_until_it_is_copied(void)
{
    each((const int[]){1, 2, 0}, held_up);
}

/* ---- Bytes of nobody ----------------------------------------------------------------------
 */

/* They are not written, not even with what they were. */
static void gapped(const struct coll_setup *plain)
{
    static unsigned char buf[64 * 300];
    struct coll_setup setup = *plain;
    struct dealt d = {.block = 64, .n = sizeof buf, .gap = 40};
    setup.owners = 2;
    for (setup.no_sieve = 0; setup.no_sieve < 2; setup.no_sieve++) {
        int mine, calls;
        MPI_File fh = open_dealt(&setup, &d);
        allowed.calls = allowed.bad = 0;
        allowed.first = (off_t)d.block * test_nranks;
        allowed.end = (d.n / d.block) * (allowed.first + d.gap) - d.gap;
        allowed.turn = allowed.first + d.gap;
        for (int i = 0; i < 2; i++)
            OK(MPI_File_write_at_all(fh, 0, buf, d.n, MPI_BYTE, MPI_STATUS_IGNORE));
        allowed.turn = 0;
        mine = allowed.calls;
        MPI_Allreduce(&mine, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(allowed.bad == 0, "%d of %d calls wrote more", allowed.bad, mine);
        CHECK(calls > 0 || !setup.no_sieve, "no call was seen");
        OK(MPI_File_close(&fh));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(size_on_disk(test_file()) == allowed.end, "%lld bytes, not %lld",
              (long long)size_on_disk(test_file()), (long long)allowed.end);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void gaps_are_not_written(void)
{
    each((const int[]){1, 2, 0}, gapped);
}

/* ---- Plans used again -------------------------------------------------------------------- */

/* Accesses by turns, of which the last rank has nothing, or always the same bytes: after some
 * turns no plan is made any more. */
static void by_turns(const struct coll_setup *setup)
{
    enum {
        SIZES = 3,
        LEARNING = 3 * SIZES,
        TURNS = 10 * SIZES
    };
    static unsigned char buf[64 * 240];
    const struct dealt d = {.block = 64, .n = sizeof buf};
    for (int empty = 0; empty < 2; empty++) {
        MPI_File fh = open_dealt(setup, &d);
        long long misses = 0;
        for (int i = 0; i < TURNS; i++) {
            int last = test_rank == test_nranks - 1;
            int n = !last ? d.n >> i % SIZES : empty ? 0 : d.n / 4;
            memset(buf, i, sizeof buf);
            OK(MPI_File_write_at_all(fh, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE));
            OK(MPI_File_read_at_all(fh, 0, buf, n, MPI_BYTE, MPI_STATUS_IGNORE));
            for (int k = 0; k < n; k++)
                if (buf[k] != i) {
                    CHECK(0, "turn %d: byte %d is another", i, k);
                    break;
                }
            if (i < LEARNING)
                misses = counter(fh, "plan.misses");
        }
        CHECK(counter(fh, "plan.misses") == misses, "%lld plans were made, then %lld more",
              misses, counter(fh, "plan.misses") - misses);
        CHECK(misses > 0 || test_nranks < 2, "no plan was made");
        OK(MPI_File_close(&fh));
    }
}

static void plans_of_accesses_by_turns(void)
{
    each((const int[]){1, 0}, by_turns);
}

static void calls_are_seen(void)
{
    CHECK(tally_works(), "the library does not find the functions that count");
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {TEST(calls_are_seen),
                                             TEST(no_collective_in_a_round),
                                             TEST(one_message_a_node),
                                             TEST(blocks_are_not_listed),
                                             TEST(only_owners_are_told),
                                             TEST(copies_beside_the_access),
                                             TEST(gaps_are_not_written),
                                             TEST(plans_of_accesses_by_turns),
                                             TEST(what_is_read_stays_until_it_is_copied),
                                             {0}};
    MPI_Init(&argc, &argv);
    coll_list();
    int code = test_main_mpi(argc, argv, cases);
    coll_forget();
    MPI_Finalize();
    return code;
}
