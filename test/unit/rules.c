/* Files of settings: what is read from good ones, what is said of bad ones, and that no bytes
 * whatever do harm. */
#include "check.h"

#include "fcoll/config_list.h"
#include "mod/rules.h"
#include "mod/settings.h"

static char said[4096];
static int nsaid, first_line;

static void note(void *arg, int line, const char *why)
{
    (void)arg;
    if (nsaid++ == 0)
        first_line = line;
    snprintf(said, sizeof said, "%s", why);
}

static struct brio_rules parse(const char *text, size_t len)
{
    struct brio_rules rules = {.text = NULL};
    nsaid = first_line = 0;
    said[0] = '\0';
    enum brio_err err = brio_rules_parse(text, len, note, NULL, &rules);
    CHECK(!err, "%s", brio_err_text());
    return rules;
}

static bool has(const struct brio_rules *rules, size_t i, const char *name, const char *value,
                int line)
{
    return i < rules->nrules && strcmp(rules->rule[i].name, name) == 0 &&
           strcmp(rules->rule[i].value, value) == 0 && rules->rule[i].line == line;
}

static void plain_lines(void)
{
    static const char text[] = "# a comment\n"
                               "cb_nodes = 4\n"
                               "\n"
                               "cb_buffer_size=16m   # more\r\n"
                               "romio_ds_write disable\n"
                               "\tfile_perm\t= \"0 640 # x\"\n"
                               "fcoll =\n"
                               "last = one#two";
    struct brio_rules r = parse(text, sizeof text - 1);
    CHECK(nsaid == 0, "%s", said);
    CHECK(r.nrules == 6, "%zu", r.nrules);
    CHECK(has(&r, 0, "cb_nodes", "4", 2), "plain");
    CHECK(has(&r, 1, "cb_buffer_size", "16m", 4), "without blanks");
    CHECK(has(&r, 2, "romio_ds_write", "disable", 5), "as ROMIO has it");
    CHECK(has(&r, 3, "file_perm", "0 640 # x", 6), "quoted");
    CHECK(has(&r, 4, "fcoll", "", 7), "empty");
    CHECK(has(&r, 5, "last", "one#two", 8), "no end of line");
    brio_rules_free(&r);
}

static bool fits(const char *head, const char *program, const char *script, const char *path)
{
    char text[256];
    snprintf(text, sizeof text, "%s\ncb_nodes = 1\n", head);
    struct brio_rules r = parse(text, strlen(text));
    const struct brio_subject subject = {.program = program, .script = script, .path = path};
    bool fit = r.nrules == 1 && brio_rule_fits(&r, &r.rule[0], &subject);
    brio_rules_free(&r);
    return fit;
}

static void heads(void)
{
    CHECK(fits("", "a", "", "/x"), "no head");
    CHECK(fits("[]", "a", "", "/x"), "an empty one");
    CHECK(fits("[program=lmp*]", "lmp_mpi", "", ""), "program");
    CHECK(!fits("[program=lmp*]", "xlmp", "", "/x"), "another");
    CHECK(fits("[program=run.py]", "python3", "run.py", ""), "script");
    CHECK(!fits("[program=*.py]", "python3", "", ""), "no script");
    CHECK(fits("[file=*.nc]", "a", "", "/data/x.nc"), "last part");
    CHECK(!fits("[file=*.nc]", "a", "", "/data.nc/x"), "not the directory");
    CHECK(fits("[file=/data/*.nc]", "a", "", "/data/run1/x.nc"), "whole path");
    CHECK(!fits("[file=*]", "a", "", ""), "no file");
    CHECK(fits("[file=out[0-9].nc]", "a", "", "/out7.nc"), "brackets");
    CHECK(fits("[mount=/scratch]", "a", "", "/scratch/x"), "below");
    CHECK(fits("[mount=/scratch/]", "a", "", "/scratch/x/y"), "with a slash");
    CHECK(!fits("[mount=/scratch]", "a", "", "/scratch2/x"), "beside");
    CHECK(fits("[mount=/]", "a", "", "/x"), "the root");
    CHECK(!fits("[mount=/]", "a", "", ""), "no file");
    CHECK(fits("[ program = a  mount=\"/my data\" ]", "a", "", "/my data/x"), "both");
    CHECK(!fits("[program=a mount=/my]", "b", "", "/my/x"), "only one");
}

static void refused_line(const char *text, int line, const char *why)
{
    struct brio_rules r = parse(text, strlen(text));
    CHECK(nsaid == 1 && first_line == line && strstr(said, why), "%d in line %d: %s", nsaid,
          first_line, said);
    CHECK(r.nrules == 1 && strcmp(r.rule[0].name, "good") == 0, "the others stay");
    brio_rules_free(&r);
}

