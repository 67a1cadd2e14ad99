// What the reference computes: a case by name on n elements, or an m x k x n product.
struct job {
    const char *name;
    int m, k, n;
    void *x, *y, *z;
};

int fast_case(const struct job *j);
int strict_case(const struct job *j);
