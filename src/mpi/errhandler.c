/* Error handlers. The MPI makes the handles, so that MPI_Errhandler_free works; Brio
 * remembers the functions behind them, because it must call them with its own handles. */
#include "mpi/errhandler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mpi/entry.h"
#include "mpi/errors.h"
#include "mpi/next.h"

enum kind {
    RETURN, /* nothing but the code */
    FATAL,  /* the whole job */
    ABORT,  /* the ranks of the file */
    IN_C,
    IN_FORTRAN
};

struct brio_handler {
    enum kind kind;
    MPI_Errhandler eh; /* our own reference to it, for IN_C and IN_FORTRAN */
    void (*fn)(void);
    _Atomic int refs; /* unused for the predefined ones */
};

static struct brio_handler predefined[] = {{.kind = RETURN}, {.kind = FATAL}, {.kind = ABORT}};

/* The program's own handlers that it holds references to. All of them come from here, so that
 * it is known when a handle has ceased to be one of ours: the MPI may then use its value for
 * a handler of another kind, and MPICH ends the job if that is set on a file. */
struct made {
    MPI_Errhandler eh;
    void (*fn)(void);
    bool fortran;
    int users;
    struct made *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *made;
static struct brio_handler *standard = &predefined[RETURN]; /* MPI_FILE_NULL's */

/* The place of the handle's entry, or of the end of the list. */
static struct made **find_made(MPI_Errhandler eh)
{
    struct made **at = &made;
    while (*at && (*at)->eh != eh)
        at = &(*at)->next;
    return at;
}

/* The program gets a reference. Called with the lock held. */
static bool lend(MPI_Errhandler eh, void (*fn)(void), bool fortran)
{
    void *mem;
    struct made **at = find_made(eh);
    if (!*at && brio_calloc(1, sizeof **at, &mem) == BRIO_OK)
        *at = mem;
    if (!*at)
        return false;
    (*at)->eh = eh;
    (*at)->fn = fn;
    (*at)->fortran = fortran;
    (*at)->users++;
    return true;
}

bool brio_handler_learn(MPI_Errhandler eh, void (*fn)(void), bool fortran)
{
    pthread_mutex_lock(&lock);
    bool known = lend(eh, fn, fortran);
    pthread_mutex_unlock(&lock);
    return known;
}

/* The program gives a reference back. */
static void unlend(MPI_Errhandler eh)
{
    pthread_mutex_lock(&lock);
    struct made **at = find_made(eh), *m = *at;
    if (m && --m->users == 0) {
        *at = m->next;
        free(m);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- References ------------------------------------------------------------------------ */

static struct brio_handler *hold(struct brio_handler *handler)
{
    if (handler->kind >= IN_C)
        atomic_fetch_add(&handler->refs, 1);
    return handler;
}

struct brio_handler *brio_handler_hold(struct brio_file *f)
{
    pthread_mutex_lock(&lock);
    struct brio_handler *handler = f ? brio_file_tag(f) : standard;
    handler = hold(handler ? handler : &predefined[RETURN]);
    pthread_mutex_unlock(&lock);
    return handler;
}

void brio_handler_drop(struct brio_handler *handler)
{
    if (handler->kind < IN_C || atomic_fetch_sub(&handler->refs, 1) > 1)
        return;
    BRIO_NEXT(PMPI_Errhandler_free)(&handler->eh);
    free(handler);
}

void brio_handler_inherit(struct brio_file *f)
{
    brio_file_set_tag(f, brio_handler_hold(NULL));
}

struct brio_handler *brio_handler_detach(struct brio_file *f)
{
    pthread_mutex_lock(&lock);
    struct brio_handler *handler = brio_file_tag(f);
    brio_file_set_tag(f, NULL);
    pthread_mutex_unlock(&lock);
    return handler ? handler : &predefined[RETURN];
}

/* One more reference to the MPI's object: neither MPI has a call for this, but setting it on
 * the real MPI_FILE_NULL and asking for it again does it in both. Called with the lock held. */
static int retain(MPI_Errhandler eh, MPI_Errhandler *out)
{
    int rc = BRIO_NEXT(PMPI_File_set_errhandler)(MPI_FILE_NULL, eh);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = BRIO_NEXT(PMPI_File_get_errhandler)(MPI_FILE_NULL, out);
    BRIO_NEXT(PMPI_File_set_errhandler)(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    return rc;
}

/* A predefined handler by its handle, or NULL. */
static struct brio_handler *find_predefined(MPI_Errhandler eh)
{
    if (eh == MPI_ERRORS_RETURN)
        return &predefined[RETURN];
    if (eh == MPI_ERRORS_ARE_FATAL)
        return &predefined[FATAL];
#if MPI_VERSION >= 4
    if (eh == MPI_ERRORS_ABORT)
        return &predefined[ABORT];
#endif
    return NULL;
}

static MPI_Errhandler handle_of(const struct brio_handler *handler)
{
    switch (handler->kind) {
    case RETURN:
        return MPI_ERRORS_RETURN;
    case FATAL:
        return MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
    case ABORT:
        return MPI_ERRORS_ABORT;
#endif
    default:
        return handler->eh;
    }
}

/* A held handler for the handle that the user gave. Called with the lock held. */
static enum brio_err take(MPI_Errhandler eh, struct brio_handler **out)
{
    void *mem;
    struct brio_handler *handler = find_predefined(eh);
    if (handler) {
        *out = handler;
        return BRIO_OK;
    }
    const struct made *m = *find_made(eh);
    if (!m)
        return brio_fail(BRIO_EARG, "not an error handler for files");
    enum brio_err err = brio_calloc(1, sizeof *handler, &mem);
    if (err != BRIO_OK)
        return err;
    handler = mem;
    if (retain(eh, &handler->eh) != MPI_SUCCESS) {
        free(handler);
        return brio_fail(BRIO_EINTERN, "the MPI refuses its own error handler");
    }
    handler->kind = m->fortran ? IN_FORTRAN : IN_C;
    handler->fn = m->fn;
    handler->refs = 1;
    *out = handler;
    return BRIO_OK;
}

/* ---- Calling --------------------------------------------------------------------------- */

/* Ends the job, as the user's handler demands. The exit status is the class: the low bits of
 * a code may be 0. */
static void end_job(MPI_Comm comm, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len, class = MPI_ERR_OTHER;
    PMPI_Error_string(code, text, &len);
    PMPI_Error_class(code, &class);
    fprintf(stderr, "%s\n", text);
    fflush(stderr);
    PMPI_Abort(comm, class);
}

void brio_handler_call(struct brio_handler *handler, MPI_File fh, int code)
{
    struct brio_file *f = brio_from_handle(fh);
    MPI_Fint number = fh == MPI_FILE_NULL ? 0 : (MPI_Fint)(intptr_t)fh;
    switch (handler->kind) {
    case RETURN:
        break;
    case FATAL:
        end_job(MPI_COMM_WORLD, code);
        break;
    case ABORT:
        end_job(f ? brio_file_comm(f) : MPI_COMM_SELF, code);
        break;
    case IN_C:
        ((MPI_File_errhandler_function *)handler->fn)(&fh, &code);
        break;
    case IN_FORTRAN:
        ((void (*)(MPI_Fint *, int *, ...))handler->fn)(&number, &code);
        break;
    }
}

/* ---- Entry points ---------------------------------------------------------------------- */

/* Replaces the handler of the file, or of MPI_FILE_NULL. */
static enum brio_err set(struct brio_file *f, MPI_Errhandler eh)
{
    struct brio_handler *now = NULL, *was = NULL;
    if (eh == MPI_ERRHANDLER_NULL)
        return brio_fail(BRIO_EARG, "the error handler is MPI_ERRHANDLER_NULL");
    pthread_mutex_lock(&lock);
    enum brio_err err = take(eh, &now);
    if (err == BRIO_OK && f) {
        was = brio_file_tag(f);
        brio_file_set_tag(f, now);
    } else if (err == BRIO_OK) {
        was = standard;
        standard = now;
    }
    pthread_mutex_unlock(&lock);
    if (was)
        brio_handler_drop(was);
    return err;
}

static enum brio_err get(struct brio_file *f, MPI_Errhandler *out)
{
    if (!out)
        return brio_no_room("errhandler");
    struct brio_handler *handler = brio_handler_hold(f);
    pthread_mutex_lock(&lock);
    bool done = retain(handle_of(handler), out) == MPI_SUCCESS;
    if (done && handler->kind >= IN_C)
        done = lend(*out, handler->fn, handler->kind == IN_FORTRAN);
    pthread_mutex_unlock(&lock);
    brio_handler_drop(handler);
    return done ? BRIO_OK : brio_fail(BRIO_EINTERN, "the MPI refuses its own error handler");
}

/* True if the handle may have a handler: an open file or MPI_FILE_NULL. */
static bool find(MPI_File fh, struct brio_file **out)
{
    *out = brio_from_handle(fh);
    return *out || (fh == MPI_FILE_NULL && brio_process_ready());
}

#pragma GCC visibility push(default)

int MPI_File_create_errhandler(MPI_File_errhandler_function *fn, MPI_Errhandler *errhandler)
{
    if (!brio_process_ready())
        return MPI_ERR_OTHER;
    if (!fn || !errhandler)
        return brio_leave(MPI_FILE_NULL, brio_no_room(fn ? "errhandler" : "the function"));
    int rc = BRIO_NEXT(PMPI_File_create_errhandler)(fn, errhandler);
    if (rc == MPI_SUCCESS && !brio_handler_learn(*errhandler, (void (*)(void))fn, false)) {
        BRIO_NEXT(PMPI_Errhandler_free)(errhandler);
        return brio_leave(MPI_FILE_NULL, BRIO_ENOMEM);
    }
    return rc;
}
BRIO_TWIN(File_create_errhandler);

int MPI_File_set_errhandler(MPI_File fh, MPI_Errhandler errhandler)
{
    struct brio_file *f;
    return brio_leave(fh, find(fh, &f) ? set(f, errhandler) : BRIO_EFILE);
}
BRIO_TWIN(File_set_errhandler);

int MPI_File_get_errhandler(MPI_File fh, MPI_Errhandler *errhandler)
{
    struct brio_file *f;
    return brio_leave(fh, find(fh, &f) ? get(f, errhandler) : BRIO_EFILE);
}
BRIO_TWIN(File_get_errhandler);

int MPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    struct brio_file *f;
    if (!find(fh, &f))
        return brio_leave(fh, BRIO_EFILE);
    struct brio_handler *handler = brio_handler_hold(f);
    brio_handler_call(handler, fh, errorcode);
    brio_handler_drop(handler);
    return MPI_SUCCESS;
}
BRIO_TWIN(File_call_errhandler);

int MPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    if (errhandler)
        unlend(*errhandler);
    return BRIO_NEXT(PMPI_Errhandler_free)(errhandler);
}
BRIO_TWIN(Errhandler_free);

#pragma GCC visibility pop
