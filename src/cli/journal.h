/* What brio tune has measured, one line a run, so that a search that was interrupted goes on.
 * The first line tells which search it belongs to. */
#ifndef BRIO_CLI_JOURNAL_H
#define BRIO_CLI_JOURNAL_H

#include <stdbool.h>
#include <stdio.h>

enum brio_journal_state {
    BRIO_JOURNAL_NEW,
    BRIO_JOURNAL_GOES_ON,
    BRIO_JOURNAL_OTHER, /* there is one of another search */
    BRIO_JOURNAL_ERROR  /* errno says why */
};

/* Called for every run that the journal tells of; `value' is negative for one that failed. */
typedef void brio_journal_read(void *arg, const char *combination, double value);

enum brio_journal_state brio_journal_open(const char *path, const char *search,
                                          brio_journal_read *read, void *arg, FILE **out);

/* False if it cannot be written. */
bool brio_journal_add(FILE *journal, const char *combination, double value);

#endif
