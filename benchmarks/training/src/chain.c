/* gelu(x*w+b) in one loop, for the program above, which drives it: every line "repeats" on stdin is answered by the
   fastest call of so many, in nanoseconds of processor time. Arguments: rows, columns. b is a row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static void chain(long rows, long cols, float *restrict y, const float *restrict x, const float *restrict w, const float *restrict b) {
	for (long i = 0; i < rows; i++) {
		for (long j = 0; j < cols; j++) {
			float z = x[i * cols + j] * w[i * cols + j] + b[j];
			y[i * cols + j] = 0.5f * z * (1 + erff(z * 0.70710678f));
		}
	}
}

static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Memory in large pages that have been touched. */
static float *room(long n) {
	size_t bytes = (n * sizeof(float) + (2 << 20) - 1) >> 21 << 21;
	float *p = aligned_alloc(2 << 20, bytes);
	if (!p) exit(1);
	madvise(p, bytes, MADV_HUGEPAGE);
	for (long i = 0; i < n; i++) p[i] = (float)(i % 1000) / 250 - 2;
	return p;
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	long rows = atol(argv[1]), cols = atol(argv[2]), repeats;
	float *x = room(rows * cols), *w = room(rows * cols), *b = room(cols), *y = room(rows * cols);
	while (scanf("%ld", &repeats) == 1) {
		long fastest = -1;
		for (long i = 0; i < repeats; i++) {
			long start = now();
			chain(rows, cols, y, x, w, b);
			long t = now() - start;
			if (fastest < 0 || t < fastest) fastest = t;
		}
		printf("%ld 0 0 %g\n", fastest, y[rows * cols - 1]);
		fflush(stdout);
	}
	return 0;
}
