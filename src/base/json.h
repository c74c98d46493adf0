/* The one thing about writing JSON that is worth a function. */
#ifndef BRIO_BASE_JSON_H
#define BRIO_BASE_JSON_H

#include <stdio.h>

/* The text, or "" for NULL, as a JSON string, in quotes. Bytes that are no UTF-8 become U+FFFD.
 */
void brio_json_put(FILE *out, const char *text);

#endif
