/* Error handlers of files, and of MPI_FILE_NULL for what concerns no open file. */
#ifndef BRIO_MPI_ERRHANDLER_H
#define BRIO_MPI_ERRHANDLER_H

#include <mpi.h>
#include <stdbool.h>

struct brio_file;
struct brio_handler; /* counted; the predefined ones are there for ever */

/* The handler in force for the file, or for MPI_FILE_NULL if f is NULL. */
struct brio_handler *brio_handler_hold(struct brio_file *f);
void brio_handler_drop(struct brio_handler *handler);

/* A file that is being opened takes MPI_FILE_NULL's handler; one that is being closed gives
 * it up: the caller then holds it. */
void brio_handler_inherit(struct brio_file *f);
struct brio_handler *brio_handler_detach(struct brio_file *f);

/* Does what the handler says about the code. Returns unless it is a fatal one. */
void brio_handler_call(struct brio_handler *handler, MPI_File fh, int code);

/* Remembers what a handle made by the MPI stands for. `fortran`: the function wants the
 * Fortran handle. False if there is no memory. */
bool brio_handler_learn(MPI_Errhandler eh, void (*fn)(void), bool fortran);

#endif
