// Element by element, each result rounded once. Compiled without -ffast-math, so that NaN stays NaN.
#include "reference.h"
#include <math.h>

EACH(add, x[i] + y[i], x[i] + y[i])
EACH(subtract, x[i] - y[i], x[i] - y[i])
EACH(multiply, x[i] * y[i], x[i] * y[i])
EACH(divide, x[i] / y[i], x[i] / y[i])
EACH(maximum, x[i] > y[i] || x[i] != x[i] ? x[i] : y[i], x[i] > y[i] || x[i] != x[i] ? x[i] : y[i])
EACH(minimum, x[i] < y[i] || x[i] != x[i] ? x[i] : y[i], x[i] < y[i] || x[i] != x[i] ? x[i] : y[i])
EACH(negative, -x[i], -x[i])
EACH(abs, fabsf(x[i]), fabs(x[i]))
EACH(square, x[i] * x[i], x[i] * x[i])
EACH(root, sqrtf(x[i]), sqrt(x[i]))
EACH(rsqrt, 1 / sqrtf(x[i]), 1 / sqrt(x[i]))
EACH(reciprocal, 1 / x[i], 1 / x[i])
EACH(where, w[i] ? x[i] : y[i], w[i] ? x[i] : y[i])

const struct entry arithmetic[] = {
    LISTED(add), LISTED(subtract), LISTED(multiply), LISTED(divide), LISTED(maximum), LISTED(minimum),
    LISTED(negative), LISTED(abs), LISTED(square), {"sqrt32", root32}, {"sqrt64", root64}, LISTED(rsqrt), LISTED(reciprocal), LISTED(where), {0},
};