static void bad_lines(void)
{
    refused_line("good=1\n= 7\n", 2, "neither");
    refused_line("good=1\na b: 7\x01\n", 2, "not text");
    refused_line("good=1\n\nname\n", 3, "without a value");
    refused_line("good=1\nname = \"x\n", 2, "quote");
    refused_line("good=1\nna/me = x\n", 2, "neither");
    refused_line("good=1\n[program\n", 2, "ends with ]");
    refused_line("good=1\n[colour=red]\n", 2, "program, file and mount only");
    refused_line("good=1\n[file=]\n", 2, "without a pattern");
    refused_line("good=1\n[file=a file=b]\n", 2, "twice");
    CHECK(!fits("[colour=red]", "a", "", "/x"), "what is below a bad head is not used");
    CHECK(!fits("[file", "a", "", "/x"), "nor below this");
}

static void doubles(void)
{
    static const char text[] = "a = 1\nb = 1\na = 2\n[file=x]\na = 3\nb=1\nb=1\n";
    struct brio_rules r = parse(text, sizeof text - 1);
    CHECK(nsaid == 1 && first_line == 1 && strstr(said, "line 3"), "%d, line %d: %s", nsaid,
          first_line, said);
    brio_rules_free(&r);
}

static void garbage(void)
{
    static const char letters[] = "ab=[]\"#\n\n \t\r\\*?/.-\x01\xff";
    const struct brio_subject subject = {.program = "p", .script = "s", .path = "/a/b"};
    uint64_t seed = test_seed();
    for (int round = 0; round < 20000; round++) {
        char text[200];
        size_t len = (size_t)test_below(sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] =
                round % 4 == 0 ? (char)test_below(256) : letters[test_below(sizeof letters)];
        struct brio_rules r = parse(text, len);
        for (size_t i = 0; i < r.nrules; i++) {
            brio_rule_fits(&r, &r.rule[i], &subject);
            CHECK(*r.rule[i].name, "a name, seed %llu", (unsigned long long)seed);
        }
        brio_rules_free(&r);
    }
}

/* ---- Settings ------------------------------------------------------------------------ */

struct values {
    brio_off size, number;
    bool flag;
    char text[BRIO_HINT_MAX];
};

static const struct brio_hint table[] = {
    {.name = "size",
     .aliases = "also_size",
     .kind = BRIO_HINT_BYTES,
     .offset = offsetof(struct values, size),
     .def = "4k",
     .min = 1,
     .max = 1 << 20},
    {.name = "number",
     .kind = BRIO_HINT_INT,
     .offset = offsetof(struct values, number),
     .def = "7"},
    {.name = "flag",
     .kind = BRIO_HINT_BOOL,
     .offset = offsetof(struct values, flag),
     .def = "false"},
    {.name = "text",
     .kind = BRIO_HINT_TEXT,
     .offset = offsetof(struct values, text),
     .def = ""},
    {.name = NULL},
};

static void set(struct brio_settings *s, enum brio_source source, const char *name,
                const char *value)
{
    enum brio_err err = brio_settings_set(
        s, &(struct brio_setting){
               .name = name, .value = value, .source = source, .where = "here"});
    CHECK(!err, "%s", brio_err_text());
}

static struct values fill(const struct brio_settings *s)
{
    struct values v = {.size = -1};
    CHECK(brio_settings_fill(s, table, &v) == BRIO_OK, "%s", brio_err_text());
    return v;
}

static void precedence(void)
{
    struct brio_settings *s;
    REQUIRE(brio_settings_new(&s) == BRIO_OK, "new");
    brio_settings_speak(s, false);
    CHECK(fill(s).size == 4096 && fill(s).number == 7, "defaults");
    set(s, BRIO_FROM_SITE, "also_size", "8k");
    set(s, BRIO_FROM_SITE, "number", "8");
    CHECK(fill(s).size == 8192, "site");
    set(s, BRIO_FROM_ENVIRONMENT, "size", "16k");
    CHECK(fill(s).size == 16384, "environment");
    set(s, BRIO_FROM_INFO, "also_size", "many");
    set(s, BRIO_FROM_INFO, "number", "-1");
    CHECK(fill(s).size == 16384, "what cannot be read leaves the weaker one in force");
    CHECK(fill(s).number == 8, "%lld", (long long)fill(s).number);
    struct brio_setting e;
    CHECK(brio_settings_decisive(s, &table[0], &e) && e.source == BRIO_FROM_ENVIRONMENT,
          "decisive");
    set(s, BRIO_FROM_INFO, "number", "9");
    CHECK(fill(s).number == 9, "replaced");
    CHECK(!brio_settings_decisive(s, &table[2], &e), "default");
    brio_settings_free(s);
}

