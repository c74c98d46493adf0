/* The benchmark program behind `brio bench`: one for each MPI, a plain MPI program that runs
 * with and without Brio preloaded. A workload (work/) says which bytes each rank has and how it
 * asks for them; the driver (driver.c) times, repeats, verifies and prints. */
#ifndef BRIO_BENCH_H
#define BRIO_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* ---- options.c: what the command line says ------------------------------------------------
 */

/* One option, `--name=value`; a table ends with an entry without a name. */
struct option_entry {
    const char *name;
    const char *usual; /* its value if it is not given */
    const char *help;
};

enum {
    OPTIONS_MAX = 32,
    LIST_MAX = 64 /* values of one option */
};

struct options {
    const struct option_entry *table[2]; /* the program's and the workload's */
    const char *value[2][OPTIONS_MAX];
    const char *hint[OPTIONS_MAX]; /* name=value, for the info object */
    int nhints;
};

/* False, after a line on standard error, if the words cannot be used. */
bool options_parse(struct options *o, int argc, char **argv);
void options_help(const struct option_entry *table);

void option_set(struct options *o, const char *name, const char *value);
const char *option_text(const struct options *o, const char *name);
bool option_is(const struct options *o, const char *name, const char *value);
bool option_flag(const struct options *o, const char *name);
/* False, after a line on standard error, if the value is none of the words. */
bool option_one_of(const struct options *o, const char *name, const char *words);
/* Numbers may end with k, m or g. A value that is none ends the program with a message. */
long long option_number(const struct options *o, const char *name);
/* Fills in at most LIST_MAX numbers, returns how many. */
int option_list(const struct options *o, const char *name, long long *out);
/* Comma-separated words; word i is copied to `out`, false if there is none. */
bool option_word(const struct options *o, const char *name, int i, char *out, size_t size);
int option_words(const struct options *o, const char *name);

/* ---- driver.c -----------------------------------------------------------------------------
 */

extern int rank, nranks;

enum access {
    ACCESS_COLLECTIVE,
    ACCESS_INDEPENDENT,
    ACCESS_PIECES /* independent, one call for each contiguous piece */
};

/* "access": coll, indep or pieces. A value that is none ends the program with a message. */
enum access option_access(const struct options *o);

struct workload;

/* One case of a workload on this rank. */
struct job {
    const struct workload *work;
    const struct options *opt;
    /* Set by the workload's setup. */
    char name[80];
    double x;         /* where the case stands on the axis of a figure */
    long long bytes;  /* of this rank in one call, at most */
    long long extent; /* bytes of the file that one call of all ranks covers */
    int calls;
    const int *lens; /* bytes of this rank in each call; NULL: always `bytes` */
    /* Where each call's bytes are by plain access to one file; NULL: behind those of the call
     * before, in a part that is this rank's own. */
    const long long *places;
    enum access access;
    long long nruns; /* contiguous pieces of one call, in the order of the buffer */
    /* Where piece i of a call lies in the file, and how long it is; it may be empty. */
    long long (*run)(const struct job *job, int call, long long i, long long *len);
    void *more;
    /* Set by the driver. */
    const char *path;
    int amode;
    MPI_Info info;
    uint64_t seed; /* of the data; another for each repetition */
    char *buf;     /* of one call */
    MPI_File fh;
    int fd;         /* of plain access */
    long long mine; /* bytes of this rank in all calls */
    long long here; /* of lower ranks, in all calls */
    long long all;  /* of all ranks in all calls */
    long long done; /* bytes of this rank in the calls before this one */
};

struct workload {
    const char *name, *about;
    const struct option_entry *options;
    bool whole; /* timed from open to close unless said otherwise */
    /* How many cases the options make. Called before MPI is there. */
    int (*cases)(const struct options *o);
    void (*setup)(struct job *job, int which);
    void (*open)(struct job *job); /* path, amode and info are set; sets views */
    void (*look)(struct job *job); /* the same, so that the file's info tells which library */
    void (*move)(struct job *job, int call, int write);
    void (*close)(struct job *job);
    /* The buffer before a call that writes; wrong bytes after one that read. */
    void (*fill)(struct job *job, int call);
    long long (*check)(struct job *job, int call);
    /* Wrong bytes of the file that was written, seen by plain reads. */
    long long (*verify)(struct job *job);
    /* A file to read, where what was written is not what is read. */
    void (*prepare)(struct job *job);
    void (*finish)(struct job *job);
};

/* Runs all cases; the program's exit code. */
int drive(const struct workload *work, const struct options *o);

_Noreturn void fail(const char *what);
void must(int rc, const char *what);
void *need_memory(long long bytes);
/* Seconds of a clock that all processes of a machine share. */
double now(void);
/* Opens the way the job says. */
void open_file(struct job *job);
void close_file(struct job *job);
void nothing(struct job *job);
long long lens_at(const struct job *job, int call);
/* One call with an explicit offset, collective or not, its count checked. */
void access_at(struct job *job, int write, MPI_Offset off, void *buf, int count,
               MPI_Datatype type);
/* Each piece of a call by a call of its own, no view set. */
void access_pieces(struct job *job, int call, int write);

/* ---- plain.c ------------------------------------------------------------------------------
 */

/* The limit: the same bytes by plain contiguous pwrite and pread from the same ranks, each at
 * its places in one file, or each in a file of its own. */
extern const struct workload plain_work;
void setup_plain(struct job *job);

/* ---- data.c: every byte says where in the file it belongs ---------------------------------
 */

void data_fill(void *buf, long long off, long long len, uint64_t seed);
long long data_check(const void *buf, long long off, long long len, uint64_t seed);
/* Where in the file the bytes come from, or -1; at least 15 bytes are needed. */
long long data_find(const void *buf, long long len, uint64_t seed);
/* By the runs of the job. */
void runs_fill(struct job *job, int call);
long long runs_check(struct job *job, int call);
/* The file has no holes: each rank looks at a part of it. */
long long dense_verify(struct job *job);

/* ---- boxes.c: parts of an array -----------------------------------------------------------
 */

enum {
    BOXES_MAX = 64 /* of one rank */
};

struct box {
    int lo[3], len[3];
};

/* A rank's part of an array of dim[0] x dim[1] x dim[2] elements, the last index fastest:
 * boxes that follow each other in the file. */
struct boxes {
    int dim[3];
    int elem; /* bytes of an element */
    int n;
    struct box box[BOXES_MAX];
    long long rows[BOXES_MAX + 1]; /* of the boxes before */
};

/* Part i of n of a side: even, or each part larger than the one before. */
int side_cut(int i, int n, int side, bool uneven);
/* A tile of a 2-D array on a grid of ranks. */
void boxes_tile(struct boxes *b, int height, int width, int elem, bool uneven);
/* NPB BT's diagonal multi-partition of a cube of 5 doubles a point: on q x q ranks each has q
 * cells, one in each slab. Ranks beyond the square have none. */
void boxes_bt(struct boxes *b, int side, bool uneven);
/* After the boxes are there: counts rows. */
void boxes_done(struct boxes *b);
long long boxes_elements(const struct boxes *b);
long long boxes_extent(const struct boxes *b);
/* Row i of the boxes: where it lies in an array that begins at byte 0, and its bytes. */
long long boxes_row(const struct boxes *b, long long i, long long *len);
MPI_Datatype element_type(int bytes);
/* The boxes as a filetype; a rank without any gets one element that it does not use. */
MPI_Datatype boxes_type(const struct boxes *b);

/* ---- work/ --------------------------------------------------------------------------------
 */

extern const struct workload *const workloads[];

#endif
