/* Flattening, and where flattened types are kept: named types in a table that is read
 * without a lock, others on the type itself as an attribute. */
#include "type/flatten.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "type/contents.h"
#include "type/decode.h"

/* ---- Named types -------------------------------------------------------------------- */

/* Open addressing; a slot's map is there before its key is. Types that find no slot (some
 * hundred F90 types) are decoded every time. */
enum {
    SLOTS = 512
};

struct slot {
    _Atomic uint64_t key; /* 0: free */
    struct brio_map *map;
    _Atomic(struct brio_map *) typed; /* made when first asked for */
};

static struct slot slots[SLOTS];

/* Guards the writing of slots and of attributes, and the making of what is made once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A handle is an int in one MPI and a pointer in the other, and never all zero bits. */
static uint64_t key_of(MPI_Datatype type)
{
    uint64_t key = 0;
    memcpy(&key, &type, sizeof type);
    return key;
}

static size_t home(uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 55) % SLOTS;
}

static struct slot *find_slot(MPI_Datatype type)
{
    uint64_t key = key_of(type);
    size_t i = home(key);
    for (int probes = 0; probes < SLOTS; probes++, i = (i + 1) % SLOTS) {
        uint64_t there = atomic_load_explicit(&slots[i].key, memory_order_acquire);
        if (there == key)
            return &slots[i];
        if (there == 0)
            return NULL;
    }
    return NULL;
}

/* With the lock held. Half the table stays free, so that a miss is found quickly. */
static void keep_named(MPI_Datatype type, const struct brio_map *map)
{
    static int used;
    size_t i = home(key_of(type));
    if (used >= SLOTS / 2)
        return;
    while (atomic_load_explicit(&slots[i].key, memory_order_relaxed) != 0)
        i = (i + 1) % SLOTS;
    slots[i].map = brio_map_ref(map);
    atomic_store_explicit(&slots[i].key, key_of(type), memory_order_release);
    used++;
}

/* ---- Derived types ------------------------------------------------------------------ */

/* What is kept on a type. Never replaced while the type lives, so that it may be read
 * without the lock. */
struct kept {
    struct brio_map *map;
    _Atomic(struct brio_map *) typed; /* made when first asked for */
    _Atomic bool committed;           /* known to be; once committed a type stays so */
};

static _Atomic int keyval = MPI_KEYVAL_INVALID;

static BRIO_ERR make_kept(const struct brio_map *map, bool committed, struct kept **out)
{
    void *p;
    enum brio_err err = brio_calloc(1, sizeof **out, &p);
    if (err)
        return err;
    *out = p;
    (*out)->map = brio_map_ref(map);
    (*out)->committed = committed;
    return BRIO_OK;
}

static int copy_kept(MPI_Datatype type, int key, void *extra, void *value, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    const struct kept *from = value;
    struct kept *to;
    *flag = 0;
    if (!make_kept(from->map, from->committed, &to)) {
        *(void **)out = to;
        *flag = 1;
    }
    return MPI_SUCCESS; /* without it the copy is only decoded again */
}

static int delete_kept(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    struct kept *kept = value;
    brio_map_unref(kept->map);
    brio_map_unref(kept->typed);
    free(kept);
    return MPI_SUCCESS;
}

static struct kept *find_kept(MPI_Datatype type)
{
    int key = atomic_load_explicit(&keyval, memory_order_acquire), flag = 0;
    void *value = NULL;
    if (key == MPI_KEYVAL_INVALID ||
        PMPI_Type_get_attr(type, key, &value, &flag) != MPI_SUCCESS || !flag)
        return NULL;
    return value;
}

/* With the lock held. That a type cannot be kept is no failure: it is decoded again. */
static void keep_derived(MPI_Datatype type, const struct brio_map *map)
{
    int key = keyval;
    struct kept *kept;
    if (key == MPI_KEYVAL_INVALID) {
        if (PMPI_Type_create_keyval(copy_kept, delete_kept, &key, NULL) != MPI_SUCCESS)
            return;
        atomic_store_explicit(&keyval, key, memory_order_release);
    }
    if (make_kept(map, false, &kept))
        return;
    if (PMPI_Type_set_attr(type, key, kept) != MPI_SUCCESS)
        delete_kept(type, key, kept, NULL);
}

/* ---- Flattening --------------------------------------------------------------------- */

static const struct brio_map *find_known(MPI_Datatype type)
{
    struct slot *slot = find_slot(type);
    if (slot)
        return slot->map;
    struct kept *kept = find_kept(type);
    return kept ? kept->map : NULL;
}

static BRIO_ERR decode_map(const struct brio_decoder *d, MPI_Datatype type,
                           struct brio_map **out)
{
    struct brio_form f;
    if (type == MPI_DATATYPE_NULL)
        return brio_fail(BRIO_ETYPE, "null datatype");
    enum brio_err err = brio_decode(d, type, &f);
    return err ? err : brio_map_new(f.node, f.lb, brio_form_extent(&f), out);
}

