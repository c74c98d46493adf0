/* "VALUE<tab>COMBINATION"; a last line that was cut off is dropped. */
#include "cli/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char title[] = "brio tune 1 ";

/* True if a whole line is there; without its end. */
static bool read_line(FILE *in, char **line, size_t *room)
{
    ssize_t n = getline(line, room, in);
    if (n <= 0 || (*line)[n - 1] != '\n')
        return false;
    (*line)[n - 1] = '\0';
    return true;
}

static long read_runs(FILE *in, brio_journal_read *read, void *arg)
{
    char *line = NULL, *after;
    size_t room = 0;
    long good = ftell(in);
    while (read_line(in, &line, &room)) {
        double value = strtod(line, &after);
        if (after == line || *after != '\t')
            break;
        read(arg, after + 1, value);
        good = ftell(in);
    }
    free(line);
    return good;
}

enum brio_journal_state brio_journal_open(const char *path, const char *search,
                                          brio_journal_read *read, void *arg, FILE **out)
{
    FILE *file = fopen(path, "r+e");
    if (!file && errno == ENOENT) {
        file = fopen(path, "w+e");
        if (!file || fprintf(file, "%s%s\n", title, search) < 0 || fflush(file) != 0) {
            if (file)
                fclose(file);
            return BRIO_JOURNAL_ERROR;
        }
        *out = file;
        return BRIO_JOURNAL_NEW;
    }
    if (!file)
        return BRIO_JOURNAL_ERROR;
    char *line = NULL;
    size_t room = 0;
    bool same = read_line(file, &line, &room) && strncmp(line, title, sizeof title - 1) == 0 &&
                strcmp(line + sizeof title - 1, search) == 0;
    free(line);
    if (!same) {
        fclose(file);
        return BRIO_JOURNAL_OTHER;
    }
    long end = read_runs(file, read, arg);
    if (ftruncate(fileno(file), end) != 0 || fseek(file, end, SEEK_SET) != 0) {
        fclose(file);
        return BRIO_JOURNAL_ERROR;
    }
    *out = file;
    return BRIO_JOURNAL_GOES_ON;
}

bool brio_journal_add(FILE *journal, const char *combination, double value)
{
    return fprintf(journal, "%.9g\t%s\n", value, combination) > 0 && fflush(journal) == 0 &&
           (fsync(fileno(journal)) == 0 || errno == EINVAL);
}
