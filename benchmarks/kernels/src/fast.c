// Loops compiled with -ffast-math, so that sums and functions become vectors.
#include "reference.h"
#include <math.h>
#include <string.h>

static volatile float keep;
static volatile double keep64;

int fast_case(const struct job *j) {
    const float *x = j->x;
    const double *xd = j->x;
    float *z = j->z;
    int n = j->k;
    if (!strcmp(j->name, "exp32")) {
        for (int i = 0; i < n; i++) z[i] = expf(x[i]);
    } else if (!strcmp(j->name, "exp64")) {
        for (int i = 0; i < n; i++) ((double *)z)[i] = exp(xd[i]);
    } else if (!strcmp(j->name, "sum32")) {
        float s = 0;
        for (int i = 0; i < n; i++) s += x[i];
        keep = s;
    } else if (!strcmp(j->name, "sum64")) {
        double s = 0;
        for (int i = 0; i < n; i++) s += xd[i];
        keep64 = s;
    } else if (!strcmp(j->name, "tanh32")) {
        for (int i = 0; i < n; i++) z[i] = tanhf(x[i]);
    } else if (!strcmp(j->name, "erf32")) {
        for (int i = 0; i < n; i++) z[i] = erff(x[i]);
    } else if (!strcmp(j->name, "gelu32")) {
        for (int i = 0; i < n; i++) z[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
    } else if (!strcmp(j->name, "softmax32")) {
        for (int r = 0; r + 1024 <= n; r += 1024) {
            float m = x[r], s = 0;
            for (int i = 0; i < 1024; i++) m = x[r + i] > m ? x[r + i] : m;
            for (int i = 0; i < 1024; i++) s += z[r + i] = expf(x[r + i] - m);
            s = 1 / s;
            for (int i = 0; i < 1024; i++) z[r + i] *= s;
        }
    } else
        return 0;
    return 1;
}
