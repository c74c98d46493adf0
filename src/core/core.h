/* What mpi/ may ask of core: everything that MPI can do with a file, on counts of 64 bits,
 * with Brio's own error codes. Functions marked collective must be called by all ranks of
 * the file; they return BRIO_OK on all ranks or on none, also when only one rank's
 * arguments are wrong. */
#ifndef BRIO_CORE_CORE_H
#define BRIO_CORE_CORE_H

#include <mpi.h>

#include "base/base.h"

struct brio_file;
struct brio_op;

/* ---- Handles: core/handle.c ---------------------------------------------------------- */

/* An open file's number: 0 < h < 2^30, never 0x118, not used again soon. */
int brio_file_handle(const struct brio_file *f);

/* The file, or NULL if h is no open file (closed, never opened, nonsense). */
struct brio_file *brio_file_of(int64_t h);

/* A pointer that belongs to mpi/ (its error handler); NULL at open. */
void brio_file_set_tag(struct brio_file *f, void *tag);
void *brio_file_tag(const struct brio_file *f);

/* ---- Whole files: core/open.c, core/manage.c ------------------------------------------ */

BRIO_ERR brio_file_open(MPI_Comm comm, const char *path, int amode, MPI_Info info,
                        struct brio_file **out); /* collective */
BRIO_ERR brio_file_close(struct brio_file *f);   /* collective; f is gone anyway */
BRIO_ERR brio_file_delete(const char *path, MPI_Info info);
BRIO_ERR brio_file_set_size(struct brio_file *f, brio_off size);    /* collective */
BRIO_ERR brio_file_preallocate(struct brio_file *f, brio_off size); /* collective */
BRIO_ERR brio_file_get_size(struct brio_file *f, brio_off *out);
BRIO_ERR brio_file_get_group(struct brio_file *f, MPI_Group *out);
int brio_file_amode(const struct brio_file *f);
const char *brio_file_path(const struct brio_file *f);
MPI_Comm brio_file_comm(const struct brio_file *f);
BRIO_ERR brio_file_set_info(struct brio_file *f, MPI_Info info); /* collective */
BRIO_ERR brio_file_get_info(struct brio_file *f, MPI_Info *out);
BRIO_ERR brio_file_set_atomicity(struct brio_file *f, bool atomic); /* collective */
bool brio_file_atomicity(const struct brio_file *f);
BRIO_ERR brio_file_sync(struct brio_file *f); /* collective */
/* A counter of this rank by its name in base/stats.c. */
BRIO_ERR brio_file_counter(const struct brio_file *f, const char *name, int64_t *out);

/* ---- Views and pointers: core/view.c, core/position.c ---------------------------------- */

BRIO_ERR brio_file_set_view(struct brio_file *f, MPI_Offset disp, MPI_Datatype etype,
                            MPI_Datatype filetype, const char *rep,
                            MPI_Info info); /* collective */
/* rep has room for MPI_MAX_DATAREP_STRING. */
BRIO_ERR brio_file_get_view(struct brio_file *f, MPI_Offset *disp, MPI_Datatype *etype,
                            MPI_Datatype *filetype, char *rep);
BRIO_ERR brio_file_seek(struct brio_file *f, brio_off off, int whence);
BRIO_ERR brio_file_get_position(struct brio_file *f, brio_off *out);
BRIO_ERR brio_file_get_byte_offset(struct brio_file *f, brio_off off, brio_off *out);
BRIO_ERR brio_file_seek_shared(struct brio_file *f, brio_off off, int whence); /* collective */
BRIO_ERR brio_file_get_position_shared(struct brio_file *f, brio_off *out);
BRIO_ERR brio_file_get_type_extent(struct brio_file *f, MPI_Datatype type, brio_off *out);

/* ---- Data: core/access.c --------------------------------------------------------------- */

enum brio_ptr {
    BRIO_AT,    /* explicit offset */
    BRIO_OWN,   /* individual file pointer */
    BRIO_SHARED /* shared file pointer; with coll: ordered */
};

/* One data access, as the user asked for it. Checked by core, all of it. */
struct brio_call {
    enum brio_dir dir;
    enum brio_ptr ptr;
    bool coll;
    brio_off off; /* in etypes; BRIO_AT only */
    void *buf;
    brio_off count;
    MPI_Datatype type;
};

/* *bytes is always set: the data bytes of the memory type that were moved. */
BRIO_ERR brio_access(struct brio_file *f, const struct brio_call *call, brio_off *bytes);

/* Split collectives. The end must be of the begin's direction and pointer kind and name
 * the same buffer. */
BRIO_ERR brio_split_begin(struct brio_file *f, const struct brio_call *call);
BRIO_ERR brio_split_end(struct brio_file *f, enum brio_dir dir, enum brio_ptr ptr,
                        const void *buf, brio_off *bytes);

/* ---- Nonblocking: core/op.c ------------------------------------------------------------ */

/* Checks and prepares, moves the pointer, but begins nothing. On failure there is no
 * operation; of a collective call only want of memory fails here, and the other ranks have
 * then been told: all else that is wrong is in the operation. */
BRIO_ERR brio_op_new(struct brio_file *f, const struct brio_call *call, struct brio_op **out);

/* Instead of letting it move anything: the operation has failed here before it began. The
 * other ranks of a collective one learn of it when it has been started all the same. */
void brio_op_refuse(struct brio_op *op, enum brio_err err);

/* Begins it. notify(arg) is called once when it is done: by a thread of Brio's if MPI is
 * at MPI_THREAD_MULTIPLE, else by the program's thread from inside brio_progress; in either
 * case perhaps before this call returns. */
void brio_op_start(struct brio_op *op, void (*notify)(void *arg), void *arg);

/* After notify: the outcome. The text of a failure becomes this thread's. */
enum brio_err brio_op_result(struct brio_op *op, brio_off *bytes);
struct brio_file *brio_op_file(struct brio_op *op); /* NULL if it was closed meanwhile */
void brio_op_free(struct brio_op *op);

/* The number of operations that have been started and not yet notified. Cheap. */
int brio_progress_pending(void);

/* Drives what can be driven now, on the calling thread. */
void brio_progress(void);

/* ---- The process: core/process.c --------------------------------------------------------- */

/* Before the first open; safe to call often. Registers the clean-up with MPI. */
BRIO_ERR brio_process_init(void);
/* True between MPI_Init and MPI_Finalize. */
bool brio_process_ready(void);

#endif
