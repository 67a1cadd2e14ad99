// Products by OpenBLAS, of matrices that lie by rows.
#include "reference.h"

#ifdef OPENBLAS
#include <cblas.h>

static void sgemm(const struct job *j) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, j->m, j->n, j->k, 1, j->x, j->k, j->y, j->n, 0, j->z, j->n);
}
static void dgemm(const struct job *j) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, j->m, j->n, j->k, 1, j->x, j->k, j->y, j->n, 0, j->z, j->n);
}
static void sgemv(const struct job *j) { cblas_sgemv(CblasRowMajor, CblasNoTrans, j->m, j->k, 1, j->x, j->k, j->y, 1, 0, j->z, 1); }
static void dgemv(const struct job *j) { cblas_dgemv(CblasRowMajor, CblasNoTrans, j->m, j->k, 1, j->x, j->k, j->y, 1, 0, j->z, 1); }
// A row times a matrix.
static void sgevm(const struct job *j) { cblas_sgemv(CblasRowMajor, CblasTrans, j->k, j->n, 1, j->y, j->n, j->x, 1, 0, j->z, 1); }
static void dgevm(const struct job *j) { cblas_dgemv(CblasRowMajor, CblasTrans, j->k, j->n, 1, j->y, j->n, j->x, 1, 0, j->z, 1); }

const struct entry products[] = {
    LISTED1(sgemm), LISTED1(dgemm), LISTED1(sgemv), LISTED1(dgemv), LISTED1(sgevm), LISTED1(dgevm), {0},
};
#else
const struct entry products[] = {{0}};
#endif
