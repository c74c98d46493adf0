/* Loads the library and connects. */
#include "fs/pvfs2_lib.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* The last one is where it was when Brio was built. */
static const char *const names[] = {"libpvfs2.so", "libpvfs2.so.2", BRIO_PVFS2_LIBRARY};

static struct {
    pthread_mutex_t lock;
    struct brio_pvfs2_lib lib;
    bool loaded;
    pid_t owner; /* a child that was forked shares its parent's connections to the servers */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define MEMBER_NAME(name) {"PVFS_" #name, offsetof(struct brio_pvfs2_lib, name)},
static const struct {
    const char *name;
    size_t at;
} members[] = {
    BRIO_PVFS2_FUNCTIONS(MEMBER_NAME){"PVFS_BYTE", offsetof(struct brio_pvfs2_lib, byte)}};

/* What is no errno of any system. */
static int own_errno(int code)
{
    static const int known[] = {0,
                                ECANCELED,     /* PVFS_ECANCEL */
                                ENODEV,        /* PVFS_EDEVINIT */
                                EIO,           /* PVFS_EDETAIL */
                                EHOSTUNREACH,  /* PVFS_EHOSTNTFD */
                                EADDRNOTAVAIL, /* PVFS_EADDRNTFD */
                                ENOLINK,       /* PVFS_ENORECVR */
                                EAGAIN,        /* PVFS_ETRYAGAIN */
                                EINVAL,        /* PVFS_ENOTPVFS */
                                EPERM};        /* PVFS_ESECURITY */
    return code > 0 && code < (int)(sizeof known / sizeof *known) ? known[code] : EIO;
}

int brio_pvfs2_errno(PVFS_error failed)
{
    int code = failed < 0 ? -failed : failed;
    if (IS_PVFS_NON_ERRNO_ERROR(code))
        return own_errno(code & 0x7f);
    code = state.lib.get_errno_mapping(code);
    return code > 0 && code < 4096 ? code : EIO;
}

/* It stays loaded. */
static BRIO_ERR load(struct brio_pvfs2_lib *lib)
{
    void *so = NULL;
    for (size_t i = 0; !so && i < sizeof names / sizeof *names; i++)
        so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return brio_fail(BRIO_EUNSUPOP, "files of pvfs2: need libpvfs2: %s", dlerror());
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        void *found = dlsym(so, members[i].name);
        if (!found)
            return brio_fail(BRIO_EUNSUPOP, "this libpvfs2 has no %s", members[i].name);
        memcpy((char *)lib + members[i].at, &found, sizeof found);
    }
    return BRIO_OK;
}

/* Once, with the lock held. */
static BRIO_ERR start(void)
{
    if (state.loaded && state.owner != getpid())
        return brio_fail(BRIO_EUNSUPOP, "OrangeFS cannot be used by a process that was forked "
                                        "after its first use");
    if (state.loaded)
        return BRIO_OK;
    enum brio_err err = load(&state.lib);
    if (err)
        return err;
    int failed = state.lib.sys_initialize(0);
    if (failed < 0)
        return brio_fail_errno(brio_pvfs2_errno(failed), "PVFS_sys_initialize");
    failed = state.lib.util_gen_credential_defaults(&state.lib.who);
    if (failed < 0)
        return brio_fail_errno(brio_pvfs2_errno(failed), "PVFS_util_gen_credential_defaults");
    state.owner = getpid();
    state.loaded = true;
    return BRIO_OK;
}

/* What is behind the mount point, or NULL. */
static const char *behind(const char *mount, const char *path)
{
    size_t n = strlen(mount);
    while (n > 0 && mount[n - 1] == '/')
        n--;
    return strncmp(mount, path, n) == 0 && path[n] == '/' ? path + n : NULL;
}

/* The innermost mount that the path is in. */
static struct PVFS_sys_mntent *find_mount(const PVFS_util_tab *tab, const char *path,
                                          const char **rest)
{
    struct PVFS_sys_mntent *best = NULL;
    for (int i = 0; i < tab->mntent_count; i++) {
        const char *here = behind(tab->mntent_array[i].mnt_dir, path);
        if (here && (!best || here > *rest)) {
            best = &tab->mntent_array[i];
            *rest = here;
        }
    }
    return best;
}

/* With the lock held. Names and sizes that the library would keep for some seconds are asked
 * anew each time: another rank may have changed them. */
static BRIO_ERR add(struct PVFS_sys_mntent *mount)
{
    int failed = state.lib.sys_fs_add(mount);
    if (failed < 0 && brio_pvfs2_errno(failed) != EEXIST)
        return brio_fail_errno(brio_pvfs2_errno(failed), "OrangeFS at %s cannot be reached",
                               mount->pvfs_config_servers[0]);
    failed = state.lib.sys_set_info(PVFS_SYS_ACACHE_TIMEOUT_MSECS, 0);
    if (!failed)
        failed = state.lib.sys_set_info(PVFS_SYS_NCACHE_TIMEOUT_MSECS, 0);
    return failed ? brio_fail_errno(brio_pvfs2_errno(failed), "PVFS_sys_set_info") : BRIO_OK;
}

static BRIO_ERR connect_to(const char *path, const struct brio_pvfs2_conf *conf,
                           struct brio_pvfs2_place *out)
{
    enum brio_err err = start();
    if (err)
        return err;
    const char *named = *conf->tab ? conf->tab : NULL;
    const PVFS_util_tab *tab = state.lib.util_parse_pvfstab(named);
    if (!tab)
        return brio_fail(BRIO_ENOENT,
                         "pvfs2:%s: no file system of OrangeFS is listed in %s: set "
                         "PVFS2TAB_FILE or the hint pvfs2_tab",
                         path, named ? named : "PVFS2TAB_FILE, /etc/fstab or /etc/pvfs2tab");
    struct PVFS_sys_mntent *mount = find_mount(tab, path, &out->path);
    if (!mount)
        return brio_fail(BRIO_ENOENT, "pvfs2:%s: no file system that %s lists is mounted there",
                         path, tab->tabfile_name);
    if (mount->fs_id == PVFS_FS_ID_NULL)
        err = add(mount);
    out->lib = &state.lib;
    out->fs = mount->fs_id;
    return err;
}

BRIO_ERR brio_pvfs2_connect(const char *path, const struct brio_pvfs2_conf *conf,
                            struct brio_pvfs2_place *out)
{
    pthread_mutex_lock(&state.lock);
    enum brio_err err = connect_to(path, conf, out);
    pthread_mutex_unlock(&state.lock);
    return err;
}

const struct brio_pvfs2_lib *brio_pvfs2_begin(void)
{
    pthread_mutex_lock(&state.lock);
    /* If it cannot be made new the servers refuse what follows, and say why. */
    int failed = state.lib.util_refresh_credential(&state.lib.who);
    if (failed)
        brio_log(BRIO_WARN, "OrangeFS: no new credential: %s",
                 strerror(brio_pvfs2_errno(failed)));
    return &state.lib;
}

void brio_pvfs2_end(void)
{
    pthread_mutex_unlock(&state.lock);
}
