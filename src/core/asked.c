/* Gathering the settings of one open. */
#include "core/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/known.h"
#include "core/site.h"

static bool is_own(const char *name)
{
    return !brio_known_same(name);
}

BRIO_ERR brio_asked_collect(const char *path, struct brio_asked *out)
{
    struct brio_settings *s;
    char *bytes = NULL;
    size_t len = 0;
    out->len = 0;
    enum brio_err err = brio_settings_new(&s);
    if (err)
        return err;
    err = brio_site_add(s, path);
    if (!err)
        err = brio_settings_add_env(s, brio_known_same);
    if (!err)
        err = brio_settings_pack(s, &bytes, &len);
    if (!err && len > sizeof out->bytes) {
        brio_warn_once("%zu bytes of settings for one file are too many; none is used", len);
        len = 0;
    }
    if (!err) {
        memcpy(out->bytes, bytes, len);
        out->len = (int)len;
    }
    free(bytes);
    brio_settings_free(s);
    return err;
}

BRIO_ERR brio_asked_settle(const struct brio_asked *asked, MPI_Info info,
                           struct brio_settings *s)
{
    enum brio_err err = brio_settings_unpack(s, asked->bytes, (size_t)asked->len);
    if (!err)
        err = brio_settings_add_env(s, is_own);
    if (!err)
        err = brio_settings_add_info(s, info, "info");
    if (!err && brio_settings_speaks(s))
        brio_known_check(s);
    return err;
}

/* The value of a variable of the environment among the settings, or NULL. */
static const char *of_env(const struct brio_settings *s, const char *name)
{
    struct brio_setting e;
    for (size_t i = 0; brio_settings_at(s, i, &e); i++)
        if (e.source == BRIO_FROM_ENVIRONMENT && strcmp(e.name, name) == 0)
            return e.value;
    return NULL;
}

bool brio_asked_differs(const struct brio_settings *s, int rank, char *why, size_t size)
{
    struct brio_settings *mine;
    struct brio_setting e;
    bool differs = false;
    if (brio_settings_new(&mine) != BRIO_OK)
        return false;
    if (brio_settings_add_env(mine, brio_known_same) != BRIO_OK)
        goto free_mine;
    for (size_t i = 0; !differs && brio_settings_at(mine, i, &e); i++) {
        const char *theirs = of_env(s, e.name);
        differs = !theirs || strcmp(theirs, e.value) != 0;
        if (differs)
            snprintf(why, size,
                     "%s=%s in the environment of rank %d is not used: it must be "
                     "the same on all ranks, and on rank 0 it is %s%s",
                     e.name, e.value, rank, theirs ? "" : "not set", theirs ? theirs : "");
    }
    for (size_t i = 0; !differs && brio_settings_at(s, i, &e); i++) {
        differs = e.source == BRIO_FROM_ENVIRONMENT && brio_known_same(e.name) &&
                  !of_env(mine, e.name);
        if (differs)
            snprintf(why, size,
                     "%s=%s in the environment of rank 0 is used on all ranks, "
                     "though rank %d does not have it",
                     e.name, e.value, rank);
    }
free_mine:
    brio_settings_free(mine);
    return differs;
}
