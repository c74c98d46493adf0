/* The brio command: what its files share. A program of its own, without MPI and without the
 * library; it finds both and starts them. */
#ifndef BRIO_CLI_CLI_H
#define BRIO_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

enum brio_mpi {
    BRIO_MPI_UNKNOWN,
    BRIO_MPI_OPENMPI,
    BRIO_MPI_MPICH
};

/* "openmpi", "mpich". */
const char *brio_mpi_name(enum brio_mpi mpi);
enum brio_mpi brio_mpi_named(const char *name);

enum {
    BRIO_EXIT_USAGE = 2,
    BRIO_EXIT_NOT_FOUND = 127
};

/* "brio: ..." and a newline on standard error. */
void brio_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Memory that never fails: the command has nothing to undo, and ends. */
char *brio_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *brio_copy(const char *text);
void *brio_memory(size_t bytes);
void *brio_memory_again(void *p, size_t bytes);

/* A growing list of words, ended by NULL. The words are not owned. */
struct brio_words {
    const char **word;
    size_t n;
};
void brio_words_add(struct brio_words *words, const char *word);
/* A word, and then those of a text, separated by blanks. */
struct brio_words brio_words_of(const char *first, const char *text);

/* ---- program.c: which MPI a program uses ---------------------------------------------- */

/* The file that PATH or the name itself leads to, relative names seen from `dir` (or NULL);
 * NULL if there is none. */
char *brio_program_find(const char *name, const char *dir);

/* Looks at the program, at the interpreter of a script, at the MPI module of a Python, and,
 * if the program is none of MPI's (env, timeout, a debugger), at its arguments. */
enum brio_mpi brio_program_mpi(const char *path, const char *const *args);

/* ---- place.c: what is installed ------------------------------------------------------- */

/* libbrio-<mpi>.so, or NULL; the caller need not free it. */
const char *brio_place_library(enum brio_mpi mpi);
/* A library that makes MPICH's ranks give cores away, or NULL. */
const char *brio_place_yield(void);
/* The benchmark program for this MPI, or NULL. */
const char *brio_place_bench(enum brio_mpi mpi);
/* The program behind brio explain, or NULL. */
const char *brio_place_explain(enum brio_mpi mpi);
/* A library that makes a directory slow (bench/cache/delay.c), or NULL. */
const char *brio_place_delay(void);
/* A shipped space for brio tune by its name, or NULL. */
const char *brio_place_space(const char *name);
/* The launcher of this MPI, or NULL. */
const char *brio_place_launcher(enum brio_mpi mpi);

/* ---- output.c ------------------------------------------------------------------------- */

/* The first `size` bytes that a command prints on standard output, as text; its standard
 * error is dropped, and it does not inherit LD_PRELOAD. False if it could not run or failed. */
bool brio_output_of(const char *const *argv, char *out, size_t size);
/* The same with its standard error where ours is. */
bool brio_output_and_errors_of(const char *const *argv, char *out, size_t size);

/* ---- the commands --------------------------------------------------------------------- */

int brio_cmd_run(int argc, char **argv);
int brio_cmd_info(int argc, char **argv);
int brio_cmd_explain(int argc, char **argv);
int brio_cmd_merge(int argc, char **argv);
int brio_cmd_bench(int argc, char **argv);
int brio_cmd_reproduce(int argc, char **argv);
int brio_cmd_tune(int argc, char **argv);
int brio_cmd_report(int argc, char **argv);
int brio_cmd_calibrate(int argc, char **argv);

extern const char brio_help_run[], brio_help_info[], brio_help_merge[], brio_help_bench[],
    brio_help_reproduce[], brio_help_tune[], brio_help_report[], brio_help_calibrate[];
extern const char brio_help_explain[];

#endif
