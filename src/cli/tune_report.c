/* What brio tune shows while it runs and when it is done, and the profile. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/profile.h"
#include "cli/tune.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Progress ------------------------------------------------------------------------- */

static void write_time(double seconds, char out[32])
{
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
}

void brio_progress_clear(struct brio_tune *t)
{
    if (t->progress.shown)
        fputs("\r\033[K", stderr);
    t->progress.shown = false;
}

void brio_progress_show(struct brio_tune *t, size_t at, size_t left)
{
    enum {
        BAR = 24
    };
    struct brio_tune_progress *p = &t->progress;
    if (p->begin == 0) {
        p->begin = now();
        p->before = t->done;
    }
    if (!isatty(STDERR_FILENO))
        return;
    struct winsize size;
    int width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40 ? size.ws_col : 80;
    char bar[BAR + 1], rest[32] = "?", line[512];
    size_t full = t->done * BAR / (t->done + left);
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    if (t->done > p->before)
        write_time((now() - p->begin) / (double)(t->done - p->before) * (double)left, rest);
    snprintf(line, sizeof line, "[%s] %zu of %zu, %s left  %s", bar, t->done + 1,
             t->done + left, rest, t->name[at]);
    fprintf(stderr, "\r\033[K%.*s", width - 1, line);
    p->shown = true;
}

/* As it was measured. */
static double value_of(const struct brio_tune *t, double cost)
{
    return t->larger ? 1 / cost : cost;
}

void brio_progress_ran(struct brio_tune *t, size_t at)
{
    const struct brio_sample *s = &t->sample[at];
    if (!isatty(STDERR_FILENO) && !s->failed && s->n > 0)
        fprintf(stderr, "run %zu: %.4g  %s\n", t->done, value_of(t, s->cost[s->n - 1]),
                t->name[at]);
}

/* ---- The report ------------------------------------------------------------------------- */

static const char *unit(const struct brio_tune *t)
{
    return t->match_text ? "" : " s";
}

static void print_one(const struct brio_tune *t, size_t at, double best, const char *mark)
{
    double cost = brio_sample_mean(&t->sample[at], SIZE_MAX);
    printf("  %10.4g%s  %5.3f  %4zu  %s%s\n", value_of(t, cost), unit(t), cost / best,
           t->sample[at].n, t->name[at], mark);
}

/* Those from `from` on whose cost is at most `most` times the best. */
static size_t print_within(const struct brio_tune *t, const size_t *rank, size_t n, size_t from,
                           double most)
{
    const struct brio_spread spread = brio_spread_of(t->sample, t->search.n);
    const struct brio_sample *best = &t->sample[rank[0]];
    double cost = brio_sample_mean(best, SIZE_MAX);
    for (; from < n; from++) {
        const struct brio_sample *s = &t->sample[rank[from]];
        if (brio_sample_mean(s, SIZE_MAX) > most * cost)
            break;
        print_one(t, rank[from], cost,
                  spread.freedom && !brio_differs(best, s, &spread, n) ? "  (noise)" : "");
    }
    return from;
}

static void print_noise(const struct brio_tune *t)
{
    const struct brio_spread spread = brio_spread_of(t->sample, t->search.n);
    if (spread.freedom == 0)
        printf("Each was run once only: differences may be noise.\n");
    else
        printf(
            "Runs of the same settings differ by %.1f %% (standard deviation); what is marked "
            "as noise cannot be told from the best by these runs.\n",
            100 * (exp(spread.sigma) - 1));
}

static void print_found(const struct brio_tune *t, const size_t *rank, size_t n)
{
    double best = brio_sample_mean(&t->sample[rank[0]], SIZE_MAX);
    size_t failed = 0;
    for (size_t i = 0; i < t->search.n; i++)
        failed += t->sample[i].failed;
    printf("%zu combinations measured in %zu runs%s", n, t->done, failed ? "" : ".\n");
    if (failed)
        printf(", %zu failed.\n", failed);
    printf("\nBest:        mean  ratio  runs\n");
    print_one(t, rank[0], best, "");
    printf("Within 10 %%:\n");
    size_t at = print_within(t, rank, n, 1, 1.1);
    printf("  %zu of %zu\nWithin 25 %%:\n", at, n);
    at = print_within(t, rank, n, at, 1.25);
    printf("  %zu of %zu\n", at, n);
    if (!t->sample[0].failed && t->sample[0].n) {
        printf("Default:\n");
        print_one(t, 0, best, "");
    }
    print_noise(t);
}

/* ---- The profile --------------------------------------------------------------------------
 */

static char *write_head(const struct brio_tune *t)
{
    const char *names[] = {"program", "file", "mount"};
    const char *values[] = {t->program, t->file, t->mount};
    char *head = brio_copy("[");
    for (int i = 0; i < 3; i++) {
        if (!values[i])
            continue;
        const char *quote = strpbrk(values[i], " \t]#=") ? "\"" : "";
        char *longer = brio_text("%s%s%s=%s%s%s", head, head[1] ? " " : "", names[i], quote,
                                 values[i], quote);
        free(head);
        head = longer;
    }
    char *whole = brio_text("%s]", head);
    free(head);
    return whole;
}

static char *write_note(const struct brio_tune *t, size_t best)
{
    char when[32];
    time_t stamp = time(NULL);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime(&stamp));
    return brio_text("%s: %.4g%s, with the default settings %.4g%s", when,
                     value_of(t, brio_sample_mean(&t->sample[best], SIZE_MAX)), unit(t),
                     value_of(t, brio_sample_mean(&t->sample[0], SIZE_MAX)), unit(t));
}

static char *write_settings(const struct brio_tune *t, size_t best)
{
    char *lines = brio_copy("");
    for (size_t i = 0; i < t->space.n; i++) {
        const struct brio_parameter *p = &t->space.parameter[i];
        int value = t->combination[best * t->space.n + i];
        if (value < 0)
            continue;
        char *longer = brio_text("%s%s = %s\n", lines, p->name, p->value[value]);
        free(lines);
        lines = longer;
    }
    return lines;
}

static int save(const struct brio_tune *t, size_t best)
{
    char *path = t->profile ? brio_copy(t->profile) : brio_profile_path();
    if (!path) {
        brio_say("tune: there is no place for a profile; --profile FILE names one");
        return 1;
    }
    char *head = write_head(t), *note = write_note(t, best),
         *settings = write_settings(t, best);
    const struct brio_profile_part part = {.head = head, .note = note, .settings = settings};
    bool good = brio_profile_save(path, &part);
    if (good)
        printf("The best is now in %s, for %s.\n", path, head);
    else
        brio_say("tune: %s: %s", path, strerror(errno));
    free(settings);
    free(note);
    free(head);
    free(path);
    return good ? 0 : 1;
}

int brio_tune_report(struct brio_tune *t)
{
    size_t *rank = calloc(t->search.n, sizeof *rank);
    if (!rank) {
        brio_say("out of memory");
        return 1;
    }
    const struct brio_spread spread = brio_spread_of(t->sample, t->search.n);
    size_t n = brio_search_rank(t->sample, t->search.n, rank), best = n ? rank[0] : 0;
    int code = 0;
    print_found(t, rank, n);
    free(rank);
    if (best == 0)
        printf("Nothing is better than the default settings; no profile is written.\n");
    else if (spread.freedom && !brio_differs(&t->sample[best], &t->sample[0], &spread, n))
        printf("The best is not certainly better than the default settings; no profile is "
               "written. More --repeats may tell.\n");
    else if (!t->no_profile)
        code = save(t, best);
    return code;
}
