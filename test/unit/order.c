/* The common order of the ranks' logs, against a sort that is obviously right; and the log
 * itself: its clock, its walk in parts, in memory and spilled. */
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "base/mem.h"
#include "sharedfp/log.h"

enum {
    LISTS = 7,
    MOST = 40
};

struct flat {
    struct brio_stamp stamp;
    size_t list, i;
};

static int by_time(const void *a, const void *b)
{
    const struct flat *x = a, *y = b;
    if (x->stamp.time != y->stamp.time)
        return x->stamp.time < y->stamp.time ? -1 : 1;
    if (x->list != y->list)
        return x->list < y->list ? -1 : 1;
    return x->i < y->i ? -1 : 1;
}

/* Times rise within a list and often are the same in others. */
static void one_order(void)
{
    struct brio_stamp stamps[LISTS][MOST];
    brio_off at[LISTS][MOST], end = -1, start = (brio_off)test_below(1000);
    struct brio_order_list lists[LISTS];
    struct flat all[LISTS * MOST];
    size_t n = 0;
    for (size_t l = 0; l < LISTS; l++) {
        int64_t time = (int64_t)test_below(10);
        lists[l] = (struct brio_order_list){
            .stamps = stamps[l], .n = (size_t)test_below(MOST), .at = at[l]};
        for (size_t i = 0; i < lists[l].n; i++) {
            stamps[l][i] = (struct brio_stamp){time, (brio_off)test_below(50)};
            time += 1 + (int64_t)test_below(4);
            all[n++] = (struct flat){stamps[l][i], l, i};
        }
    }
    CHECK(!brio_order(LISTS, lists, start, &end), "%s", brio_err_text());
    qsort(all, n, sizeof *all, by_time);
    brio_off place = start;
    for (size_t i = 0; i < n; i++) {
        CHECK(at[all[i].list][all[i].i] == place, "record %zu of list %zu: at %lld, not %lld",
              all[i].i, all[i].list, (long long)at[all[i].list][all[i].i], (long long)place);
        place += all[i].stamp.bytes;
    }
    CHECK(end == place, "the end is %lld, not %lld", (long long)end, (long long)place);
}

static void order_is_that_of_a_sort(void)
{
    for (int i = 0; i < 20000 && !test_failed; i++)
        one_order();
}

static void order_of_nothing(void)
{
    struct brio_order_list none[2] = {{.n = 0}, {.n = 0}};
    brio_off end = -1;
    CHECK(!brio_order(2, none, 17, &end) && end == 17, "end %lld", (long long)end);
    CHECK(!brio_order(0, none, 3, &end) && end == 3, "end %lld", (long long)end);
}

static void order_beyond_all_files(void)
{
    struct brio_stamp huge[2] = {{1, BRIO_OFF_MAX - 5}, {2, 6}};
    struct brio_order_list list = {.stamps = huge, .n = 2};
    brio_off end = -7;
    CHECK(brio_order(1, &list, 0, &end) != BRIO_OK && end == -7, "it fits");
    huge[1].bytes = 5;
    CHECK(!brio_order(1, &list, 0, &end) && end == BRIO_OFF_MAX, "it does not fit");
}

/* ---- The log ------------------------------------------------------------------------- */

static void open_log(struct brio_log *log, size_t limit)
{
    brio_log_init(log);
    log->limit = limit;
    log->head.nranks = 1;
    CHECK(!brio_strdup("order.file", &log->path) &&
              !brio_strdup("order.meta", &log->meta_name) &&
              !brio_strdup("order.data", &log->data_name) && !brio_map_bytes(1, &log->map),
          "%s", brio_err_text());
    log->head.words = (int64_t)brio_log_words(log->map);
}

static void close_log(struct brio_log *log)
{
    brio_log_free(log);
    unlink("order.meta");
    unlink("order.data");
}

/* Not back, whatever the system's clock does, and behind what was seen of others. */
static void clock_goes_on(void)
{
    struct brio_log log;
    open_log(&log, 1 << 20);
    for (int i = 0; i < 1000; i++)
        CHECK(!brio_log_append(&log, log.map, "x", 1), "%s", brio_err_text());
    int64_t ahead = log.clock + 3600 * (int64_t)1000000000;
    log.clock = ahead; /* of a rank whose clock is an hour fast */
    for (int i = 0; i < 3; i++)
        CHECK(!brio_log_append(&log, log.map, "x", 1), "%s", brio_err_text());
    for (size_t i = 1; i < log.n; i++)
        CHECK(log.entries[i].time > log.entries[i - 1].time, "entry %zu goes back", i);
    CHECK(log.entries[1000].time == ahead + 1 && log.entries[1002].time == ahead + 3, "%lld",
          (long long)(log.entries[1002].time - ahead));
    close_log(&log);
}

/* Records of a log, and what is known of them. */
struct sample {
    size_t limit;
    int n;
    brio_off longest, gap; /* between two places, at most */
    bool narrow;           /* other ranks come less far */
};

static brio_off fill_log(struct brio_log *log, const struct sample *s, char *in)
{
    brio_off total = 0;
    open_log(log, s->limit);
    for (int i = 0; i < s->n; i++) {
        brio_off len = 1 + test_below(s->longest - 1);
        for (brio_off k = 0; k < len; k++)
            in[total + k] = (char)(total + k + (total + k) / 251);
        CHECK(!brio_log_append(log, log->map, in + total, len), "%s", brio_err_text());
        total += len;
    }
    return total;
}

