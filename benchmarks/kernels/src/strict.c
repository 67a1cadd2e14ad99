// Loops compiled without -ffast-math, which keep NaN.
#include "reference.h"
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EACH(name_, type, expression)                                                                        \
    if (!strcmp(j->name, name_)) {                                                                              \
        const type *restrict x = j->x, *restrict y = j->y;                                                      \
        type *restrict z = j->z;                                                                                \
        for (int i = 0; i < j->k; i++) z[i] = expression;                                                       \
        (void)y;                                                                                                \
        return 1;                                                                                               \
    }

static float widen(uint16_t h) {
    uint32_t b = (uint32_t)h << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static uint16_t narrow(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return f != f ? (b >> 16) | 64 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

int strict_case(const struct job *j) {
    EACH("add32", float, x[i] + y[i])
    EACH("add64", double, x[i] + y[i])
    EACH("mul32", float, x[i] * y[i])
    EACH("div32", float, x[i] / y[i])
    EACH("max32", float, x[i] > y[i] || x[i] != x[i] ? x[i] : y[i])
    EACH("max64", double, x[i] > y[i] || x[i] != x[i] ? x[i] : y[i])
    EACH("sqrt32", float, __builtin_sqrtf(x[i]))
    EACH("sqrt64", double, __builtin_sqrt(x[i]))
    EACH("addbf16", uint16_t, narrow(widen(x[i]) + widen(y[i])))
#ifdef __AVX512F__
    if (!strcmp(j->name, "addf16")) {
        const uint16_t *x = j->x, *y = j->y;
        uint16_t *z = j->z;
        for (int i = 0; i + 16 <= j->k; i += 16) {
            __m512 a = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + i)));
            __m512 b = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(y + i)));
            _mm256_storeu_si256((void *)(z + i), _mm512_cvtps_ph(_mm512_add_ps(a, b), 0));
        }
        return 1;
    }
#endif
    return 0;
}
