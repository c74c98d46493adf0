/* Loads the library and connects. */
#include "fs/ceph_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const char *const names[] = {"libcephfs.so.2", "libcephfs.so"};

struct connection {
    struct brio_ceph ceph;
    struct brio_ceph_conf conf;
    struct connection *next;
};

static struct {
    pthread_mutex_t lock;
    struct brio_ceph_lib lib;
    bool loaded;
    struct connection *all;
    pid_t owner; /* a child that was forked has none of the library's threads */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define MEMBER_NAME(name) {"ceph_" #name, offsetof(struct brio_ceph_lib, name)},
static const struct {
    const char *name;
    size_t at;
} members[] = {BRIO_CEPH_FUNCTIONS(MEMBER_NAME)};

/* It stays loaded: it has threads. */
static BRIO_ERR load(struct brio_ceph_lib *lib)
{
    void *so = NULL;
    for (size_t i = 0; !so && i < sizeof names / sizeof *names; i++)
        so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return brio_fail(BRIO_EUNSUPOP, "files of ceph: need libcephfs: %s", dlerror());
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        void *found = dlsym(so, members[i].name);
        if (!found)
            return brio_fail(BRIO_EUNSUPOP, "this libcephfs has no %s", members[i].name);
        memcpy((char *)lib + members[i].at, &found, sizeof found);
    }
    return BRIO_OK;
}

/* Sessions that are not closed keep others waiting for a minute. */
static void disconnect(void)
{
    if (state.owner != getpid())
        return;
    while (state.all) {
        struct connection *c = state.all;
        state.all = c->next;
        state.lib.unmount(c->ceph.mount);
        state.lib.release(c->ceph.mount);
        free(c);
    }
}

static BRIO_ERR prepare(const struct brio_ceph_conf *conf, struct ceph_mount_info **out)
{
    const struct brio_ceph_lib *lib = &state.lib;
    const char *file = *conf->conf ? conf->conf : NULL;
    int failed = lib->create(out, *conf->user ? conf->user : NULL);
    if (failed)
        return brio_fail_errno(-failed, "ceph_create");
    failed = lib->conf_read_file(*out, file);
    if (failed) {
        lib->release(*out);
        return brio_fail_errno(abs(failed), "Ceph's configuration (%s) cannot be read",
                               file ? file : "CEPH_CONF, /etc/ceph/ceph.conf");
    }
    lib->conf_parse_env(*out, NULL);
    /* With the client's own cache two clients of one file can wait for each other for good;
     * and what a rank has written must be seen by others after a sync. */
    failed = lib->conf_set(*out, "client_oc", "false");
    /* Else every rank asks one server, at its first open, whether it may access the pool: those
     * of a large job all at once. An access that is not allowed fails all the same. */
    if (!failed)
        failed = lib->conf_set(*out, "client_check_pool_perm", "false");
    if (!failed)
        failed = lib->set_mount_timeout(*out, (uint32_t)conf->timeout);
    if (failed) {
        lib->release(*out);
        return brio_fail_errno(-failed, "settings of Ceph's client");
    }
    return BRIO_OK;
}

static BRIO_ERR mount_it(const struct brio_ceph_conf *conf, struct connection *c)
{
    const struct brio_ceph_lib *lib = &state.lib;
    enum brio_err err = prepare(conf, &c->ceph.mount);
    if (err)
        return err;
    int failed = *conf->name ? lib->select_filesystem(c->ceph.mount, conf->name) : 0;
    if (!failed)
        failed = lib->mount(c->ceph.mount, "/");
    if (failed) {
        lib->release(c->ceph.mount);
        /* Beyond 1000 are numbers of the library's own, for a cluster that it cannot find. */
        return failed <= -1000 ? brio_fail(BRIO_EIO, "ceph_mount: no monitor of a cluster")
                               : brio_fail_errno(-failed, "ceph_mount");
    }
    c->ceph.lib = lib;
    c->ceph.perms = lib->mount_perms(c->ceph.mount);
    c->conf = *conf;
    return BRIO_OK;
}

/* With the lock held. */
static BRIO_ERR connect_anew(const struct brio_ceph_conf *conf, struct connection **out)
{
    void *mem;
    enum brio_err err = BRIO_OK;
    if (!state.loaded)
        err = load(&state.lib);
    if (!err && !state.loaded) {
        state.owner = getpid();
        state.loaded = true;
        if (atexit(disconnect))
            err = brio_fail(BRIO_ENOMEM, "atexit");
    }
    if (!err && state.owner != getpid())
        err = brio_fail(BRIO_EUNSUPOP, "Ceph cannot be used by a process that was forked after "
                                       "its first use");
    if (!err)
        err = brio_calloc(1, sizeof **out, &mem);
    if (err)
        return err;
    *out = mem;
    err = mount_it(conf, *out);
    if (err) {
        free(mem);
        return err;
    }
    (*out)->next = state.all;
    state.all = *out;
    return BRIO_OK;
}

BRIO_ERR brio_ceph_connect(const struct brio_ceph_conf *conf, const struct brio_ceph **out)
{
    enum brio_err err = BRIO_OK;
    pthread_mutex_lock(&state.lock);
    struct connection *c = state.all;
    while (c &&
           (state.owner != getpid() || strcmp(c->conf.conf, conf->conf) != 0 ||
            strcmp(c->conf.user, conf->user) != 0 || strcmp(c->conf.name, conf->name) != 0))
        c = c->next;
    if (!c)
        err = connect_anew(conf, &c);
    pthread_mutex_unlock(&state.lock);
    if (!err)
        *out = &c->ceph;
    return err;
}
