/* brio explain: starts the program that goes through the library's own choices without touching
 * a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const char brio_help_explain[] =
    "brio explain [options] FILE\n"
    "\n"
    "Says what Brio would do with a file and why: what it knows of the file and the ranks, "
    "what\n"
    "every module answers, which are chosen, and for a pattern of access its plan. The "
    "library\n"
    "itself decides and explains; no byte is written, and no file is made.\n"
    "\n"
    "  --ranks N            so many ranks (4)\n"
    "  --nodes M            as if on so many nodes\n"
    "  --view VIEW          a collective access, in which each rank has\n"
    "                         contiguous:SIZE           one piece after that of the rank "
    "before\n"
    "                         blocks:SIZExCOUNT         blocks, with those of all ranks in "
    "turn\n"
    "                         tiles:ROWSxCOLUMNSxSIZE   a tile of an array of such elements\n"
    "                       sizes may end with k, m, g\n"
    "  --read               it is opened to be read, not to be read and written\n"
    "  --write-only         or to be written: what cache=writebehind and auto need\n"
    "  --mpi openmpi|mpich  with this MPI\n"
    "\n"
    "  brio explain --ranks 8 --view blocks:64kx100 /scratch/out.dat\n"
    "\n"
    "For a program as it runs: BRIO_EXPLAIN=1 brio run -n 8 ./a.out\n";

struct wish {
    enum brio_mpi mpi;
    const char *ranks, *nodes, *view, *file, *opened;
};

static bool is_number(const char *text)
{
    return *text && strlen(text) < 7 && !text[strspn(text, "0123456789")] && atoi(text) > 0;
}

/* The words that were used; 0 if the first one is of no use. */
static int take(struct wish *wish, int n, char **argv)
{
    const char *word = argv[0], *value = n > 1 ? argv[1] : NULL;
    if (strcmp(word, "--read") == 0 || strcmp(word, "--write-only") == 0) {
        wish->opened = word + 2;
        return 1;
    }
    if (word[0] != '-' && !wish->file) {
        wish->file = word;
        return 1;
    }
    if (!value)
        return 0;
    if (strcmp(word, "--ranks") == 0 && is_number(value))
        wish->ranks = value;
    else if (strcmp(word, "--nodes") == 0 && is_number(value))
        wish->nodes = value;
    else if (strcmp(word, "--view") == 0)
        wish->view = value;
    else if (strcmp(word, "--mpi") == 0 && brio_mpi_named(value) != BRIO_MPI_UNKNOWN)
        wish->mpi = brio_mpi_named(value);
    else
        return 0;
    return 2;
}

/* The first MPI that there is a program for. */
static const char *find_program(struct wish *wish)
{
    const char *program = NULL;
    for (enum brio_mpi m = BRIO_MPI_OPENMPI; m <= BRIO_MPI_MPICH && !program; m++) {
        if (wish->mpi != BRIO_MPI_UNKNOWN && wish->mpi != m)
            continue;
        program = brio_place_explain(m);
        if (program)
            wish->mpi = m;
    }
    return program;
}

int brio_cmd_explain(int argc, char **argv)
{
    struct wish wish = {.ranks = "4", .opened = "write"};
    for (int i = 1, used; i < argc; i += used) {
        used = take(&wish, argc - i, argv + i);
        if (used == 0) {
            brio_say("explain: cannot use `%s'; see `brio help explain'", argv[i]);
            return BRIO_EXIT_USAGE;
        }
    }
    if (!wish.file) {
        brio_say("explain: no file; see `brio help explain'");
        return BRIO_EXIT_USAGE;
    }
    const char *program = find_program(&wish);
    if (!program) {
        brio_say("explain: brio-explain-%s is not installed; set BRIO_LIBDIR to the "
                 "directory it is in",
                 wish.mpi == BRIO_MPI_UNKNOWN ? "*" : brio_mpi_name(wish.mpi));
        return BRIO_EXIT_NOT_FOUND;
    }
    if (wish.nodes)
        setenv("BRIO_NODES", wish.nodes, 1);
    const char *words[] = {"run",     "--mpi",     brio_mpi_name(wish.mpi),
                           "-n",      wish.ranks,  program,
                           wish.file, wish.opened, wish.view};
    return brio_cmd_run(wish.view ? 9 : 8, (char **)words);
}
