/* Gathers the counters and records of all ranks on rank 0 and writes them as JSON. */
#define _GNU_SOURCE
#include "core/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "comm/bell.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "core/core.h"
#include "core/report_name.h"

enum {
    FORMAT = 1,
    RECORDS = 40000, /* of all ranks together, in a report */
    MOST = 2000,     /* of one */
    FEWEST = 32,
    HOST = 64
};

/* What a rank has to say, but for its records. */
struct head {
    int64_t nrecords;
    int64_t counter[BRIO_COUNTERS];
    char host[HOST];
};

/* On rank 0: what all have said. */
struct gathered {
    struct head *head;
    int *bytes, *at; /* of each rank's records */
    struct brio_record *record;
};

bool brio_report_wanted(void)
{
    const char *path = getenv("BRIO_REPORT");
    return path && *path;
}

void brio_report_begin(struct brio_file *f)
{
    brio_off room = brio_min(brio_max(RECORDS / f->team.nranks, FEWEST), MOST);
    f->opened = time(NULL);
    f->opened_ns = brio_now();
    if (brio_trace_new((size_t)room, f->opened_ns, &f->stats->trace) != BRIO_OK)
        f->stats->trace = NULL; /* the counters must do */
}

static void warn(const struct brio_file *f, const char *what)
{
    static _Atomic bool said;
    if (f->team.rank == 0 && !said) {
        said = true;
        brio_log(BRIO_WARN, "no report on %s: %s", f->path, what);
    }
}

/* ---- Writing ----------------------------------------------------------------------------- */

static void put_counters(FILE *out, const int64_t *counter)
{
    const char *comma = "";
    fputc('{', out);
    for (int i = 0; i < BRIO_COUNTERS; i++) {
        char name[32];
        if (!counter[i] || !brio_counter_name(i, name))
            continue;
        fprintf(out, "%s\"%s\": %lld", comma, name, (long long)counter[i]);
        comma = ", ";
    }
    fputc('}', out);
}

/* Times in microseconds: what a page draws. */
static void put_records(FILE *out, const struct brio_record *record, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct brio_record *r = &record[i];
        char name[32];
        if (!brio_counter_name((int)r->kind, name))
            strcpy(name, "other");
        fprintf(out, "%s\n      [\"%s\", %lld, %.1f, %.1f, %lld", i ? "," : "", name,
                (long long)r->n, (double)r->begin / 1e3, (double)r->end / 1e3,
                (long long)r->bytes);
        for (int p = 1; p < BRIO_PHASES; p++)
            fprintf(out, ", %.1f", (double)r->phase[p] / 1e3);
        fputc(']', out);
    }
}

static void put_ranks(FILE *out, const struct brio_file *f, const struct gathered *all)
{
    for (int r = 0; r < f->team.nranks; r++) {
        const struct head *head = &all->head[r];
        const struct brio_record *first =
            all->record ? all->record + (size_t)all->at[r] / sizeof *first : NULL;
        fprintf(out, "%s\n    {\"rank\": %d, \"host\": ", r ? "," : "", r);
        brio_json_put(out, head->host);
        fprintf(out, ",\n     \"counters\": ");
        put_counters(out, head->counter);
        fprintf(out, ",\n     \"timeline\": [");
        put_records(out, first, first ? (size_t)head->nrecords : 0);
        fprintf(out, "]}");
    }
}

static void put_choices(FILE *out, const struct brio_file *f)
{
    const char *comma = "";
    for (int i = 0; i < BRIO_FRAMEWORKS; i++) {
        const struct brio_chosen *c = &f->chosen[i];
        if (!c->module)
            continue;
        fprintf(out,
                "%s\n    {\"framework\": \"%s\", \"module\": \"%s\", \"priority\": %d, "
                "\"forced\": %s, \"why\": ",
                comma, brio_framework_name((enum brio_framework)i), c->module->name,
                c->priority, c->forced ? "true" : "false");
        brio_json_put(out, c->why);
        fprintf(out, ", \"about\": ");
        brio_json_put(out, c->module->about);
        fputc('}', out);
        comma = ",";
    }
}

static void put_hints(FILE *out, const struct brio_hint *hints, const void *conf,
                      const char **comma)
{
    for (const struct brio_hint *hint = hints; hint && hint->name; hint++) {
        char value[BRIO_HINT_MAX];
        brio_hint_show(hint, conf, value, sizeof value);
        fprintf(out, "%s\n    \"%s\": ", *comma, hint->name);
        brio_json_put(out, value);
        *comma = ",";
    }
}

static void put_settings(FILE *out, const struct brio_file *f)
{
    const char *comma = "";
    put_hints(out, brio_conf_hints, &f->conf, &comma);
    for (int i = 0; i < BRIO_FRAMEWORKS; i++)
        if (f->chosen[i].module)
            put_hints(out, f->chosen[i].module->hints, f->chosen[i].conf, &comma);
}

static void put_file(FILE *out, struct brio_file *f)
{
    brio_off size = 0;
    if (brio_file_get_size(f, &size) != BRIO_OK)
        size = -1;
    fprintf(out, "  \"file\": {\"path\": ");
    brio_json_put(out, f->path);
    fprintf(out, ", \"size\": %lld, \"mode\": \"%s\", \"atomic\": %s,\n    \"system\": ",
            (long long)size,
            f->amode & MPI_MODE_RDONLY   ? "read"
            : f->amode & MPI_MODE_WRONLY ? "write"
                                         : "read and write",
            f->facts.atomic ? "true" : "false");
    brio_json_put(out, f->facts.fs_name);
    fprintf(out,
            ", \"local\": %s, \"block_size\": %lld, \"servers\": %d, \"stripe\": %lld, "
            "\"k_write\": %lld, \"k_read\": %lld},\n",
            f->facts.local ? "true" : "false", (long long)f->facts.block_size,
            f->facts.nservers, (long long)f->facts.stripe, (long long)f->facts.k_write,
            (long long)f->facts.k_read);
}

