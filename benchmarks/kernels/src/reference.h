// What the reference computes: a case by name on n elements, or an m x k x n product.
#include <stddef.h>
#include <stdint.h>

struct job {
    int m, k, n;
    void *x, *y, *z;
    const uint8_t *w; // of where: yes or no
};

struct entry {
    const char *name;
    void (*run)(const struct job *j);
};

// Each file has a list, which a name of 0 ends.
extern const struct entry products[], arithmetic[], functions[], reductions[], rows[], halves[];

// EACH is a case of one loop over elements, LISTED its entry; both in float and double.
#define EACH1(name_, type, expression)                                                                                \
    static void name_(const struct job *j) {                                                                          \
        const type *restrict x = j->x, *restrict y = j->y;                                                            \
        type *restrict z = j->z;                                                                                      \
        const uint8_t *restrict w = j->w;                                                                             \
        int n = j->k;                                                                                                 \
        for (int i = 0; i < n; i++) z[i] = expression;                                                                \
        (void)x, (void)y, (void)w;                                                                                    \
    }
#define EACH(name_, single, twice)                                                                                    \
    EACH1(name_##32, float, single)                                                                                   \
    EACH1(name_##64, double, twice)
#define LISTED1(name_) {#name_, name_}
#define LISTED(name_) LISTED1(name_##32), LISTED1(name_##64)
