// Reductions of all elements and of the rows' columns, compiled with -ffast-math, without which they would not become
// vectors. Sums of float are added as float.
#include "reference.h"
#include <string.h>

enum { columns = 1024 };

static volatile double keep;

#define REDUCE(name_, type, first, expression)                                                                        \
    static void name_(const struct job *j) {                                                                          \
        const type *x = j->x;                                                                                         \
        type s = first;                                                                                               \
        int n = j->k;                                                                                                 \
        for (int i = 0; i < n; i++) s = expression;                                                                   \
        keep = s;                                                                                                     \
    }

#define COLUMNS(name_, type, expression)                                                                              \
    static void name_(const struct job *j) {                                                                          \
        const type *restrict x = j->x;                                                                                \
        type *restrict s = j->z;                                                                                      \
        memcpy(s, x, columns * sizeof(type));                                                                         \
        for (int r = 1; r < j->k / columns; r++) {                                                                    \
            const type *restrict v = x + (size_t)r * columns;                                                         \
            for (int i = 0; i < columns; i++) s[i] = expression;                                                      \
        }                                                                                                             \
    }

REDUCE(sum32, float, 0, s + x[i])
REDUCE(sum64, double, 0, s + x[i])
REDUCE(max32, float, x[0], x[i] > s ? x[i] : s)
REDUCE(max64, double, x[0], x[i] > s ? x[i] : s)
COLUMNS(sum_columns32, float, s[i] + v[i])
COLUMNS(sum_columns64, double, s[i] + v[i])
COLUMNS(max_columns32, float, v[i] > s[i] ? v[i] : s[i])
COLUMNS(max_columns64, double, v[i] > s[i] ? v[i] : s[i])

const struct entry reductions[] = {LISTED(sum), LISTED(max), LISTED(sum_columns), LISTED(max_columns), {0}};
