/* One anonymous memory file per process (memfd), cut into slots; others reach it through
 * /proc/<pid>/fd/<fd>, which dies with the process. */
#define _GNU_SOURCE
#include "comm/page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    SLOTS = 1024, /* open files at one time that this process is rank 0 of */
    PAGE_BYTES = SLOTS * (int)sizeof(struct brio_page_slot)
};

/* Slot 0 holds the nonce and is never given out. */
struct page {
    struct brio_page_slot *slots;
    int64_t pid, nonce;
    int fd;
    struct page *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page own = {.fd = -1};
static bool taken[SLOTS];
static struct page *others; /* pages of other processes that are mapped here */

static BRIO_ERR map_page(int fd, struct brio_page_slot **out)
{
    void *p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return brio_fail_errno(errno, "mmap of the shared page");
    *out = p;
    return BRIO_OK;
}

/* With the lock held. After a fork the page is the parent's: make a new one. */
static BRIO_ERR make_own(void)
{
    if (own.fd >= 0 && own.pid == getpid())
        return BRIO_OK;
    int fd = memfd_create("brio", MFD_CLOEXEC);
    if (fd < 0)
        return brio_fail_errno(errno, "memfd_create");
    struct page page = {.fd = fd, .pid = getpid()};
    enum brio_err err;
    if (ftruncate(fd, PAGE_BYTES) != 0)
        err = brio_fail_errno(errno, "ftruncate of the shared page");
    else
        err = map_page(fd, &page.slots);
    if (err) {
        close(fd);
        return err;
    }
    if (getrandom(&page.nonce, sizeof page.nonce, 0) != sizeof page.nonce)
        page.nonce = page.pid;
    atomic_store(&page.slots[0].value, page.nonce);
    own = page;
    memset(taken, 0, sizeof taken);
    taken[0] = true;
    return BRIO_OK;
}

BRIO_ERR brio_page_take(struct brio_page_ref *ref, struct brio_page_slot **out)
{
    pthread_mutex_lock(&lock);
    enum brio_err err = make_own();
    int slot = 0;
    while (!err && slot < SLOTS && taken[slot])
        slot++;
    if (!err && slot == SLOTS)
        err =
            brio_fail(BRIO_ENOMEM, "more than %d shared file pointers at one time", SLOTS - 1);
    if (!err) {
        taken[slot] = true;
        atomic_store(&own.slots[slot].value, 0);
        brio_meet_init(&own.slots[slot].meet);
        *ref = (struct brio_page_ref){
            .pid = own.pid, .nonce = own.nonce, .fd = own.fd, .slot = slot};
        *out = &own.slots[slot];
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void brio_page_give(const struct brio_page_ref *ref)
{
    pthread_mutex_lock(&lock);
    if (ref->pid == own.pid && ref->slot > 0 && ref->slot < SLOTS)
        taken[ref->slot] = false;
    pthread_mutex_unlock(&lock);
}

/* In a container of its own a process has a pid that means another process here: its file may
 * be anything, and is not opened, since that may have effects, nor looked into beyond its end.
 */
static BRIO_ERR open_other(const char *name, int *out)
{
    struct stat st;
    if (stat(name, &st) != 0)
        return brio_fail_errno(errno, "stat of %s", name);
    if (!S_ISREG(st.st_mode) || st.st_size != PAGE_BYTES)
        return brio_fail(BRIO_EUNSUPOP, "%s is not the page of rank 0", name);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return brio_fail_errno(errno, "open of %s", name);
    *out = fd;
    return BRIO_OK;
}

/* With the lock held. */
static BRIO_ERR map_other(const struct brio_page_ref *ref, struct page **out)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%lld/fd/%d", (long long)ref->pid, (int)ref->fd);
    int fd = -1;
    struct page *page = NULL;
    enum brio_err err = open_other(name, &fd);
    if (err)
        return err;
    err = brio_calloc(1, sizeof *page, (void **)&page);
    if (!err)
        err = map_page(fd, &page->slots);
    close(fd);
    if (!err && atomic_load(&page->slots[0].value) != ref->nonce) {
        munmap(page->slots, PAGE_BYTES);
        err = brio_fail(BRIO_EUNSUPOP, "%s is not the page of rank 0", name);
    }
    if (err) {
        free(page);
        return err;
    }
    page->pid = ref->pid;
    page->nonce = ref->nonce;
    page->next = others;
    others = page;
    *out = page;
    return BRIO_OK;
}

BRIO_ERR brio_page_attach(const struct brio_page_ref *ref, struct brio_page_slot **out)
{
    if (ref->slot <= 0 || ref->slot >= SLOTS)
        return brio_fail(BRIO_EUNSUPOP, "rank 0 has no shared page");
    enum brio_err err = BRIO_OK;
    pthread_mutex_lock(&lock);
    struct page *page = &own;
    if (ref->pid != own.pid || ref->nonce != own.nonce) {
        page = others;
        while (page && (page->pid != ref->pid || page->nonce != ref->nonce))
            page = page->next;
        if (!page)
            err = map_other(ref, &page);
    }
    if (!err)
        *out = &page->slots[ref->slot];
    pthread_mutex_unlock(&lock);
    return err;
}
