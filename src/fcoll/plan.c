/* Windows over the touched bytes of a domain. */
#include "fcoll/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "type/cut.h"

/* Where a window that begins at lo ends at the latest. */
static brio_off window_end(brio_off lo, brio_off size, brio_off align)
{
    brio_off hi = lo + size;
    brio_off even = align > 0 ? hi - hi % align : hi;
    return even > lo ? even : hi;
}

BRIO_ERR brio_windows_make(const struct brio_map *touched, brio_off size, brio_off align,
                           struct brio_window **out, size_t *n)
{
    struct brio_window *windows = NULL;
    size_t room = 0, count = 0;
    for (brio_off pos = 0; pos < touched->size; count++) {
        if (count == room) {
            room = room ? 2 * room : 16;
            void *more = realloc(windows, room * sizeof *windows);
            if (!more) {
                free(windows);
                return brio_fail(BRIO_ENOMEM, "no memory for %zu windows", room);
            }
            windows = more;
        }
        brio_off lo = brio_map_offset(touched, pos);
        pos = brio_cut_below(touched, window_end(lo, size, align));
        windows[count] = (struct brio_window){
            .lo = lo, .hi = brio_map_offset(touched, pos - 1) + 1, .nsources = 0};
    }
    *out = windows;
    *n = count;
    return BRIO_OK;
}

brio_off brio_plan_share(const struct brio_plan *plan, const struct brio_crew *crew, int which,
                         const struct brio_window *window, int *nsources)
{
    brio_off bytes = 0;
    int n = 0;
    for (int r = 0; r < plan->nranks; r++) {
        const struct brio_map *map = plan->sources[r];
        if (!map || crew->crew_of[r] != which)
            continue;
        brio_off part = brio_cut_below(map, window->hi) - brio_cut_below(map, window->lo);
        bytes += part;
        n += part > 0;
    }
    if (nsources)
        *nsources = n;
    return bytes;
}

void brio_plan_free(struct brio_plan *plan)
{
    if (!plan)
        return;
    for (int r = 0; plan->sources && r < plan->nranks; r++)
        brio_map_unref(plan->sources[r]);
    free(plan->sources);
    for (int a = 0; a < plan->nowners; a++)
        free(plan->owners[a].windows);
    free(plan->owners);
    brio_map_unref(plan->touched);
    brio_map_unref(plan->mine);
    free(plan);
}
