/* The fcoll modules as the library itself lists them, so that a new one is tested without a
 * word added here; and a file opened with one of them, with the settings that make an access
 * of a few bytes go through many owners and rounds. */
#ifndef BRIO_TEST_COLL_MODULES_H
#define BRIO_TEST_COLL_MODULES_H

#include <dlfcn.h>

#include "expect.h"

enum {
    COLL_MODULES = 32,
    COLL_NODES = 3, /* pretended nodes, at most, where chance has it */
    COLL_COMMS = 8  /* and at all */
};

/* The last one is "auto": the library chooses. */
static char coll_name[COLL_MODULES][64];
static int coll_count;
static MPI_Comm coll_comm[COLL_COMMS + 1]; /* by the number of nodes pretended */

/* What `brio info --json` prints: the library prints it, to the standard output. */
static inline void coll_capture(char *text, size_t room)
{
    void *found = dlsym(RTLD_DEFAULT, "brio_info_print");
    void (*print)(int);
    FILE *file = tmpfile();
    int saved = dup(1);
    if (!found || !file || saved < 0 || fflush(stdout) != 0)
        return;
    memcpy(&print, &found, sizeof print);
    dup2(fileno(file), 1);
    print(1);
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* A module is an object with a name and then an "about", between "fcoll" and the framework
 * that comes after it. */
static inline void coll_parse(const char *text)
{
    const char *at = strstr(text, "\"fcoll\": ["), *end = at ? strstr(at, "\n    \"") : NULL;
    static const char name[] = "{\"name\": \"", about[] = "\", \"about\"";
    while (at && (at = strstr(at, name)) != NULL && (!end || at < end)) {
        at += sizeof name - 1;
        size_t n = strcspn(at, "\"");
        if (strncmp(at + n, about, sizeof about - 1) == 0 && n < sizeof coll_name[0] &&
            coll_count < COLL_MODULES - 1)
            memcpy(coll_name[coll_count++], at, n);
    }
}

/* The list is the library's own; what must be in it is said here, so that an empty one is
 * noticed. */
static const char *const coll_known[] = {"individual", "two_phase", "static", "dynamic",
                                         "ioserver",   "iec",       NULL};

static inline int coll_listed(const char *name)
{
    int n = 0;
    for (int m = 0; m < coll_count; m++)
        n += strcmp(coll_name[m], name) == 0;
    return n;
}

/* Collective; called once, by main. */
static inline void coll_list(void)
{
    static char text[1 << 16];
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_nranks);
    const char *forced = getenv("COLL_MODULE");
    if (test_rank == 0) {
        coll_capture(text, sizeof text);
        coll_parse(text);
        snprintf(coll_name[coll_count++], sizeof coll_name[0], "auto");
        if (forced) {
            snprintf(coll_name[0], sizeof coll_name[0], "%s", forced);
            coll_count = 1;
        }
    }
    MPI_Bcast(&coll_count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(coll_name, sizeof coll_name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int n = 1; n <= COLL_COMMS; n++) {
        int dims[2] = {0, 0}, periods[2] = {0, 0};
        MPI_Dims_create(test_nranks, 2, dims);
        if (n % 2) /* some with a grid of the same ranks */
            MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &coll_comm[n]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &coll_comm[n]);
    }
}

static inline void coll_forget(void)
{
    for (int n = 1; n <= COLL_COMMS; n++)
        MPI_Comm_free(&coll_comm[n]);
}

struct coll_setup {
    const char *module;
    int nodes;    /* pretended */
    int owners;   /* cb_nodes, 0: not said */
    long buffer;  /* cb_buffer_size, 0: not said */
    long block;   /* cb_block_size, 0: not said */
    int exchange; /* cb_exchange, an index; 0: not said */
    int groups;   /* cb_groups, likewise */
    int packed;   /* cb_packed=enable */
    int no_sieve; /* bytes reach the file by pwrite, not through a mapping */
    int atomic;
};

static const char *const coll_exchange[] = {"", "memory", "messages", "phases"};
static const char *const coll_groups[] = {"", "view", "grid", "ranks"};

static inline void coll_hint(MPI_Info info, const char *key, long value)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    if (value)
        MPI_Info_set(info, key, text);
}

static inline const char *coll_text(const struct coll_setup *s)
{
    static char text[256];
    snprintf(text, sizeof text,
             "fcoll=%.63s BRIO_NODES=%d cb_nodes=%d cb_buffer_size=%ld cb_block_size=%ld "
             "cb_exchange=%s cb_groups=%s%s%s",
             s->module, s->nodes, s->owners, s->buffer, s->block, coll_exchange[s->exchange],
             coll_groups[s->groups], s->packed ? " cb_packed=enable" : "",
             s->atomic ? " atomic" : "");
    return text;
}

static inline void coll_check_module(MPI_File fh, const struct coll_setup *s)
{
    MPI_Info info;
    char value[64] = "";
    int there = 0;
    if (strcmp(s->module, "auto") == 0)
        return;
    OK(MPI_File_get_info(fh, &info));
    MPI_Info_get(info, "brio_fcoll", sizeof value - 1, value, &there);
    CHECK(there && strcmp(value, s->module) == 0, "%s in force, not %s", value, s->module);
    MPI_Info_free(&info);
}

/* Opens test_file(). MPI_FILE_NULL if the module says that it cannot serve several nodes or
 * the atomic mode; on one node and without it, every module must. */
static inline MPI_File coll_open(const struct coll_setup *s)
{
    char nodes[16];
    MPI_Info info;
    MPI_File fh = MPI_FILE_NULL;
    int may_refuse = (s->nodes > 1 || s->atomic) && strcmp(s->module, "auto") != 0;
    snprintf(nodes, sizeof nodes, "%d", s->nodes);
    setenv("BRIO_NODES", nodes, 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "fcoll", s->module);
    coll_hint(info, "cb_nodes", s->owners);
    coll_hint(info, "cb_buffer_size", s->buffer);
    coll_hint(info, "cb_block_size", s->block);
    if (s->exchange)
        MPI_Info_set(info, "cb_exchange", coll_exchange[s->exchange]);
    if (s->groups)
        MPI_Info_set(info, "cb_groups", coll_groups[s->groups]);
    if (s->packed)
        MPI_Info_set(info, "cb_packed", "enable");
    if (s->no_sieve)
        MPI_Info_set(info, "ds_write", "disable");
    int err = MPI_File_open(coll_comm[s->nodes], test_file(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                            info, &fh);
    MPI_Info_free(&info);
    if (!err && s->atomic) {
        err = MPI_File_set_atomicity(fh, 1);
        if (err)
            MPI_File_close(&fh);
    }
    if (err) {
        CHECK(may_refuse && error_class(err) == MPI_ERR_UNSUPPORTED_OPERATION, "%s: %s",
              coll_text(s), error_text(err));
        return MPI_FILE_NULL;
    }
    coll_check_module(fh, s);
    return fh;
}

#endif
