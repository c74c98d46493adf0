/* Words and messages of the command, and the names of the MPIs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void *need(void *p)
{
    if (!p) {
        fputs("brio: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

void brio_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("brio: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
}

char *brio_text(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    va_end(args);
    return need(text);
}

char *brio_copy(const char *text)
{
    return need(strdup(text));
}

void *brio_memory(size_t bytes)
{
    return need(malloc(bytes ? bytes : 1));
}

void *brio_memory_again(void *p, size_t bytes)
{
    return need(realloc(p, bytes));
}

void brio_words_add(struct brio_words *words, const char *word)
{
    words->word = need(realloc(words->word, (words->n + 2) * sizeof *words->word));
    words->word[words->n++] = word;
    words->word[words->n] = NULL;
}

struct brio_words brio_words_of(const char *first, const char *text)
{
    struct brio_words w = {0};
    brio_words_add(&w, first);
    while (*text) {
        size_t n = strcspn(text, " ");
        if (n > 0)
            brio_words_add(&w, brio_text("%.*s", (int)n, text));
        text += n + (text[n] == ' ');
    }
    return w;
}

const char *brio_mpi_name(enum brio_mpi mpi)
{
    return mpi == BRIO_MPI_OPENMPI ? "openmpi" : mpi == BRIO_MPI_MPICH ? "mpich" : "unknown";
}

enum brio_mpi brio_mpi_named(const char *name)
{
    if (strcmp(name, "openmpi") == 0)
        return BRIO_MPI_OPENMPI;
    if (strcmp(name, "mpich") == 0)
        return BRIO_MPI_MPICH;
    return BRIO_MPI_UNKNOWN;
}
