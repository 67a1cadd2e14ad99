// Half precision. float16 is converted by the processor's instructions; bfloat16 by integers, rounded to nearest even.
#include "reference.h"
#include <immintrin.h>
#include <string.h>

static inline float widen(uint16_t h) {
    uint32_t b = (uint32_t)h << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static inline uint16_t narrow(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return f != f ? (b >> 16) | 64 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

#ifdef __AVX512F__
enum { step = 16 };
typedef __m512 vector;
static inline vector load(const uint16_t *x) { return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)x)); }
static inline void store(uint16_t *z, vector v) { _mm256_storeu_si256((void *)z, _mm512_cvtps_ph(v, 0)); }
static inline vector load32(const float *x) { return _mm512_loadu_ps(x); }
static inline void store32(float *z, vector v) { _mm512_storeu_ps(z, v); }
#elif defined __F16C__
enum { step = 8 };
typedef __m256 vector;
static inline vector load(const uint16_t *x) { return _mm256_cvtph_ps(_mm_loadu_si128((const void *)x)); }
static inline void store(uint16_t *z, vector v) { _mm_storeu_si128((void *)z, _mm256_cvtps_ph(v, 0)); }
static inline vector load32(const float *x) { return _mm256_loadu_ps(x); }
static inline void store32(float *z, vector v) { _mm256_storeu_ps(z, v); }
#endif

#ifdef __F16C__
#define STEPS(name_, body)                                                                                            \
    static void name_(const struct job *j) {                                                                          \
        const uint16_t *x = j->x, *y = j->y;                                                                          \
        uint16_t *z = j->z;                                                                                           \
        const float *x32 = j->x;                                                                                      \
        float *z32 = j->z;                                                                                            \
        int n = j->k / step * step;                                                                                   \
        for (int i = 0; i < n; i += step) body;                                                                       \
        (void)x, (void)y, (void)z, (void)x32, (void)z32;                                                              \
    }
STEPS(add_f16, store(z + i, load(x + i) + load(y + i)))
STEPS(multiply_f16, store(z + i, load(x + i) * load(y + i)))
STEPS(widen_f16, store32(z32 + i, load(x + i)))
STEPS(narrow_f16, store(z + i, load32(x32 + i)))
#endif

EACH1(add_bf16, uint16_t, narrow(widen(x[i]) + widen(y[i])))
EACH1(multiply_bf16, uint16_t, narrow(widen(x[i]) * widen(y[i])))

static void widen_bf16(const struct job *j) {
    const uint16_t *restrict x = j->x;
    float *restrict z = j->z;
    for (int i = 0, n = j->k; i < n; i++) z[i] = widen(x[i]);
}

static void narrow_bf16(const struct job *j) {
    const float *restrict x = j->x;
    uint16_t *restrict z = j->z;
    for (int i = 0, n = j->k; i < n; i++) z[i] = narrow(x[i]);
}

const struct entry halves[] = {
#ifdef __F16C__
    LISTED1(add_f16), LISTED1(multiply_f16), LISTED1(widen_f16), LISTED1(narrow_f16),
#endif
    LISTED1(add_bf16), LISTED1(multiply_bf16), LISTED1(widen_bf16), LISTED1(narrow_bf16), {0},
};
