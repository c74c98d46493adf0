/* One pass over the text, line by line, in place. */
#include "mod/rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mod/module.h"

static const char blanks[] = " \t\r";
static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_.-";

struct reader {
    struct brio_rules *rules;
    brio_rules_complain *complain;
    void *arg;
    int line;
};

static void refuse(const struct reader *r, const char *why)
{
    r->complain(r->arg, r->line, why);
}

static char *trim(char *text)
{
    text += strspn(text, blanks);
    size_t len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* A comment begins with # at the beginning or behind a blank, outside quotes. */
static void drop_comment(char *text)
{
    bool quoted = false;
    for (char *at = text; *at; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (*at == '#' && !quoted && (at == text || strchr(blanks, at[-1]))) {
            *at = '\0';
            return;
        }
    }
}

/* "..." becomes ...; false if a quote is alone. */
static bool unquote(char **text)
{
    size_t len = strlen(*text);
    if (len == 0 || !strchr(*text, '"'))
        return true;
    if (len < 2 || (*text)[0] != '"' || strchr(*text + 1, '"') != *text + len - 1)
        return false;
    (*text)[len - 1] = '\0';
    ++*text;
    return true;
}

/* One condition of a head; the rest of the text, or NULL if it cannot be read. */
static char *read_condition(const struct reader *r, char *text, struct brio_rule_head *head)
{
    size_t len = strspn(text, name_letters);
    char *value = text + len;
    value += strspn(value, blanks);
    if (*value != '=') {
        refuse(r, "in a head, write program=PATTERN, file=PATTERN or mount=DIRECTORY; "
                  "this part of the file is not used");
        return NULL;
    }
    value++;
    value += strspn(value, blanks);
    size_t quoted = *value == '"';
    size_t n = strcspn(value + quoted, quoted ? "\"" : blanks);
    const char **slot = NULL;
    if (len == 7 && memcmp(text, "program", len) == 0)
        slot = &head->program;
    else if (len == 4 && memcmp(text, "file", len) == 0)
        slot = &head->file;
    else if (len == 5 && memcmp(text, "mount", len) == 0)
        slot = &head->mount;
    if (!slot || *slot || n == 0 || (quoted && value[1 + n] != '"')) {
        refuse(r, !slot   ? "a head knows program, file and mount only; this part of the file "
                            "is not used"
                  : *slot ? "a condition twice in one head; this part of the file is not used"
                  : n     ? "a quote without its end; this part of the file is not used"
                          : "a condition without a pattern; this part of the file is not used");
        return NULL;
    }
    *slot = value + quoted;
    char *rest = value + quoted + n;
    if (*rest)
        *rest++ = '\0';
    return rest + strspn(rest, blanks);
}

static BRIO_ERR more(void *array, size_t n, size_t size, void **out)
{
    if (n & (n - 1)) { /* it has room up to the next power of two */
        *out = array;
        return BRIO_OK;
    }
    void *larger = realloc(array, (n ? 2 * n : 1) * size);
    if (!larger)
        return brio_fail(BRIO_ENOMEM, "cannot keep %zu settings of a file", n);
    *out = larger;
    return BRIO_OK;
}

static BRIO_ERR read_head(const struct reader *r, char *text)
{
    struct brio_rules *rules = r->rules;
    struct brio_rule_head head = {.wrong = false};
    size_t len = strlen(text);
    if (text[len - 1] != ']') {
        refuse(r, "a head ends with ]; this part of the file is not used");
        head.wrong = true;
    } else {
        text[len - 1] = '\0';
        char *at = trim(text + 1);
        while (at && *at)
            at = read_condition(r, at, &head);
        head.wrong = at == NULL;
    }
    enum brio_err err =
        more(rules->head, rules->nheads, sizeof *rules->head, (void **)&rules->head);
    if (!err)
        rules->head[rules->nheads++] = head;
    return err;
}

static BRIO_ERR read_setting(const struct reader *r, char *text)
{
    struct brio_rules *rules = r->rules;
    size_t len = strspn(text, name_letters);
    char *value = text + len;
    if (len == 0 || (*value && *value != '=' && !strchr(blanks, *value))) {
        refuse(r, "neither `name = value' nor a [head]");
        return BRIO_OK;
    }
    char *rest = value + strspn(value, blanks);
    if (*rest == '=')
        rest++;
    else if (!*rest) {
        refuse(r, "a name without a value");
        return BRIO_OK;
    }
    *value = '\0';
    rest = trim(rest);
    if (!unquote(&rest)) {
        refuse(r, "a quote that is not around the whole value");
        return BRIO_OK;
    }
    if (len >= BRIO_HINT_MAX || strlen(rest) >= BRIO_HINT_MAX) {
        refuse(r, "a line that is too long");
        return BRIO_OK;
    }
    enum brio_err err =
        more(rules->rule, rules->nrules, sizeof *rules->rule, (void **)&rules->rule);
    if (!err)
        rules->rule[rules->nrules++] = (struct brio_rule){
            .name = text, .value = rest, .line = r->line, .head = (int)rules->nheads - 1};
    return err;
}

/* The same name twice under one head: both cannot be meant. */
static void find_doubles(const struct reader *r)
{
    const struct brio_rules *rules = r->rules;
    for (size_t i = 1; i < rules->nrules; i++) {
        const struct brio_rule *now = &rules->rule[i];
        for (size_t j = i; j-- > 0 && rules->rule[j].head == now->head;) {
            const struct brio_rule *before = &rules->rule[j];
            if (strcmp(before->name, now->name) != 0 || strcmp(before->value, now->value) == 0)
                continue;
            char why[3 * BRIO_HINT_MAX];
            snprintf(why, sizeof why, "%s = %s contradicts line %d, which is used", now->name,
                     now->value, now->line);
            r->complain(r->arg, before->line, why);
            break;
        }
    }
}

static bool is_text(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ' && !strchr("\t\r", line[i] ? line[i] : 'x'))
            return false;
    return true;
}

BRIO_ERR brio_rules_parse(const char *text, size_t len, brio_rules_complain *complain,
                          void *arg, struct brio_rules *out)
{
    struct brio_rules rules = {.text = NULL};
    struct reader r = {.rules = &rules, .complain = complain, .arg = arg};
    enum brio_err err = brio_calloc(len + 1, 1, (void **)&rules.text);
    if (!err)
        err = more(NULL, 0, sizeof *rules.head, (void **)&rules.head);
    if (!err) {
        memcpy(rules.text, text, len);
        rules.head[rules.nheads++] = (struct brio_rule_head){.wrong = false};
    }
    for (char *at = rules.text, *end = err ? at : at + len; !err && at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        r.line++;
        bool readable = is_text(at, (size_t)(stop - at));
        *stop = '\0';
        char *line = at;
        at = stop + 1;
        if (!readable) {
            refuse(&r, "not text");
            continue;
        }
        drop_comment(line);
        line = trim(line);
        if (*line == '[')
            err = read_head(&r, line);
        else if (*line)
            err = read_setting(&r, line);
    }
    if (err) {
        brio_rules_free(&rules);
        return err;
    }
    find_doubles(&r);
    *out = rules;
    return BRIO_OK;
}

void brio_rules_free(struct brio_rules *rules)
{
    free(rules->text);
    free(rules->rule);
    free(rules->head);
    *rules = (struct brio_rules){.text = NULL};
}

static bool fits_file(const char *pattern, const char *path)
{
    const char *last = strrchr(path, '/');
    if (!strchr(pattern, '/') && last)
        path = last + 1;
    return *path && fnmatch(pattern, path, 0) == 0;
}

static bool lies_below(const char *dir, const char *path)
{
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    return strncmp(dir, path, len) == 0 &&
           (path[len] == '/' || path[len] == '\0' || (len == 1 && *dir == '/'));
}

bool brio_rule_fits(const struct brio_rules *rules, const struct brio_rule *rule,
                    const struct brio_subject *subject)
{
    const struct brio_rule_head *head = &rules->head[rule->head];
    if (head->wrong)
        return false;
    if (head->program && fnmatch(head->program, subject->program, 0) != 0 &&
        (!*subject->script || fnmatch(head->program, subject->script, 0) != 0))
        return false;
    if (head->file && !fits_file(head->file, subject->path))
        return false;
    return !head->mount || lies_below(head->mount, subject->path);
}
