// Functions, compiled with -ffast-math, without which they would not become vectors.
#include "reference.h"
#include <math.h>

EACH(exp_, expf(x[i]), exp(x[i]))
EACH(log_, logf(x[i]), log(x[i]))
EACH(tanh_, tanhf(x[i]), tanh(x[i]))
EACH(erf_, erff(x[i]), erf(x[i]))
EACH(sigmoid, 1 / (1 + expf(-x[i])), 1 / (1 + exp(-x[i])))
EACH(gelu, 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f)), 0.5 * x[i] * (1 + erf(x[i] * 0.70710678118654752)))

const struct entry functions[] = {
    {"exp32", exp_32}, {"exp64", exp_64}, {"log32", log_32}, {"log64", log_64}, {"tanh32", tanh_32}, {"tanh64", tanh_64},
    {"erf32", erf_32}, {"erf64", erf_64}, LISTED(sigmoid), LISTED(gelu), {0},
};
