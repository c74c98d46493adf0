/* The table of the file's own settings. */
#include "core/conf.h"

#define AT(field) offsetof(struct brio_conf, field)

const struct brio_hint brio_conf_hints[] = {
    {.name = "file_perm",
     .kind = BRIO_HINT_TEXT,
     .offset = AT(file_perm),
     .def = "",
     .same = true,
     .help = "permissions of a file that is created, in octal; the umask still applies"},
    {.name = "access_style",
     .kind = BRIO_HINT_TEXT,
     .offset = AT(access_style),
     .def = "",
     .help = "how the file is going to be used: read_once, sequential, random, ..."},
    {.name = "striping_factor",
     .kind = BRIO_HINT_INT,
     .offset = AT(striping_factor),
     .def = "0",
     .same = true,
     .help = "servers to spread a new file over; 0: as the file system likes"},
    {.name = "striping_unit",
     .kind = BRIO_HINT_BYTES,
     .offset = AT(striping_unit),
     .def = "0",
     .same = true,
     .help = "bytes on one server before the next; 0: as the file system likes"},
    {.name = NULL},
};