/* With the lock held. */
static BRIO_ERR flatten_new(MPI_Datatype type, struct brio_map **out)
{
    static const struct brio_decoder memory = {.how = BRIO_MEASURE_MEMORY, .known = find_known};
    int combiner;
    const struct brio_map *known = find_known(type);
    if (known) { /* another thread was faster */
        *out = brio_map_ref(known);
        return BRIO_OK;
    }
    enum brio_err err = decode_map(&memory, type, out);
    if (!err)
        err = brio_combiner_of(type, &combiner);
    if (err)
        return err;
    if (brio_combiner_is_leaf(combiner))
        keep_named(type, *out);
    else
        keep_derived(type, *out);
    return BRIO_OK;
}

BRIO_ERR brio_flatten(MPI_Datatype type, struct brio_map **out)
{
    if (type == MPI_DATATYPE_NULL)
        return brio_fail(BRIO_ETYPE, "null datatype");
    const struct brio_map *known = find_known(type);
    if (known) {
        *out = brio_map_ref(known);
        return BRIO_OK;
    }
    pthread_mutex_lock(&lock);
    enum brio_err err = flatten_new(type, out);
    pthread_mutex_unlock(&lock);
    return err;
}

BRIO_ERR brio_flatten_sized(MPI_Datatype type, const struct brio_sizer *sizer,
                            struct brio_map **out)
{
    struct brio_decoder sized = {.how = BRIO_MEASURE_SIZED, .sizer = sizer};
    return decode_map(&sized, type, out);
}

/* Where the typed map of a known type is kept; NULL if the type is not kept. */
static _Atomic(struct brio_map *) *typed_place(MPI_Datatype type)
{
    struct slot *slot = find_slot(type);
    if (slot)
        return &slot->typed;
    struct kept *kept = find_kept(type);
    return kept ? &kept->typed : NULL;
}

BRIO_ERR brio_flatten_typed(MPI_Datatype type, struct brio_map **out)
{
    static const struct brio_decoder decoder = {.how = BRIO_MEASURE_TYPED};
    struct brio_map *map, *none = NULL;
    enum brio_err err = brio_flatten(type, &map); /* so that there is a place */
    if (err)
        return err;
    brio_map_unref(map);
    _Atomic(struct brio_map *) *place = typed_place(type);
    struct brio_map *known = place ? atomic_load(place) : NULL;
    if (known) {
        *out = brio_map_ref(known);
        return BRIO_OK;
    }
    err = decode_map(&decoder, type, &map);
    if (err)
        return err;
    if (place) {
        brio_map_ref(map);
        if (!atomic_compare_exchange_strong(place, &none, map))
            brio_map_unref(map); /* another thread was faster */
    }
    *out = map;
    return BRIO_OK;
}

bool brio_type_is_named(MPI_Datatype type)
{
    int combiner;
    if (find_slot(type))
        return true;
    return type != MPI_DATATYPE_NULL && brio_combiner_of(type, &combiner) == BRIO_OK &&
           brio_combiner_is_leaf(combiner);
}

/* ---- Committed? --------------------------------------------------------------------- */

/* A communicator of our own, whose errors return: MPI has no question for "committed?", but
 * refuses to send such a type, even to nobody (MPICH only if the count is not 0). */
static MPI_Comm probe = MPI_COMM_NULL;

/* With the lock held. */
static bool try_sending(MPI_Datatype type)
{
    if (probe == MPI_COMM_NULL) {
        MPI_Comm comm;
        /* Not a duplicate: that would call the program's attribute copy functions. */
        if (PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm) != MPI_SUCCESS)
            return true;
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        probe = comm;
    }
    char nothing = 0; /* nobody reads it */
    return PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, probe) == MPI_SUCCESS;
}

bool brio_type_committed(MPI_Datatype type)
{
    if (type == MPI_DATATYPE_NULL)
        return false;
    if (find_slot(type))
        return true;
    struct kept *kept = find_kept(type);
    if (kept && atomic_load_explicit(&kept->committed, memory_order_relaxed))
        return true;
    pthread_mutex_lock(&lock);
    bool committed = try_sending(type);
    pthread_mutex_unlock(&lock);
    if (kept && committed)
        atomic_store_explicit(&kept->committed, true, memory_order_relaxed);
    return committed;
}

void brio_flatten_finalize(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SLOTS; i++)
        if (atomic_exchange(&slots[i].key, 0) != 0) {
            brio_map_unref(slots[i].map);
            brio_map_unref(atomic_exchange(&slots[i].typed, NULL));
            slots[i].map = NULL;
        }
    int key = atomic_exchange(&keyval, MPI_KEYVAL_INVALID);
    if (key != MPI_KEYVAL_INVALID)
        PMPI_Type_free_keyval(&key);
    if (probe != MPI_COMM_NULL)
        PMPI_Comm_free(&probe);
    pthread_mutex_unlock(&lock);
}