static void sent_and_received(void)
{
    test_seed();
    for (int round = 0; round < 200; round++) {
        struct brio_settings *s, *t;
        char *bytes;
        size_t len, n = (size_t)test_below(40);
        REQUIRE(brio_settings_new(&s) == BRIO_OK && brio_settings_new(&t) == BRIO_OK, "new");
        for (size_t i = 0; i < n; i++) {
            char name[32], value[32];
            snprintf(name, sizeof name, "n%d", (int)test_below(20));
            snprintf(value, sizeof value, "%.*s", (int)test_below(20), "aaaaaaaaaaaaaaaaaaaa");
            set(s, (enum brio_source)test_below(6), name, value);
        }
        REQUIRE(brio_settings_pack(s, &bytes, &len) == BRIO_OK, "pack");
        REQUIRE(brio_settings_unpack(t, bytes, len) == BRIO_OK, "unpack");
        free(bytes);
        struct brio_setting a, b;
        size_t i = 0;
        for (; brio_settings_at(s, i, &a); i++)
            CHECK(brio_settings_at(t, i, &b) && strcmp(a.name, b.name) == 0 &&
                      strcmp(a.value, b.value) == 0 && a.source == b.source,
                  "entry %zu", i);
        CHECK(!brio_settings_at(t, i, &b), "no more");
        brio_settings_free(s);
        brio_settings_free(t);
    }
}

static void same_meaning(void)
{
    CHECK(brio_hint_equal(&table[0], "4k", "4096"), "4k");
    CHECK(brio_hint_equal(&table[2], "yes", "enable"), "yes");
    CHECK(!brio_hint_equal(&table[0], "4k", "4097"), "4097");
    CHECK(!brio_hint_readable(&table[0], "0"), "below the range");
    CHECK(!brio_hint_readable(&table[0], "2m"), "beyond it");
    CHECK(brio_hint_readable(&table[3], "any thing"), "text");
}

static void config_list(void)
{
    static const char *const good[] = {"",  "*:*", "*",           "*:12",
                                       "a", "a:0", "a:2,b, *:1 ", " a ,b"};
    static const char *const bad[] = {"*:", "*:-1", "a:",  "a:b", ",",
                                      "a,", "a*:1", "a b", "*: 1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(brio_config_list_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!brio_config_list_valid(bad[i]), "%s", bad[i]);
    /* Seven ranks: a has 0 1 2, b 3, c.org 4 5 6. */
    int node_of[] = {0, 0, 0, 1, 2, 2, 2};
    uint64_t host_of[] = {brio_nodes_hash("a", 1), brio_nodes_hash("b", 1),
                          brio_nodes_hash("c.org", 5)};
    const struct brio_nodes nodes = {
        .nranks = 7, .nnodes = 3, .max_per_node = 3, .node_of = node_of, .host_of = host_of};
    static const struct {
        const char *list, *ranks;
    } want[] = {
        {"", ""},       {"*:*", ""},        {"*", "034"},           {"*:2", "03415"},
        {"b", "3"},     {"c:2,a", "450"},   {"a:0,*:2", "345"},     {"*:1,C.else:3", "03456"},
        {"z", "none"},  {"a:0", "none"},    {"a:*", "012"},         {"a:1,a:3", "0"},
        {"a:9", "012"}, {"nonsense:x", ""}, {"a:*,*:*", "0123456"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int ranks[7], n = 0;
        char got[16] = "";
        REQUIRE(!brio_config_list_ranks(want[i].list, &nodes, ranks, &n), "%s", want[i].list);
        for (int k = 0; k < n; k++)
            got[k] = (char)('0' + ranks[k]);
        CHECK(strcmp(n < 0 ? "none" : got, want[i].ranks) == 0, "%s: %s", want[i].list, got);
    }
    size_t len = 0;
    const char *list = "a:1, zebra:2, *";
    CHECK(brio_config_list_stranger(list, &nodes, &len) == list + 5 && len == 5, "%zu", len);
    CHECK(!brio_config_list_stranger("b:1,*:*", &nodes, &len), "none");
}

static const struct test_case cases[] = {TEST(plain_lines),       TEST(heads),
                                         TEST(bad_lines),         TEST(doubles),
                                         TEST(garbage),           TEST(precedence),
                                         TEST(sent_and_received), TEST(same_meaning),
                                         TEST(config_list),       {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
