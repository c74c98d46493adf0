/* Subarrays and distributed arrays, as forms. Not for other rooms. */
#ifndef BRIO_TYPE_ARRAY_H
#define BRIO_TYPE_ARRAY_H

#include "type/contents.h"
#include "type/form.h"

/* f is the element type, and becomes the array type. */
BRIO_ERR brio_form_subarray(struct brio_form *f, struct brio_contents *c);
BRIO_ERR brio_form_darray(struct brio_form *f, struct brio_contents *c);

#endif
