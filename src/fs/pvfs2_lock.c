/* OrangeFS has no locks, but it can test and set a number among the attributes of a file.
 * Another attribute tells who has the lock, so that one whose holder is gone from this machine
 * can be taken away, and one that is held too long is an error that names the holder. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stats.h"
#include "fs/pvfs2.h"

enum {
    SHORT_NAP = 200, /* microseconds between two attempts, doubled up to the longest */
    LONG_NAP = 5000,
    MARK = 256
};

static char lock_key[] = "user.brio.lock", holder_key[] = "user.brio.holder",
            break_key[] = "user.brio.break";

/* Where the lock stands: taken or not, and by whom, which is "" until it is told. */
struct standing {
    int32_t taken;
    char holder[MARK];
};

static PVFS_ds_keyval named(char *key)
{
    return (PVFS_ds_keyval){.buffer = key, .buffer_sz = (int32_t)strlen(key) + 1};
}

static PVFS_ds_keyval number(int32_t *value)
{
    return (PVFS_ds_keyval){.buffer = value, .buffer_sz = sizeof *value};
}

/* Each of the following returns 0 or an errno. */

/* All at once: who sees one of them sees the others. */
static int put(const struct brio_pvfs2_file *f, int n, PVFS_ds_keyval *keys,
               PVFS_ds_keyval *values)
{
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_seteattr_list(f->ref, &lib->who, n, keys, values, 0, NULL);
    brio_pvfs2_end();
    return failed ? brio_pvfs2_errno(failed) : 0;
}

/* Makes a number 1 that is 0: *before is what it was. */
static int test_and_set(const struct brio_pvfs2_file *f, char *key, int32_t *before)
{
    int32_t one = 1;
    PVFS_ds_keyval k = named(key), v = number(&one), old = number(before);
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed =
        lib->sys_atomiceattr(f->ref, &lib->who, &k, &v, &old, 0, BRIO_PVFS2_TEST_AND_SET, NULL);
    brio_pvfs2_end();
    return failed ? brio_pvfs2_errno(failed) : 0;
}

static int look(const struct brio_pvfs2_file *f, struct standing *out)
{
    PVFS_error each[2] = {0, 0};
    PVFS_ds_keyval keys[] = {named(lock_key), named(holder_key)};
    PVFS_ds_keyval values[] = {number(&out->taken),
                               {.buffer = out->holder, .buffer_sz = MARK - 1}};
    PVFS_sysresp_geteattr r = {.val_array = values, .err_array = each};
    *out = (struct standing){0};
    const struct brio_pvfs2_lib *lib = brio_pvfs2_begin();
    int failed = lib->sys_geteattr_list(f->ref, &lib->who, 2, keys, &r, NULL);
    brio_pvfs2_end();
    if (!failed)
        failed = each[0] ? each[0] : each[1];
    return failed ? brio_pvfs2_errno(failed) : 0;
}

static int tell(const struct brio_pvfs2_file *f, char *mark)
{
    PVFS_ds_keyval k = named(holder_key), v = named(mark);
    return put(f, 1, &k, &v);
}

/* Gives the lock up, whoever has it. */
static int release(const struct brio_pvfs2_file *f)
{
    int32_t zero = 0;
    char nobody[] = "";
    PVFS_ds_keyval keys[] = {named(lock_key), named(holder_key)};
    PVFS_ds_keyval values[] = {number(&zero), named(nobody)};
    return put(f, 2, keys, values);
}

void brio_pvfs2_lock_init(const struct brio_pvfs2_file *f)
{
    struct standing now;
    int32_t zero = 0;
    char nobody[] = "";
    int failed = look(f, &now);
    if (failed != ENOENT && failed != ENODATA)
        return;
    PVFS_ds_keyval keys[] = {named(lock_key), named(holder_key), named(break_key)};
    PVFS_ds_keyval values[] = {number(&zero), named(nobody), number(&zero)};
    failed = put(f, 3, keys, values);
    if (failed)
        brio_log(BRIO_NOTE, "pvfs2:%s: no attribute for locks: %s", f->path, strerror(failed));
}

/* When the process began, in the kernel's ticks; 0 if there is none. Field 22 of its line, and
 * the second one may have blanks and brackets in it. */
