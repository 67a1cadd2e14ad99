// Reads lines "name size m k n repeats batches", runs the case once and then so many batches of repeats, and answers
// with the processor time of the fastest batch in nanoseconds, or -1 for a case that this build does not have.
#include "reference.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef OPENBLAS
extern char *openblas_get_corename(void);
#else
static const char *openblas_get_corename(void) { return ""; }
#endif

typedef void (*body)(const struct job *);

static body find(const char *name) {
    const struct entry *lists[] = {products, arithmetic, functions, reductions, rows, halves};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct entry *e = lists[i]; e->name; e++)
            if (!strcmp(e->name, name)) return e->run;
    return 0;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The arrays of a case lie in one piece of memory of large pages, as those of the Go side do.
enum { room = 256 << 20 };
static char *arena, *next;

static void *array(size_t bytes) {
    void *p = next;
    next += (bytes + 63) / 64 * 64 + 4096 + 64; // so that no two arrays begin at the same place of a page
    return p;
}

// fill writes the values that the Go side has too: small numbers of both signs.
static void *fill(size_t bytes, int type, int positive) {
    void *p = array(bytes);
    for (size_t i = 0; i < bytes / type; i++) {
        double v = ((double)((uint32_t)i * 2654435761u % 4093) - 2046) / 1024;
        if (positive) v = v < 0 ? 0.5 - v : 0.5 + v;
        if (type == 8) ((double *)p)[i] = v;
        if (type == 4) ((float *)p)[i] = (float)v;
        if (type == 2) ((uint16_t *)p)[i] = (uint16_t)(0x3c00 + i % 512);
    }
    return p;
}

static struct job prepare(const char *name, int size, int m, int k, int n) {
    size_t x = (size_t)m * k * size, y = (size_t)k * n * size, z = (size_t)m * n * size;
    if (m == 1 && n == 1) y = x, z = (size_t)k * 8; // element-wise: k x 1 operands and result, of any type
    next = arena;
    int positive = !strncmp(name, "log", 3) && name[3] < 'a';
    struct job j = {m, k, n, fill(x, size, positive), fill(y, size, 0), fill(z, size, 0), 0};
    unsigned char *w = array(x / size);
    for (size_t i = 0; i < x / size; i++) w[i] = i * 2654435761u >> 13 & 1;
    j.w = w;
    return j;
}

int main(void) {
    char name[64], before[64] = "";
    int size, m, k, n, repeats, batches;
    struct job j = {0};
    arena = mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) return 1;
    madvise(arena, room, MADV_HUGEPAGE);
    arena = (char *)(((uintptr_t)arena + (2 << 20) - 1) >> 21 << 21);
    printf("%s\n", openblas_get_corename());
    fflush(stdout);
    while (scanf("%63s %d %d %d %d %d %d", name, &size, &m, &k, &n, &repeats, &batches) == 7) {
        if (strcmp(name, before) || m != j.m || k != j.k || n != j.n) j = prepare(name, size, m, k, n);
        strcpy(before, name);
        body run = find(name);
        if (run) run(&j);
        int64_t best = -1;
        for (; batches > 0 && run; batches--) {
            int64_t start = now();
            for (int i = 0; i < repeats; i++) run(&j);
            int64_t t = now() - start;
            if (best < 0 || t < best) best = t;
        }
        printf("%lld\n", (long long)best);
        fflush(stdout);
    }
}
