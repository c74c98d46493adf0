/* A report of BRIO_REPORT, as the parts of `brio report` see it. */
#ifndef BRIO_CLI_REPORT_H
#define BRIO_CLI_REPORT_H

#include <stdio.h>

#include "cli/json.h"

struct brio_report {
    const char *name; /* of the report itself */
    char *text;
    size_t len;
    struct brio_json *json;
    const struct brio_json *file, *total; /* in it */
    int nranks;
};

/* One thing worth saying. */
struct brio_advice {
    const char *title; /* a few words */
    char *text;        /* what was seen, and what would be better */
};

enum {
    BRIO_ADVICE_MOST = 16
};

/* A member as a number or a text, or `other` if there is none of that kind. */
double brio_report_number(const struct brio_json *json, const char *name, double other);
const char *brio_report_string(const struct brio_json *json, const char *name,
                               const char *other);

/* A counter, summed over all ranks. */
double brio_report_total(const struct brio_report *r, const char *counter);

/* Accesses of the program of a direction ("read", "write"), of all kinds. */
double brio_report_accesses(const struct brio_report *r, const char *dir);

/* Seconds that the slowest rank spent in accesses of that direction. */
double brio_report_seconds(const struct brio_report *r, const char *dir);

/* Returns how many there are, most important first; texts are the caller's to free. */
int brio_report_advise(const struct brio_report *r, struct brio_advice out[BRIO_ADVICE_MOST]);

/* One page for all reports. */
void brio_report_page(FILE *out, const struct brio_report *reports, size_t n);

/* "1.5 GiB", "12.0 KiB"; "3.20 ms". Texts of the caller. */
char *brio_report_bytes(double bytes);
char *brio_report_time(double seconds);

#endif
