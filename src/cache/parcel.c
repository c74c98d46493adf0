/* Headers lie anywhere among the bytes, so they are copied in and out. */
#include "cache/parcel.h"

#include <string.h>

struct header {
    int64_t off, len;
};

void brio_parcel_init(struct brio_parcel *parcel, void *data, size_t room)
{
    *parcel = (struct brio_parcel){.data = data, .room = room};
}

/* The piece at the end can go on. */
static char *join(struct brio_parcel *parcel, brio_off off, brio_off len, brio_off *fit)
{
    struct header h;
    if (parcel->used == 0 || parcel->used == parcel->room)
        return NULL;
    memcpy(&h, parcel->data + parcel->last, sizeof h);
    if (h.off + h.len != off)
        return NULL;
    *fit = brio_min(len, (brio_off)(parcel->room - parcel->used));
    h.len += *fit;
    memcpy(parcel->data + parcel->last, &h, sizeof h);
    char *at = parcel->data + parcel->used;
    parcel->used += (size_t)*fit;
    return at;
}

char *brio_parcel_add(struct brio_parcel *parcel, brio_off off, brio_off len, brio_off *fit)
{
    char *at = join(parcel, off, len, fit);
    if (at || parcel->room - parcel->used <= sizeof(struct header))
        return at;
    parcel->last = parcel->used;
    at = parcel->data + parcel->used + sizeof(struct header);
    *fit = brio_min(len, (brio_off)(parcel->room - parcel->used - sizeof(struct header)));
    struct header h = {off, *fit};
    memcpy(parcel->data + parcel->used, &h, sizeof h);
    parcel->used += sizeof h + (size_t)*fit;
    return at;
}

bool brio_parcel_next(const void *data, size_t bytes, size_t *at, struct brio_piece *out)
{
    struct header h;
    if (bytes - *at < sizeof h)
        return false;
    memcpy(&h, (const char *)data + *at, sizeof h);
    if (h.len < 0 || (size_t)h.len > bytes - *at - sizeof h)
        return false;
    *out = (struct brio_piece){h.off, h.len, (const char *)data + *at + sizeof h};
    *at += sizeof h + (size_t)h.len;
    return true;
}
