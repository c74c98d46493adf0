/* The page of brio report --html: the reports and their advice, put into a page that is kept in
 * share/report.html and built into the command. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/report.h"

/* Made from share/report.html by the build. */
extern const char brio_report_template[];

static const char mark[] = "@REPORTS@";

/* JSON has `<' only in texts, where \u003c means the same and cannot end the script. */
static void put_json(FILE *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            putc(text[i], out);
    }
}

static void put_one(FILE *out, const struct brio_report *r)
{
    struct brio_advice advice[BRIO_ADVICE_MOST];
    int n = brio_report_advise(r, advice);
    fputs("{\"report\": ", out);
    put_json(out, r->text, r->len);
    fprintf(out, ", \"seconds\": {\"read\": %.9f, \"write\": %.9f}, \"advice\": [",
            brio_report_seconds(r, "read"), brio_report_seconds(r, "write"));
    for (int i = 0; i < n; i++) {
        fprintf(out, "%s[", i ? ", " : "");
        brio_json_put(out, advice[i].title);
        fputs(", ", out);
        brio_json_put(out, advice[i].text);
        fputc(']', out);
        free(advice[i].text);
    }
    fputs("]}", out);
}

void brio_report_page(FILE *out, const struct brio_report *reports, size_t n)
{
    const char *at = strstr(brio_report_template, mark);
    if (!at) {
        brio_say("report: the page in this command is broken");
        return;
    }
    fwrite(brio_report_template, 1, (size_t)(at - brio_report_template), out);
    fputc('[', out);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputs(",\n", out);
        put_one(out, &reports[i]);
    }
    fputc(']', out);
    fputs(at + sizeof mark - 1, out);
}
