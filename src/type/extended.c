/* x87 extended and IEEE binary128. Both have 15 bits of exponent with the same bias; the
 * x87 format shows the leading bit of its 64-bit significand, binary128 hides it in front
 * of 112 bits of fraction. So the fraction only moves by 49 bits, also for subnormals. */
#include "type/external32.h"

#include <string.h>

enum {
    EXP_MAX = 0x7fff,
    LOW_BITS = 49 /* bits of a binary128 fraction that x87 has no room for */
};

#define LEADING (UINT64_C(1) << 63)
#define QUIET   (UINT64_C(1) << 62) /* of an x87 significand */

static uint64_t load_be(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}

static void store_be(unsigned char *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

void brio_extended_to_quad(const unsigned char *x87, unsigned char *quad)
{
    uint64_t sig;
    uint16_t head;
    memcpy(&sig, x87, sizeof sig);
    memcpy(&head, x87 + 8, sizeof head);
    unsigned exp = head & EXP_MAX;
    uint64_t frac = sig & ~LEADING;
    if (exp == 0 && (sig & LEADING))
        exp = 1; /* pseudo-denormal: the value of a normal number */
    else if (exp != 0 && !(sig & LEADING)) {
        exp = EXP_MAX; /* no number in today's x87: invalid, so not a number */
        frac = QUIET;
    }
    uint64_t high = (uint64_t)(head >> 15) << 63 | (uint64_t)exp << 48 | frac >> 15;
    store_be(quad, high);
    store_be(quad + 8, frac << LOW_BITS);
}

void brio_quad_to_extended(const unsigned char *quad, unsigned char *x87)
{
    uint64_t high = load_be(quad), low = load_be(quad + 8);
    uint16_t sign = (uint16_t)(high >> 63 << 15);
    unsigned exp = (unsigned)(high >> 48) & EXP_MAX;
    uint64_t frac = (high & UINT64_C(0xffffffffffff)) << 15 | low >> LOW_BITS;
    uint64_t rest = low & ((UINT64_C(1) << LOW_BITS) - 1), half = UINT64_C(1) << (LOW_BITS - 1);
    uint64_t sig = frac;
    if (exp == EXP_MAX) {
        if ((frac | rest) != 0 && frac == 0)
            sig = QUIET; /* what made it not a number was in the bits cut off */
        sig |= LEADING;
    } else {
        if (exp != 0)
            sig |= LEADING;
        if (rest > half || (rest == half && (sig & 1))) {
            sig++;
            if (sig == 0) { /* carried out of the significand */
                sig = LEADING;
                exp++;
            } else if (exp == 0 && (sig & LEADING))
                exp = 1;
        }
    }
    uint16_t head = (uint16_t)(sign | exp);
    memset(x87, 0, 16);
    memcpy(x87, &sig, sizeof sig);
    memcpy(x87 + 8, &head, sizeof head);
}
