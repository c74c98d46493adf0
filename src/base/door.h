/* Declarations between BRIO_DOOR_BEGIN and BRIO_DOOR_END are for modules from outside, too.
 * Protected: they see the functions, while the library's own calls stay direct. */
#ifndef BRIO_BASE_DOOR_H
#define BRIO_BASE_DOOR_H

#ifdef BRIO_INSIDE /* the library itself is compiled */
#define BRIO_DOOR_BEGIN _Pragma("GCC visibility push(protected)")
#define BRIO_DOOR_END   _Pragma("GCC visibility pop")
#else
#define BRIO_DOOR_BEGIN
#define BRIO_DOOR_END
#endif

#endif
