// Functions of rows of 1024 elements, compiled with -ffast-math, without which they would not become vectors.
#include "reference.h"
#include <math.h>

enum { n = 1024 };

// ALL is a loop over the rows, x and z of one.
#define ALL(type, body)                                                                                               \
    for (int r = 0; r < j->k / n; r++) {                                                                              \
        const type *restrict x = (const type *)j->x + (size_t)r * n;                                                  \
        type *restrict z = (type *)j->z + (size_t)r * n;                                                              \
        (void)z;                                                                                                      \
        body;                                                                                                         \
    }

#define ROWS(type, suffix, exp, log, sqrt)                                                                            \
    static void softmax##suffix(type *restrict z, const type *restrict x) {                                           \
        type m = x[0], s = 0;                                                                                         \
        for (int i = 0; i < n; i++) m = x[i] > m ? x[i] : m;                                                          \
        for (int i = 0; i < n; i++) s += z[i] = exp(x[i] - m);                                                        \
        s = 1 / s;                                                                                                    \
        for (int i = 0; i < n; i++) z[i] *= s;                                                                        \
    }                                                                                                                 \
    static type logsumexp##suffix(const type *restrict x) {                                                           \
        type m = x[0], s = 0;                                                                                         \
        for (int i = 0; i < n; i++) m = x[i] > m ? x[i] : m;                                                          \
        for (int i = 0; i < n; i++) s += exp(x[i] - m);                                                               \
        return m + log(s);                                                                                            \
    }                                                                                                                 \
    static void layer_norm##suffix(type *restrict z, const type *restrict x) {                                        \
        type mean = 0, square = 0;                                                                                    \
        for (int i = 0; i < n; i++) mean += x[i];                                                                     \
        mean /= n;                                                                                                    \
        for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);                                          \
        type scale = 1 / sqrt(square / n + (type)1e-5);                                                               \
        for (int i = 0; i < n; i++) z[i] = (x[i] - mean) * scale;                                                     \
    }                                                                                                                 \
    static void softmax_rows##suffix(const struct job *j) { ALL(type, softmax##suffix(z, x)) }                        \
    static void logsumexp_rows##suffix(const struct job *j) { ALL(type, ((type *)j->z)[r] = logsumexp##suffix(x)) } \
    static void log_softmax_rows##suffix(const struct job *j) {                                                       \
        ALL(type, type l = logsumexp##suffix(x); for (int i = 0; i < n; i++) z[i] = x[i] - l)                         \
    }                                                                                                                 \
    static void layer_norm_rows##suffix(const struct job *j) { ALL(type, layer_norm##suffix(z, x)) }

ROWS(float, 32, expf, logf, sqrtf)
ROWS(double, 64, exp, log, sqrt)

const struct entry rows[] = {
    {"softmax32", softmax_rows32}, {"softmax64", softmax_rows64},
    {"log_softmax32", log_softmax_rows32}, {"log_softmax64", log_softmax_rows64},
    {"logsumexp32", logsumexp_rows32}, {"logsumexp64", logsumexp_rows64},
    {"layer_norm32", layer_norm_rows32}, {"layer_norm64", layer_norm_rows64}, {0},
};
