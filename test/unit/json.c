/* The command's JSON reader: what is JSON is read, what is not is refused. */
#include "check.h"

#include <math.h>

#include "cli/json.h"

static double number(const struct brio_json *j, const char *key)
{
    return brio_json_number(brio_json_get(j, key));
}

static void reads_values(void)
{
    struct brio_json *j =
        brio_json_parse(" {\"a\": -12.5e1, \"b\": [1, true, null, {}, []], \"c\": {\"d\": "
                        "\"x\"}, \"e\": false}\n");
    REQUIRE(j, "refused");
    CHECK(number(j, "a") == -125, "%f", number(j, "a"));
    CHECK(brio_json_get(j, "b")->n == 5, "not five");
    CHECK(brio_json_at(brio_json_get(j, "b"), 1)->kind == BRIO_JSON_BOOL, "not true");
    CHECK(strcmp(brio_json_text(brio_json_get(brio_json_get(j, "c"), "d")), "x") == 0, "not x");
    CHECK(number(j, "e") == 0, "not false");
    CHECK(isnan(number(j, "none")) && isnan(number(j, "c")), "no numbers");
    CHECK(brio_json_get(brio_json_get(j, "none"), "d")->kind == BRIO_JSON_NULL, "no nothing");
    CHECK(*brio_json_text(brio_json_get(j, "a")) == 0, "a number is no text");
    brio_json_free(j);
}

static void reads_texts(void)
{
    static const struct {
        const char *json, *text;
    } of[] = {{"\"\"", ""},
              {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t"},
              {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
              {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
              {"\"\xc3\xa9\"", "\xc3\xa9"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct brio_json *j = brio_json_parse(of[i].json);
        CHECK(j && j->kind == BRIO_JSON_TEXT && strcmp(j->text, of[i].text) == 0, "%s",
              of[i].json);
        brio_json_free(j);
    }
}

static void refuses_the_rest(void)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[1,]",
                                      "[1 2]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a: 1}",
                                      "{\"a\":1,}",
                                      "01",
                                      "-",
                                      "1.",
                                      "1e",
                                      ".5",
                                      "+1",
                                      "nul",
                                      "truex",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\u0000\"",
                                      "\"\n\"",
                                      "[1] 2",
                                      "[\"a\": 1]",
                                      "'a'",
                                      "NaN",
                                      "\"\\",
                                      "[",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\u-123\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[BRIO_JSON_WHY] = "";
        struct brio_json *j = brio_json_read(bad[i], strlen(bad[i]), why);
        CHECK(!j, "%s was read", bad[i]);
        CHECK(strncmp(why, "line ", 5) == 0, "%s: %s", bad[i], why);
        brio_json_free(j);
    }
}

static void says_the_line(void)
{
    char why[BRIO_JSON_WHY] = "";
    const char *text = "{\n \"a\": 1,\n \"b\": x\n}";
    CHECK(!brio_json_read(text, strlen(text), why), "was read");
    CHECK(strncmp(why, "line 3:", 7) == 0, "%s", why);
}

/* Neither deep nesting nor any prefix of a good text does harm. */
static void stands_attacks(void)
{
    static char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    CHECK(!brio_json_parse(deep), "was read");
    const char *good = "{\"a\": [1.5e3, \"\\ud83d\\ude00\", {\"b\": null}], \"c\": true}";
    for (size_t n = 0; n <= strlen(good); n++) {
        char why[BRIO_JSON_WHY] = "", *part = malloc(n + 1);
        memcpy(part, good, n);
        struct brio_json *j = brio_json_read(part, n, why);
        CHECK(!j == (n < strlen(good)), "%zu bytes", n);
        brio_json_free(j);
        free(part);
    }
}

static const struct test_case cases[] = {TEST(reads_values),     TEST(reads_texts),
                                         TEST(refuses_the_rest), TEST(says_the_line),
                                         TEST(stands_attacks),   {0}};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases);
}