static long long birth_of(long pid)
{
    char name[64], line[1024] = "";
    long long birth = 0;
    snprintf(name, sizeof name, "/proc/%ld/stat", pid);
    FILE *in = fopen(name, "re");
    if (!in)
        return 0;
    const char *at = fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
    fclose(in);
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : birth;
}

/* One running kernel and one set of process numbers in it. */
static void name_machine(char out[128])
{
    char boot[64] = "", space[48] = "";
    FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (in && fgets(boot, sizeof boot, in))
        boot[strcspn(boot, "\n")] = '\0';
    if (in)
        fclose(in);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        space[0] = '\0';
    snprintf(out, 128, "%s/%s", boot, space);
}

/* "host pid birth machine count": the count tells one locking from the next. */
static void sign(char mark[MARK])
{
    static _Atomic unsigned long count;
    char host[64] = "?", machine[128];
    (void)gethostname(host, sizeof host - 1);
    name_machine(machine);
    snprintf(mark, MARK, "%s %ld %lld %s %lu", host, (long)getpid(), birth_of(getpid()),
             machine, atomic_fetch_add(&count, 1));
}

static bool holder_is_gone(const char *mark)
{
    long pid;
    long long birth;
    char there[128], here[128];
    name_machine(here);
    return sscanf(mark, "%*s %ld %lld %127s", &pid, &birth, there) == 3 &&
           strcmp(here, there) == 0 && birth_of(pid) != birth;
}

/* Takes the lock from a holder that is gone. A second number sees to it that only one client
 * does, and from no other holder than the one that was looked at. */
static void break_lock(const struct brio_pvfs2_file *f, const struct standing *dead)
{
    struct standing now;
    int32_t other = 1, zero = 0;
    if (test_and_set(f, break_key, &other) || other)
        return;
    if (look(f, &now) == 0 && now.taken && strcmp(now.holder, dead->holder) == 0)
        (void)release(f);
    PVFS_ds_keyval k = named(break_key), v = number(&zero);
    (void)put(f, 1, &k, &v);
}

static BRIO_ERR refuse(const struct brio_pvfs2_file *f, const struct standing *now)
{
    return brio_fail(BRIO_EINUSE,
                     "atomic mode: pvfs2:%s has been locked for more than %lld s by %s; if "
                     "that process is gone, remove the attribute %s (pvfs2-xattr)",
                     f->path, (long long)f->lock_timeout,
                     *now->holder ? now->holder : "a process that did not tell its name",
                     lock_key);
}

/* After an attempt that found it taken: waits a little, or gives up. */
static BRIO_ERR wait_for(const struct brio_pvfs2_file *f, struct standing *before,
                         int64_t *since, int64_t *nap)
{
    struct standing now;
    if (look(f, &now) || !now.taken)
        return BRIO_OK;
    if (strcmp(now.holder, before->holder) != 0) {
        *before = now;
        *since = brio_now();
        *nap = SHORT_NAP;
    }
    if (holder_is_gone(now.holder))
        break_lock(f, &now);
    if (brio_now() - *since > f->lock_timeout * 1000000000)
        return refuse(f, &now);
    nanosleep(&(struct timespec){.tv_nsec = *nap * 1000}, NULL);
    *nap = brio_min(2 * *nap, LONG_NAP);
    return BRIO_OK;
}

BRIO_ERR brio_pvfs2_lock(struct brio_pvfs2_file *f)
{
    struct standing before = {0};
    char mark[MARK];
    int64_t since = brio_now(), nap = SHORT_NAP;
    int32_t taken = 1;
    int failed;
    while ((failed = test_and_set(f, lock_key, &taken)) == 0 && taken) {
        enum brio_err err = wait_for(f, &before, &since, &nap);
        if (err)
            return err;
    }
    /* Who may not change the file, and so not mark it either, opened it to read, as all ranks
     * of the open did: there is nobody to hold off. */
    if (failed && !f->writable)
        return BRIO_OK;
    if (!failed) {
        f->locked = true;
        sign(mark);
        failed = tell(f, mark);
    }
    return failed ? brio_fail_errno(failed, "lock of pvfs2:%s", f->path) : BRIO_OK;
}

BRIO_ERR brio_pvfs2_unlock(struct brio_pvfs2_file *f)
{
    int failed = f->locked ? release(f) : 0;
    f->locked = false;
    return failed ? brio_fail_errno(failed, "end of the lock of pvfs2:%s", f->path) : BRIO_OK;
}
