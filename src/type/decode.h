/* From envelope and contents to a form, recursively. Not for other rooms. */
#ifndef BRIO_TYPE_DECODE_H
#define BRIO_TYPE_DECODE_H

#include "type/flatten.h"
#include "type/form.h"

enum brio_measure {
    BRIO_MEASURE_MEMORY, /* plain bytes, bounds as MPI says */
    BRIO_MEASURE_TYPED,  /* the same with kinds */
    BRIO_MEASURE_SIZED   /* leaves by the sizer, bounds by the standard's rules */
};

struct brio_decoder {
    enum brio_measure how;
    const struct brio_sizer *sizer; /* BRIO_MEASURE_SIZED */
    /* A map of the type made before, borrowed; NULL if there is none. For plain bytes. */
    const struct brio_map *(*known)(MPI_Datatype type);
};

BRIO_ERR brio_decode(const struct brio_decoder *d, MPI_Datatype type, struct brio_form *out);

#endif
