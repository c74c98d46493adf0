/* Which bytes: an immutable, compact description of a datatype as nested runs. A vector
 * of sixteen million blocks is one loop around one run; only truly irregular types are
 * lists. No MPI, no I/O in here: pure arithmetic, made once and shared by reference.
 *
 * A map is one tile. Data bytes are numbered by position, 0 .. size-1 inside the tile in
 * typemap order; position p lies in tile p / size, which is shifted by extent for every
 * tile. A file view is such a map with a base (the displacement); a memory buffer of
 * `count` items is such a map with base 0. */
#ifndef BRIO_TYPE_MAP_H
#define BRIO_TYPE_MAP_H

#include "base/base.h"

BRIO_DOOR_BEGIN

/* `count` pieces of `len` bytes, the first at `off`, `stride` bytes from start to start.
 * count >= 1; stride is meaningless when count is 1. `kind` is the element kind of a map
 * made for conversion (type/flatten.h), else 0. */
struct brio_run {
    brio_off off, len, stride, count;
    int kind;
};

/* ---- Building: nodes are shared by reference and never change ---------------------- */

struct brio_node;

/* Every constructor simplifies: adjacent runs join, a loop of touching children becomes
 * a run, nested loops with one common stride become one loop, a list of equal children
 * at equal distances becomes a loop, empty children disappear. It takes over the caller's
 * reference to each child, also when it fails. A node with no bytes is valid. */

/* A piece of `len` bytes at 0 (len >= 0). Pieces of different kind never join; kind 0 is
 * for plain bytes. A run of kind k > 0 is made of whole elements of `len` bytes each as
 * given here (joining keeps the element length: see brio_run.len in typed maps). */
BRIO_ERR brio_node_bytes(brio_off len, int kind, struct brio_node **out);

/* `count` copies of child, `stride` bytes apart (may be negative or zero). */
BRIO_ERR brio_node_loop(struct brio_node *child, brio_off count, brio_off stride,
                        struct brio_node **out);

/* n children, child i shifted by off[i], in typemap order. Arrays stay the caller's. */
BRIO_ERR brio_node_list(size_t n, struct brio_node *const *child, const brio_off *off,
                        struct brio_node **out);

/* n blocks: block i is len[i] copies of child, unit bytes apart, shifted by off[i]
 * (MPI's indexed types without one node per block). Takes over child. */
BRIO_ERR brio_node_blocks(struct brio_node *child, brio_off unit, size_t n, const brio_off *len,
                          const brio_off *off, struct brio_node **out);

struct brio_node *brio_node_ref(struct brio_node *node);
void brio_node_unref(struct brio_node *node); /* NULL is allowed */

/* Data bytes of the node. */
brio_off brio_node_size(const struct brio_node *node);

/* ---- The map ------------------------------------------------------------------------ */

struct brio_map {
    struct brio_node *root;
    brio_off size;    /* data bytes of one tile */
    brio_off lb;      /* lower bound: MPI's, not necessarily the first byte */
    brio_off extent;  /* from one tile to the next */
    brio_off lo, hi;  /* first byte touched and one past the last; 0, 0 if size is 0 */
    brio_off npieces; /* pieces of one tile as the cursor gives them (saturates at
                         BRIO_OFF_MAX); neighbours from turn to turn of a loop are not joined */
    size_t nnodes;    /* nodes and list entries: what the map costs in memory */
    bool contiguous;  /* any number of tiles is one piece: lo == 0, size == extent, one piece */
    bool monotone;    /* byte offsets strictly rise, within the tile and from tile to tile:
                         hi - lo <= extent, no overlap. A tile without bytes is monotone. */
    bool endless;     /* all tiles together are one endless run, `run` (its count is that of
                         one tile, its stride goes on from tile to tile) */
    struct brio_run run;
    uint64_t hash; /* equal structure, equal hash */
    _Atomic int refs;
};

/* Takes over root. */
BRIO_ERR brio_map_new(struct brio_node *root, brio_off lb, brio_off extent,
                      struct brio_map **out);

/* `size` bytes side by side, extent = size. */
BRIO_ERR brio_map_bytes(brio_off size, struct brio_map **out);

struct brio_map *brio_map_ref(const struct brio_map *map);
void brio_map_unref(const struct brio_map *map); /* NULL is allowed */

/* The offset of data byte `pos` (pos >= 0, map->size > 0), without the base; BRIO_OFF_MAX
 * (or -BRIO_OFF_MAX) if it does not fit in 63 bits. */
brio_off brio_map_offset(const struct brio_map *map, brio_off pos);

/* The number of data bytes at offsets below `off` (without the base) over all tiles, i.e.
 * the first position at or beyond `off`. Only for monotone maps with extent > 0; in
 * O(depth * log n). */
brio_off brio_map_below(const struct brio_map *map, brio_off off);

/* First byte touched and one past the last by data bytes [pos, pos+bytes). bytes > 0.
 * Exact for any map; cheap for monotone ones. A bound that does not fit in 63 bits is
 * BRIO_OFF_MAX (or -BRIO_OFF_MAX): such an access cannot be walked. */
void brio_map_bounds(const struct brio_map *map, brio_off pos, brio_off bytes, brio_off *lo,
                     brio_off *hi);

/* True if [pos, pos+bytes) is one contiguous piece; its offset (without the base) is then
 * in *off. bytes > 0. O(depth * log n). */
bool brio_map_is_piece(const struct brio_map *map, brio_off pos, brio_off bytes, brio_off *off);

/* ---- Walking ------------------------------------------------------------------------ */

enum {
    BRIO_MAP_DEPTH = 32
}; /* deepest nesting the cursor follows; constructors refuse more */

struct brio_frame {
    const struct brio_node *node;
    brio_off base;  /* offset of the node's origin */
    brio_off index; /* which child, block or piece is current */
    brio_off inner; /* which copy or element of the block */
};

/* A place in a tiled map. Copy it freely; it owns nothing, the map must outlive it. */
struct brio_cursor {
    const struct brio_map *map;
    brio_off pos;  /* the data byte that comes next */
    brio_off tile; /* and its tile */
    brio_off into; /* bytes of the current piece already passed */
    int depth;     /* frames in use; -1: not yet placed */
    struct brio_frame frame[BRIO_MAP_DEPTH];
};

void brio_cursor_init(struct brio_cursor *c, const struct brio_map *map, brio_off pos);

/* The next data as a strided run of at most `max` bytes in all (max > 0, map->size > 0),
 * and moves behind it. Whole pieces come as one run with count >= 1; a piece that is
 * begun or cut by `max` comes alone with count 1. Offsets are without the base. A
 * contiguous map gives one run of max bytes. */
void brio_cursor_next(struct brio_cursor *c, brio_off max, struct brio_run *out);

BRIO_DOOR_END

#endif
