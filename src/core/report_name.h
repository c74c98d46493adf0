/* Names of reports: one for each file that is closed, never one that is there already. */
#ifndef BRIO_CORE_REPORT_NAME_H
#define BRIO_CORE_REPORT_NAME_H

#include <stdio.h>

#include "base/base.h"

/* Creates the report on the file `path` where BRIO_REPORT says: in a directory, which may
 * still have to be made if the word ends with a slash; or under a name, in which %f is the
 * name of the file, %h the host, %p the process and %% a percent sign. Where that is taken, a
 * number is put before the name's ending. The caller frees *name. */
BRIO_ERR brio_report_create(const char *word, const char *path, char **name, FILE **out);

#endif