static void lay_places(const struct sample *s, struct brio_log_walk *walk)
{
    brio_off at = 7;
    for (size_t record = 0; record < walk->n; record++) {
        walk->place[record] = at;
        at += walk->stamps[record].bytes + test_below(s->gap);
    }
}

/* The next part into `out`; returns its bytes. */
static brio_off take_part(const struct brio_log *log, struct brio_log_walk *walk,
                          brio_off bound, char *out)
{
    struct brio_log_part part = {.n = 0};
    brio_off from = 0;
    CHECK(!brio_log_next(log, walk, bound, &part), "%s", brio_err_text());
    for (size_t i = 0; i < part.n; from += part.len[i++]) {
        CHECK(part.at[i] + part.len[i] <= bound, "behind %lld", (long long)bound);
        memcpy(out + part.at[i], (const char *)part.data + from, (size_t)part.len[i]);
    }
    CHECK(from == part.bytes, "the pieces are %lld bytes", (long long)from);
    return from;
}

/* As far as this rank comes, or the slowest of the others. */
static brio_off next_bound(const struct sample *s, const struct brio_log *log,
                           const struct brio_log_walk *walk, brio_off before)
{
    const brio_off reach = brio_log_reach(log, walk);
    const brio_off last = walk->place[walk->n - 1];
    const brio_off other = before + 1 + test_below(last / 3);
    return s->narrow && other < last ? brio_min(reach, other) : reach;
}

/* What comes out in parts is what went in, with places that leave gaps for other ranks. */
static int walk_with(struct sample s)
{
    struct brio_log log;
    struct brio_log_walk walk = {.n = 0};
    char *in = calloc((size_t)s.n, (size_t)s.longest),
         *out = calloc((size_t)s.n, (size_t)(s.longest + s.gap));
    brio_off total = fill_log(&log, &s, in), got = 0;
    int parts = 0;
    CHECK(!brio_log_walk(&log, &walk), "%s", brio_err_text());
    CHECK(walk.n == (size_t)s.n, "%zu records", walk.n);
    lay_places(&s, &walk);
    for (brio_off bound = 0; bound != BRIO_OFF_MAX && !test_failed; parts++) {
        bound = next_bound(&s, &log, &walk, bound);
        brio_off bytes = take_part(&log, &walk, bound, out);
        CHECK(bytes > 0 || s.narrow, "part %d has nothing", parts);
        got += bytes;
    }
    CHECK(take_part(&log, &walk, BRIO_OFF_MAX, out) == 0, "more than all");
    CHECK(got == total, "%lld bytes, not %lld", (long long)got, (long long)total);
    brio_off at = 0;
    for (size_t record = 0; record < walk.n; at += walk.stamps[record++].bytes)
        if (memcmp(out + walk.place[record], in + at, (size_t)walk.stamps[record].bytes) != 0) {
            CHECK(0, "record %zu is another", record);
            break;
        }
    brio_log_walk_close(&walk);
    close_log(&log);
    free(in);
    free(out);
    return parts;
}

static void walk_gives_back(void)
{
    walk_with((struct sample){1 << 20, 500, 100, 2, false});   /* all in memory, */
    walk_with((struct sample){4096, 500, 100, 2, false});      /* most of it spilled, */
    walk_with((struct sample){4096, 20000, 100, 2, false});    /* and more of it */
    walk_with((struct sample){50, 300, 100, 2, false});        /* longer than the memory */
    walk_with((struct sample){1 << 20, 40000, 100, 2, false}); /* more than are kept */
}

/* In several parts; those of a log that is spilled end in memory. */
static void walk_in_parts(void)
{
    int parts = walk_with((struct sample){6 << 20, 10000, 8000, 2, false});
    CHECK(parts >= 3 && parts <= 5, "%d parts", parts); /* into what memory has left, */
    parts = walk_with((struct sample){1 << 20, 5000, 8000, 2, false});
    CHECK(parts == 2, "%d parts", parts); /* into memory of its own, */
    parts = walk_with((struct sample){64 << 20, 5000, 8000, 2, false});
    CHECK(parts == 2, "%d parts", parts); /* and from where they are */
    walk_with((struct sample){6 << 20, 10000, 8000, 2, true});
    walk_with((struct sample){64 << 20, 5000, 8000, 2, true});
}

/* Records without a gap are one piece, which waits for nobody. */
static void long_pieces_go_on(void)
{
    struct sample s = {64 << 20, 5000, 8000, 1, false};
    struct brio_log log;
    struct brio_log_walk walk = {.n = 0};
    struct brio_log_part part = {.n = 0};
    char *in = calloc((size_t)s.n, (size_t)s.longest);
    fill_log(&log, &s, in);
    CHECK(!brio_log_walk(&log, &walk), "%s", brio_err_text());
    lay_places(&s, &walk);
    CHECK(!brio_log_next(&log, &walk, 100, &part), "%s", brio_err_text());
    CHECK(part.n == 1 && part.bytes == 16 << 20, "%lld bytes", (long long)part.bytes);
    brio_log_walk_close(&walk);
    close_log(&log);
    free(in);
}

static const struct test_case cases[] = {TEST(order_is_that_of_a_sort), TEST(order_of_nothing),
                                         TEST(order_beyond_all_files),  TEST(clock_goes_on),
                                         TEST(walk_gives_back),         TEST(walk_in_parts),
                                         TEST(long_pieces_go_on),       {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
