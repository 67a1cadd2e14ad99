// Reads lines "name m k n repeats", runs the case that often and answers with the processor time of all the runs in
// nanoseconds, or -1 for a case that this build does not have.
#include "reference.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OPENBLAS
#include <cblas.h>
extern char *openblas_get_corename(void);

static int product(const struct job *j) {
    int m = j->m, k = j->k, n = j->n;
    if (!strcmp(j->name, "sgemm"))
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, j->x, k, j->y, n, 0, j->z, n);
    else if (!strcmp(j->name, "dgemm"))
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, j->x, k, j->y, n, 0, j->z, n);
    else if (!strcmp(j->name, "sgemv"))
        cblas_sgemv(CblasRowMajor, CblasNoTrans, m, k, 1, j->x, k, j->y, 1, 0, j->z, 1);
    else if (!strcmp(j->name, "dgemv"))
        cblas_dgemv(CblasRowMajor, CblasNoTrans, m, k, 1, j->x, k, j->y, 1, 0, j->z, 1);
    else
        return 0;
    return 1;
}
#else
static const char *openblas_get_corename(void) { return ""; }
static int product(const struct job *j) { (void)j; return 0; }
#endif

static int run(const struct job *j) { return product(j) || fast_case(j) || strict_case(j); }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// fill writes the values that the Go side has too: small numbers of both signs.
static void *fill(size_t bytes, int type) {
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    for (size_t i = 0; i < bytes / type; i++) {
        double v = ((double)(i * 2654435761u % 4093) - 2046) / 1024;
        if (type == 8) ((double *)p)[i] = v;
        if (type == 4) ((float *)p)[i] = (float)v;
        if (type == 2) ((uint16_t *)p)[i] = (uint16_t)(0x3c00 + i % 512);
    }
    return p;
}

int main(void) {
    char name[64];
    int size, m, k, n, repeats;
    printf("%s\n", openblas_get_corename());
    fflush(stdout);
    while (scanf("%63s %d %d %d %d %d", name, &size, &m, &k, &n, &repeats) == 6) {
        size_t x = (size_t)m * k * size, y = (size_t)k * n * size, z = (size_t)m * n * size;
        if (z < x && n == 1) z = x; // element-wise: k x 1 operands and result
        struct job j = {name, m, k, n, fill(x, size), fill(y > x ? y : x, size), fill(z, size)};
        int known = run(&j);
        int64_t start = now();
        for (int i = 0; i < repeats && known; i++) run(&j);
        printf("%lld\n", known ? (long long)(now() - start) : -1LL);
        fflush(stdout);
        free(j.x), free(j.y), free(j.z);
    }
}