static void put_report(FILE *out, struct brio_file *f, const struct gathered *all)
{
    int64_t total[BRIO_COUNTERS] = {0};
    struct tm tm;
    char when[32];
    for (int r = 0; r < f->team.nranks; r++)
        for (int i = 0; i < BRIO_COUNTERS; i++)
            total[i] += all->head[r].counter[i];
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&f->opened, &tm));
    fprintf(out, "{\n  \"brio\": \"%s\", \"format\": %d, \"program\": ", BRIO_VERSION, FORMAT);
    brio_json_put(out, program_invocation_name);
    fprintf(out, ", \"pid\": %d,\n  \"opened\": \"%s\", \"seconds\": %.6f,\n", (int)getpid(),
            when, (double)(brio_now() - f->opened_ns) / 1e9);
    fprintf(out, "  \"ranks\": %d, \"nodes\": %d, \"cores\": %d,\n", f->team.nranks,
            f->facts.nnodes, brio_cores() * f->facts.nnodes);
    put_file(out, f);
    fprintf(out, "  \"choices\": [");
    put_choices(out, f);
    fprintf(out, "],\n  \"settings\": {");
    put_settings(out, f);
    fprintf(out, "},\n  \"total\": ");
    put_counters(out, total);
    fprintf(out, ",\n  \"per_rank\": [");
    put_ranks(out, f, all);
    fprintf(out, "]\n}\n");
}

static void write_report(struct brio_file *f, const struct gathered *all)
{
    char *name = NULL;
    enum brio_err err;
    FILE *out;
    err = brio_report_create(getenv("BRIO_REPORT"), f->path, &name, &out);
    if (err) {
        warn(f, brio_err_text());
        return;
    }
    put_report(out, f, all);
    bool bad = ferror(out);
    if (fclose(out) || bad) {
        char text[BRIO_ERR_TEXT];
        snprintf(text, sizeof text, "cannot write %s: %s", name, strerror(errno));
        warn(f, text);
        unlink(name); /* half a report helps nobody */
    } else {
        brio_log(BRIO_NOTE, "report on %s: %s", f->path, name);
    }
    free(name);
}

/* ---- Gathering --------------------------------------------------------------------------- */

static void fill_head(const struct brio_file *f, struct head *head,
                      const struct brio_record **record)
{
    memset(head, 0, sizeof *head);
    for (int i = 0; i < BRIO_COUNTERS; i++)
        head->counter[i] = brio_stats_get(f->stats, i);
    if (gethostname(head->host, sizeof head->host - 1))
        strcpy(head->host, "?");
    *record = NULL;
    if (f->stats->trace)
        head->nrecords = (int64_t)brio_trace_records(f->stats->trace, record);
}

static BRIO_ERR make_room(const struct brio_file *f, struct gathered *all)
{
    size_t n = (size_t)f->team.nranks;
    enum brio_err err = brio_calloc(n, sizeof *all->head, (void **)&all->head);
    if (!err)
        err = brio_calloc(n, sizeof *all->bytes, (void **)&all->bytes);
    if (!err)
        err = brio_calloc(n, sizeof *all->at, (void **)&all->at);
    return err;
}

/* Room for all records; without it, the counters go alone. */
static void make_records(const struct brio_file *f, struct gathered *all)
{
    size_t n = 0;
    for (int r = 0; r < f->team.nranks; r++) {
        all->bytes[r] = (int)((size_t)all->head[r].nrecords * sizeof *all->record);
        all->at[r] = (int)(n * sizeof *all->record);
        n += (size_t)all->head[r].nrecords;
    }
    if (brio_calloc(n, sizeof *all->record, (void **)&all->record) != BRIO_OK)
        all->record = NULL;
}

static void free_room(struct gathered *all)
{
    free(all->head);
    free(all->bytes);
    free(all->at);
    free(all->record);
}

void brio_report_end(struct brio_file *f)
{
    struct gathered all = {.head = NULL};
    struct head mine;
    const struct brio_record *record;
    int able = 0;
    char text[BRIO_ERR_TEXT]; /* of a failure that the close is going to return */
    brio_err_save(text);
    if (f->team.rank == 0)
        able = make_room(f, &all) == BRIO_OK;
    PMPI_Bcast(&able, 1, MPI_INT, 0, f->team.comm);
    if (able) {
        fill_head(f, &mine, &record);
        PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.head, sizeof mine, MPI_BYTE, 0,
                    f->team.comm);
        if (f->team.rank == 0) {
            make_records(f, &all);
            able = all.record != NULL;
        }
        PMPI_Bcast(&able, 1, MPI_INT, 0, f->team.comm);
        if (able)
            PMPI_Gatherv(record, (int)((size_t)mine.nrecords * sizeof *record), MPI_BYTE,
                         all.record, all.bytes, all.at, MPI_BYTE, 0, f->team.comm);
        if (f->team.rank == 0)
            write_report(f, &all);
    } else {
        warn(f, "no memory");
    }
    free_room(&all);
    brio_err_restore(text);
}
