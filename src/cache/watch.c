/* Judges by how many writes were costly, not by their mean: on a machine with more ranks than
 * cores some writes take milliseconds that the store has nothing to do with. */
#include "cache/watch.h"

#include <stdio.h>

bool brio_watch_add(struct brio_watch *w, brio_off bytes, int64_t ns, brio_off page,
                    char why[BRIO_WATCH_WORDS])
{
    if (bytes > page / 8) {
        *w = (struct brio_watch){.writes = 0};
        snprintf(why, BRIO_WATCH_WORDS, "writes of %lld bytes are large enough as they are",
                 (long long)bytes);
        return false;
    }
    w->writes++;
    w->costly += ns >= BRIO_WATCH_COSTLY;
    w->bytes += bytes;
    w->ns += ns;
    if (w->writes < BRIO_WATCH_WRITES)
        return false;
    bool pays = w->costly >= w->writes / 4 * 3;
    snprintf(why, BRIO_WATCH_WORDS, "%d writes of %lld bytes took %.1f us each, %d of them %s",
             w->writes, (long long)(w->bytes / w->writes), (double)w->ns / w->writes / 1000,
             pays ? w->costly : w->writes - w->costly,
             pays ? "more than 20 us" : "less than 20 us: the system keeps them already");
    *w = (struct brio_watch){.writes = 0};
    return pays;
}
