/* BRIO_REPORT: what was done with a file, by all its ranks, written when it is closed. */
#ifndef BRIO_CORE_REPORT_H
#define BRIO_CORE_REPORT_H

#include "core/file.h"

/* Whether this rank, which must be rank 0, is asked for one. */
bool brio_report_wanted(void);

/* The file is open: its accesses are recorded from now on. */
void brio_report_begin(struct brio_file *f);

/* Collective. Gathers all ranks' numbers on rank 0, which writes the report. Whatever fails
 * here is a warning and no more. */
void brio_report_end(struct brio_file *f);

#endif
