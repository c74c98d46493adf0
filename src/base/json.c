/* Strings of JSON. */
#include "base/json.h"

/* Bytes of the character that begins at s; 0 if it is not UTF-8. Beyond the shapes of the bytes
 * nothing is checked but what a strict reader refuses: overlong forms and surrogates. */
static int character(const unsigned char *s)
{
    int n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if (s[i] >> 6 != 2)
            return 0;
    if ((n == 2 && *s < 0xc2) || (n == 3 && *s == 0xe0 && s[1] < 0xa0) ||
        (n == 3 && *s == 0xed && s[1] > 0x9f) || (n == 4 && *s == 0xf0 && s[1] < 0x90) ||
        (n == 4 && (*s > 0xf4 || (*s == 0xf4 && s[1] > 0x8f))))
        return 0;
    return n;
}

void brio_json_put(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    putc('"', out);
    while (*s) {
        int n = character(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else if (n == 0)
            fputs("\\ufffd", out);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n ? n : 1;
    }
    putc('"', out);
}
