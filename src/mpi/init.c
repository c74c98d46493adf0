/* Initialisation: Brio asks the MPI for MPI_THREAD_MULTIPLE, so that its own threads may
 * complete operations, and tells the program no more than it asked for. BRIO_THREADS=0 in the
 * environment leaves the level as the program wants it. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/next.h"

static _Atomic int wanted = -1; /* by the program; -1: it did not start MPI through here */

static int level_for(int required)
{
    const char *text = getenv("BRIO_THREADS");
    return text && strcmp(text, "0") == 0 ? required : MPI_THREAD_MULTIPLE;
}

/* `brio run` wants to know whether any rank came by here. */
static void leave_mark(void)
{
    const char *path = getenv("BRIO_RUN_MARK");
    int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
}

/* After the MPI's answer. A tool between the program and the MPI may come by here a second
 * time, with the level that Brio asked for; the program's own call returns last. */
static int answer(int rc, int required, int granted, int *provided)
{
    if (rc != MPI_SUCCESS)
        return rc;
    leave_mark();
    wanted = required;
    if (provided)
        *provided = granted < required ? granted : required;
    return rc;
}

/* What the program is to believe. */
static int query(int rc, int *provided)
{
    int told = wanted;
    if (rc == MPI_SUCCESS && told >= 0 && *provided > told)
        *provided = told;
    return rc;
}

#pragma GCC visibility push(default)

int MPI_Init(int *argc, char ***argv)
{
    int granted = MPI_THREAD_SINGLE, level = level_for(MPI_THREAD_SINGLE);
    int rc = BRIO_NEXT(MPI_Init_thread)(argc, argv, level, &granted);
    return answer(rc, MPI_THREAD_SINGLE, granted, NULL);
}

int PMPI_Init(int *argc, char ***argv)
{
    int granted = MPI_THREAD_SINGLE, level = level_for(MPI_THREAD_SINGLE);
    int rc = BRIO_NEXT(PMPI_Init_thread)(argc, argv, level, &granted);
    return answer(rc, MPI_THREAD_SINGLE, granted, NULL);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int granted = MPI_THREAD_SINGLE;
    int rc = BRIO_NEXT(MPI_Init_thread)(argc, argv, level_for(required), &granted);
    return answer(rc, required, granted, provided);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int granted = MPI_THREAD_SINGLE;
    int rc = BRIO_NEXT(PMPI_Init_thread)(argc, argv, level_for(required), &granted);
    return answer(rc, required, granted, provided);
}

int MPI_Query_thread(int *provided)
{
    return query(BRIO_NEXT(MPI_Query_thread)(provided), provided);
}

int PMPI_Query_thread(int *provided)
{
    return query(BRIO_NEXT(PMPI_Query_thread)(provided), provided);
}

#pragma GCC visibility pop
