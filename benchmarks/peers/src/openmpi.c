// Open MPI as C programs use it. One line for each repetition: bytes, microseconds for one operation.
//
//   openmpi REPETITIONS SECONDS OPERATION TYPE BYTES...
//
// allreduce is MPI_Allreduce in place, with the library's own sum for f32 and a vectorised operation of ours for
// f16 and bf16, which MPI has no types for. pingpong and stream are blocking sends and receives of two ranks.
#if defined(__F16C__)
#include <immintrin.h>
#endif
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, repetitions;
static double seconds;
static char *data;
static MPI_Datatype type;
static MPI_Op sum;

static float widen_bf16(uint16_t v) {
  uint32_t bits = (uint32_t)v << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static void sum_bf16(void *in, void *inout, int *count, MPI_Datatype *t) {
  const uint16_t *restrict a = in;
  uint16_t *restrict b = inout;
  for (int i = 0, n = *count; i < n; i++) {
    float s = widen_bf16(a[i]) + widen_bf16(b[i]);
    uint32_t bits;
    memcpy(&bits, &s, 4);
    b[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
}

static void sum_f16(void *in, void *inout, int *count, MPI_Datatype *t) {
  int i = 0, n = *count;
#if defined(__AVX512F__)
  const uint16_t *x = in;
  uint16_t *y = inout;
  for (; i + 16 <= n; i += 16) {
    __m512 s = _mm512_add_ps(_mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + i))),
                             _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(y + i))));
    _mm256_storeu_si256((void *)(y + i), _mm512_cvtps_ph(s, 0));
  }
#elif defined(__F16C__)
  const uint16_t *x = in;
  uint16_t *y = inout;
  for (; i + 8 <= n; i += 8) {
    __m256 s = _mm256_add_ps(_mm256_cvtph_ps(_mm_loadu_si128((const void *)(x + i))),
                             _mm256_cvtph_ps(_mm_loadu_si128((const void *)(y + i))));
    _mm_storeu_si128((void *)(y + i), _mm256_cvtps_ph(s, 0));
  }
#endif
  const _Float16 *a = in;
  _Float16 *b = inout;
  for (; i < n; i++) b[i] = (_Float16)((float)a[i] + (float)b[i]);
}

static int element;

static void choose_type(const char *name) {
  element = strcmp(name, "f32") ? 2 : 4;
  type = MPI_FLOAT, sum = MPI_SUM;
  if (element == 4) return;
  MPI_Type_contiguous(2, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(strcmp(name, "f16") ? sum_bf16 : sum_f16, 1, &sum);
}

static void allreduce(int bytes) { MPI_Allreduce(MPI_IN_PLACE, data, bytes / element, type, sum, MPI_COMM_WORLD); }

static void put(int bytes) { MPI_Send(data, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD); }

static void take(int bytes) { MPI_Recv(data, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void pingpong(int bytes) {
  if (rank == 0) put(bytes);
  take(bytes);
  if (rank == 1) put(bytes);
}

static void stream(int bytes) {
  if (rank == 0) put(bytes);
  else take(bytes);
}

typedef void (*operation)(int bytes);

static operation choose(const char *name) {
  if (!strcmp(name, "allreduce")) return allreduce;
  if (!strcmp(name, "pingpong")) return pingpong;
  if (!strcmp(name, "stream")) return stream;
  fprintf(stderr, "openmpi: no operation %s\n", name);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}

static void check_sum(int bytes) {
  float *values = (float *)data;
  int n = bytes / 4;
  for (int i = 0; i < n; i++) values[i] = rank + 1;
  allreduce(bytes);
  for (int i = 0; i < n; i++)
    if (values[i] != ranks * (ranks + 1) / 2) { fprintf(stderr, "openmpi: wrong sum\n"); MPI_Abort(MPI_COMM_WORLD, 1); }
}

static int agreed_iterations(double each) {
  double n = seconds / (each > 1e-9 ? each : 1e-9) + 1;
  int iterations = n > 200000 ? 200000 : n;
  MPI_Bcast(&iterations, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return iterations;
}

static void measure(operation op, int bytes) {
  op(bytes);
  int n = bytes > 1 << 20 ? 2 : 6;
  double start;
  for (int again = 0; again < 2; again++) { // the first few are slower than those to come
    start = MPI_Wtime();
    for (int i = 0; i < n; i++) op(bytes);
    n = agreed_iterations((MPI_Wtime() - start) / n);
  }
  for (int r = 0; r < repetitions; r++) {
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < n; i++) op(bytes);
    if (op == stream) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d %.4f\n", bytes, (MPI_Wtime() - start) / n * 1e6);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6) { fprintf(stderr, "usage: openmpi REPETITIONS SECONDS OPERATION TYPE BYTES...\n"); MPI_Abort(MPI_COMM_WORLD, 2); }
  repetitions = atoi(argv[1]), seconds = atof(argv[2]);
  operation op = choose(argv[3]);
  choose_type(argv[4]);
  for (int i = 5; i < argc; i++) {
    int bytes = atoi(argv[i]);
    if (posix_memalign((void **)&data, 64, bytes)) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 0, bytes);
    if (op == allreduce && element == 4) check_sum(bytes);
    memset(data, 0, bytes);
    measure(op, bytes);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
