/* The words, collected in a text and written in one piece. */
#include "core/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/known.h"
#include "core/registry.h"
#include "fcoll/plan.h"
#include "mod/hint.h"

enum {
    OWNERS_SHOWN = 16
};

/* What is being told of one file. */
struct brio_story {
    FILE *out; /* into text */
    char *text;
    size_t len;
    bool access_told; /* of this view */
};

static struct {
    bool dry;
    int fd;
} command = {.fd = STDERR_FILENO};

/* Called by the program of `brio explain` before it opens anything. */
__attribute__((visibility("default"))) void brio_explain_start_dry(void);

void brio_explain_start_dry(void)
{
    command.dry = true;
    command.fd = STDOUT_FILENO;
}

bool brio_explain_dry(void)
{
    return command.dry;
}

static bool is_wanted(void)
{
    const char *text = getenv("BRIO_EXPLAIN");
    return command.dry || (text && *text && strcmp(text, "0") != 0);
}

static void start_text(struct brio_story *story)
{
    story->out = open_memstream(&story->text, &story->len);
}

/* Writes what was collected, unless just that has been written before. */
static void tell(struct brio_story *story)
{
    if (!story->out)
        return;
    fclose(story->out);
    bool news = story->len > 0 && brio_is_news(story->text);
    for (size_t at = 0; news && at < story->len;) {
        ssize_t n = write(command.fd, story->text + at, story->len - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    free(story->text);
    start_text(story);
}

void brio_explain_begin(struct brio_file *f)
{
    if (f->team.rank != 0 || !is_wanted())
        return;
    struct brio_story *story = calloc(1, sizeof *story);
    if (!story)
        return; /* it is only words */
    start_text(story);
    if (!story->out) {
        free(story);
        return;
    }
    f->story = story;
}

void brio_explain_end(struct brio_file *f)
{
    if (!f->story)
        return;
    if (f->story->out)
        fclose(f->story->out);
    free(f->story->text);
    free(f->story);
    f->story = NULL;
}

static FILE *out_of(const struct brio_file *f)
{
    return f->story ? f->story->out : NULL;
}

static void print_answer(FILE *out, const char *framework, const struct brio_chosen *answer,
                         const struct brio_chosen *chosen)
{
    bool is_it = answer->module == chosen->module;
    char priority[16] = "no";
    if (answer->priority >= 0)
        snprintf(priority, sizeof priority, "%d", answer->priority);
    fprintf(out, "  %-9s %c %-12s %3s  %s\n", framework, is_it ? '*' : ' ',
            answer->module->name, priority, answer->why);
}

void brio_explain_choice(struct brio_file *f, enum brio_framework framework)
{
    size_t n;
    const char *name = brio_framework_name(framework);
    const struct brio_module *const *all = brio_registry(framework, &n);
    const struct brio_chosen *chosen = &f->chosen[framework];
    FILE *out = out_of(f);
    if (!out)
        return;
    for (size_t i = 0; i < n; i++) {
        struct brio_chosen answer;
        if (brio_ask(all[i], &f->facts, f->settings, &answer) != BRIO_OK)
            continue;
        print_answer(out, i ? "" : name, &answer, chosen);
        brio_chosen_free(&answer);
    }
    struct brio_setting e, last = {.name = NULL};
    for (size_t i = 0; brio_settings_at(f->settings, i, &e); i++)
        if (strcmp(e.name, name) == 0)
            last = e;
    if (last.name && *last.value)
        fprintf(out, "  %-9s   %s=%s is asked for (%s)\n", "", name, last.value, last.where);
}

void brio_explain_again(struct brio_file *f)
{
    if (out_of(f)) {
        fclose(f->story->out);
        free(f->story->text);
        start_text(f->story);
    }
}

void brio_explain_failed(struct brio_file *f, enum brio_framework framework)
{
    FILE *out = out_of(f);
    if (out)
        fprintf(out, "  %-9s   %s does not work here: %s\n", brio_framework_name(framework),
                f->chosen[framework].module->name, brio_err_text());
}

void brio_explain_size(FILE *out, brio_off bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    fprintf(out, "%lld %s", (long long)bytes, units[unit]);
}

/* Settings that are not as they come. */
static void print_settings(FILE *out, const struct brio_file *f)
{
    struct brio_setting e;
    const char *head = "settings";
    for (size_t i = 0; brio_settings_at(f->settings, i, &e); i++) {
        if (!brio_known_hint(e.name))
            continue;
        fprintf(out, "  %-9s   %s = %s (%s)\n", head, e.name, e.value, e.where);
        head = "";
    }
}

static void print_facts(FILE *out, const struct brio_file *f, const struct brio_layout *layout)
{
    const struct brio_facts *facts = &f->facts;
    fprintf(out, "  %-9s   %d rank%s on %d node%s, at most %d on one%s\n", "ranks",
            facts->nranks, facts->nranks == 1 ? "" : "s", facts->nnodes,
            facts->nnodes == 1 ? "" : "s", facts->max_per_node,
            facts->attach ? "; all share memory" : "");
    fprintf(out, "  %-9s   %s%s, blocks of ", "file", facts->fs_name,
            facts->local ? " (of this machine alone)" : "");
    brio_explain_size(out, facts->block_size);
    fprintf(out, "; the file %s\n",
            facts->exists ? "was there"
            : command.dry ? "would be made"
                          : "is new");
    if (layout->nservers > 1) {
        fprintf(out, "  %-9s   over %d servers, ", "layout", layout->nservers);
        brio_explain_size(out, layout->stripe);
        fprintf(out, " on one before the next\n");
    } else {
        fprintf(out, "  %-9s   in one piece\n", "layout");
    }
    if (facts->k_write > 0 || facts->k_read > 0)
        fprintf(out, "  %-9s   full speed from %lld bytes written, %lld read at once\n",
                "measured", (long long)facts->k_write, (long long)facts->k_read);
    if (facts->ring_cold > 0)
        fprintf(out,
                "  %-9s   scattered reads by io_uring: %d %% of the speed of plain calls from "
                "the disk, %d %% from memory\n",
                "", facts->ring_cold, facts->ring_warm);
    fprintf(out, "  %-9s   %s\n", "threads",
            facts->thread_multiple ? "MPI may be called by any" : "MPI is for one at a time");
}

/* False if it has nothing to say. */
static bool print_cache(FILE *out, const struct brio_file *f)
{
    char words[300] = "";
    brio_file_cache(f)->tell(&f->plain, words, sizeof words);
    if (*words)
        fprintf(out, "  %-9s   %s\n", "cache", words);
    return *words != '\0';
}

/* Before what was collected while modules were chosen. */
void brio_explain_opened(struct brio_file *f, const struct brio_layout *layout)
{
    struct brio_story *story = f->story;
    if (!story || !story->out)
        return;
    fclose(story->out);
    char *choices = story->text;
    start_text(story);
    if (story->out) {
        fprintf(story->out, "brio: %s%s\n", f->path,
                command.dry ? " (nothing is written)" : "");
        print_facts(story->out, f, layout);
        print_settings(story->out, f);
        fprintf(story->out, "  modules     (* is chosen; the number is its priority)\n%s",
                choices);
        print_cache(story->out, f);
    }
    free(choices);
    tell(story);
}

void brio_explain_closing(struct brio_file *f)
{
    FILE *out = out_of(f);
    if (!out || command.dry || !f->chosen[BRIO_CACHE].module)
        return;
    fprintf(out, "brio: %s: closed\n", f->path);
    if (print_cache(out, f))
        tell(f->story);
}

void brio_explain_view(struct brio_file *f)
{
    struct brio_story *story = f->story;
    const struct brio_map *map = f->view.map;
    if (!story || !story->out)
        return;
    fclose(story->out);
    char *choices = story->text;
    start_text(story);
    if (story->out) {
        fprintf(story->out, "brio: %s: view of rank 0\n", f->path);
        fprintf(story->out, "  %-9s   from byte %lld on, ", "pattern", (long long)f->view.disp);
        if (map->contiguous) {
            fprintf(story->out, "all bytes\n");
        } else {
            brio_explain_size(story->out, map->size);
            fprintf(story->out, " of every ");
            brio_explain_size(story->out, map->extent);
            fprintf(story->out, ", in %lld pieces%s\n", (long long)map->npieces,
                    map->monotone ? "" : ", not in rising order");
        }
        fputs(choices, story->out);
    }
    free(choices);
    story->access_told = false;
    tell(story);
}

static void print_plan(FILE *out, const struct brio_plan *plan)
{
    for (int a = 0; a < plan->nowners && a < OWNERS_SHOWN; a++) {
        const struct brio_owner *o = &plan->owners[a];
        fprintf(out, "  %-9s   rank %d has bytes %lld to %lld", a ? "" : "owners", o->rank,
                (long long)o->lo, (long long)o->hi);
        if (o->of > 1 && o->stripe > 0)
            fprintf(out, " of server %d and every %d after it", o->index, o->of);
        if (o->segment > 0) {
            fprintf(out, ", ");
            brio_explain_size(out, o->segment);
            fprintf(out, " of each rank at a time");
        }
        if (o->nwindows > 0)
            fprintf(out, ", in %zu window%s", o->nwindows, o->nwindows == 1 ? "" : "s");
        fprintf(out, "\n");
    }
    if (plan->nowners > OWNERS_SHOWN)
        fprintf(out, "  %-9s   and %d more\n", "", plan->nowners - OWNERS_SHOWN);
    fprintf(out, "  %-9s   windows of at most ", "buffers");
    brio_explain_size(out, plan->window);
    fprintf(out, "\n");
}

void brio_explain_access(struct brio_file *f, enum brio_dir dir, struct brio_result result)
{
    struct brio_story *story = f->story;
    struct brio_coll_last last;
    if (!story || !story->out || story->access_told)
        return;
    story->access_told = true;
    brio_file_fcoll(f)->last(f->fcoll, &last);
    fprintf(story->out, "brio: %s: collective %s by %s\n", f->path,
            dir == BRIO_READ ? "read" : "write", f->chosen[BRIO_FCOLL].module->name);
    if (result.err)
        fprintf(story->out, "  %-9s   it failed\n", "");
    fprintf(story->out, "  %-9s   %s: %s\n", "plan",
            last.plan ? "through owners (aggregators)" : "each rank accesses its own bytes",
            last.why);
    if (last.plan)
        print_plan(story->out, last.plan);
    tell(story);
}

void brio_explain_owners(const struct brio_file *f, char *out, size_t size)
{
    struct brio_coll_last last = {.plan = NULL};
    size_t at = 0;
    out[0] = '\0';
    if (f->fcoll)
        brio_file_fcoll(f)->last(f->fcoll, &last);
    for (int a = 0; last.plan && a < last.plan->nowners; a++) {
        int n = snprintf(out + at, size - at, "%s%d", a ? " " : "", last.plan->owners[a].rank);
        if (n < 0 || (size_t)n >= size - at) { /* whole numbers only */
            out[at] = '\0';
            return;
        }
        at += (size_t)n;
    }
}
