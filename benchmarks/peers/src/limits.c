// Limits of one machine: what the simplest C can do between processes that share it, with nothing checked and
// nothing promised. One line for each repetition: bytes, microseconds for one operation.
//
//   limits REPETITIONS SECONDS MODE RANKS OPERATION TYPE BYTES...
//
// shm       allreduce: copy in, wait for all, reduce a slice, wait, copy out; pingpong of up to 128 KiB through two
//           slots; stream through a ring of slots
// tcp unix  two ranks. allreduce: a full-duplex exchange of halves in one loop; pingpong and stream by blocking calls
// tcp-spin unix-spin   pingpong with a reader that spins
// The type is f32. Ranks are bound to cores in turn.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_RANKS 16
#define SMALL 32768    // up to here everyone reads everything: one wait instead of two
#define PIECE 131072   // what one rank reduces at a time
#define SEGMENT 262144 // what a socket is given at a time
#define SLOTS 8        // of the stream

typedef struct { _Atomic uint64_t value; char pad[56]; } line;
static struct shared {
  line arrived[MOST_RANKS], ball[2], filled, emptied, iterations;
  char small[2][MOST_RANKS][SMALL];
  char outbox[2][MOST_RANKS][MOST_RANKS][PIECE]; // [turn][from][to]
  char result[2][MOST_RANKS][PIECE];
  char slot[SLOTS][PIECE];
} *shared;

static int rank, ranks, repetitions, connection, patience;
static double seconds;
static char *data, *room; // this rank's buffer and another of its size
static uint64_t phase, turn;

static void fail(const char *what) { perror(what); exit(1); }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static inline void publish(line *l, uint64_t value) { atomic_store_explicit(&l->value, value, memory_order_release); }

static inline void await(line *l, uint64_t value) {
  for (int i = 0; atomic_load_explicit(&l->value, memory_order_acquire) < value; i++) {
    if (i < patience) { relax(); continue; }
    sched_yield();
    i = 0;
  }
}

static void barrier(void) {
  publish(&shared->arrived[rank], ++phase);
  for (int r = 0; r < ranks; r++) await(&shared->arrived[r], phase);
}

static void add(char *to, const char *from, size_t bytes) {
  float *restrict a = (float *)to;
  const float *restrict b = (const float *)from;
  for (size_t i = 0; i < bytes / 4; i++) a[i] += b[i];
}

static void reduce_small(size_t bytes) {
  turn++;
  memcpy(shared->small[turn & 1][rank], data, bytes);
  barrier();
  for (int r = 0; r < ranks; r++) if (r != rank) add(data, shared->small[turn & 1][r], bytes);
}

// Two waits for each chunk: all have written; all have reduced. Boxes alternate, so nobody waits to reuse one.
static void reduce_sliced(size_t bytes) {
  for (size_t at = 0; at < bytes; at += (size_t)ranks * PIECE) {
    size_t left = bytes - at, each = left < (size_t)ranks * PIECE ? left / ranks : PIECE;
    char *chunk = data + at;
    int t = ++turn & 1;
    for (int r = 0; r < ranks; r++) if (r != rank) memcpy(shared->outbox[t][rank][r], chunk + r * each, each);
    barrier();
    for (int r = 0; r < ranks; r++) if (r != rank) add(chunk + rank * each, shared->outbox[t][r][rank], each);
    memcpy(shared->result[t][rank], chunk + rank * each, each);
    barrier();
    for (int r = 0; r < ranks; r++) if (r != rank) memcpy(chunk + r * each, shared->result[t][r], each);
  }
}

static void reduce_shared(size_t bytes) {
  if (bytes <= SMALL) reduce_small(bytes);
  else reduce_sliced(bytes);
}

static void serve(size_t bytes) {
  memcpy(shared->slot[rank], data, bytes);
  publish(&shared->ball[rank], turn);
}

static void pingpong_shared(size_t bytes) {
  turn++;
  if (rank == 0) serve(bytes);
  await(&shared->ball[!rank], turn);
  memcpy(data, shared->slot[!rank], bytes);
  if (rank == 1) serve(bytes);
}

static void stream_shared(size_t bytes) {
  for (size_t at = 0; at < bytes; at += PIECE) {
    size_t n = bytes - at < PIECE ? bytes - at : PIECE;
    char *slot = shared->slot[++turn % SLOTS];
    if (rank == 0) {
      if (turn > SLOTS) await(&shared->emptied, turn - SLOTS);
      memcpy(slot, data + at, n);
      publish(&shared->filled, turn);
    } else {
      await(&shared->filled, turn);
      memcpy(data + at, slot, n);
      publish(&shared->emptied, turn);
    }
  }
}

static void write_all(const char *from, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = send(connection, from, bytes, 0);
    if (n < 0 && errno == EAGAIN) continue;
    if (n < 0) fail("send");
    from += n, bytes -= n;
  }
}

static void read_all(char *to, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = recv(connection, to, bytes, 0);
    if (n < 0 && errno == EAGAIN) continue;
    if (n <= 0) fail("recv");
    to += n, bytes -= n;
  }
}

static void pingpong_socket(size_t bytes) {
  if (rank == 0) write_all(data, bytes);
  read_all(data, bytes);
  if (rank == 1) write_all(data, bytes);
}

static void stream_socket(size_t bytes) {
  if (rank == 0) write_all(data, bytes);
  else read_all(data, bytes);
}

static void exchange(const char *out, char *in, size_t bytes) {
  size_t sent = 0, got = 0;
  while (sent < bytes || got < bytes) {
    int moved = 0;
    ssize_t n;
    if (sent < bytes && (n = send(connection, out + sent, bytes - sent, MSG_DONTWAIT)) > 0) sent += n, moved = 1;
    if (got < bytes && (n = recv(connection, in + got, bytes - got, MSG_DONTWAIT)) > 0) got += n, moved = 1;
    if (moved) continue;
    struct pollfd wanted = {connection, (short)((got < bytes ? POLLIN : 0) | (sent < bytes ? POLLOUT : 0)), 0};
    poll(&wanted, 1, 1000);
  }
}

static void reduce_socket(size_t bytes) {
  if (bytes <= SMALL) {
    exchange(data, room, bytes);
    add(data, room, bytes);
    return;
  }
  size_t half = bytes / 2;
  char *mine = data + rank * half, *other = data + !rank * half;
  for (size_t at = 0; at < half; at += SEGMENT) {
    size_t n = half - at < SEGMENT ? half - at : SEGMENT;
    exchange(other + at, room, n);
    add(mine + at, room, n);
  }
  for (size_t at = 0; at < half; at += SEGMENT) {
    size_t n = half - at < SEGMENT ? half - at : SEGMENT;
    exchange(mine + at, other + at, n);
  }
}

static void connect_tcp(int ends[2]) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  // Where reno is not to be had the system's own choice stays.
  setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  setsockopt(ends[0], IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  if (bind(listener, (void *)&at, length) || listen(listener, 1) || getsockname(listener, (void *)&at, &length)) fail("listen");
  if (connect(ends[0], (void *)&at, length)) fail("connect");
  ends[1] = accept(listener, 0, 0);
  for (int i = 0; i < 2; i++) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  close(listener);
}

static void connect_ends(const char *mode, int ends[2]) {
  if (!strncmp(mode, "tcp", 3)) connect_tcp(ends);
  else if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair");
  for (int i = 0; strstr(mode, "-spin") && i < 2; i++) fcntl(ends[i], F_SETFL, O_NONBLOCK);
}

static char *aligned(size_t bytes) {
  void *p;
  if (posix_memalign(&p, 64, bytes)) fail("memory");
  memset(p, 0, bytes);
  return p;
}

typedef void (*operation)(size_t bytes);

static void check_sum(operation reduce, size_t bytes) {
  float *values = (float *)data;
  for (size_t i = 0; i < bytes / 4; i++) values[i] = rank + 1;
  reduce(bytes);
  for (size_t i = 0; i < bytes / 4; i++)
    if (values[i] != ranks * (ranks + 1) / 2) { fprintf(stderr, "limits: wrong sum at %zu of %zu bytes\n", i, bytes); exit(1); }
  memset(data, 0, bytes);
}

static int agreed_iterations(double each) {
  double n = seconds / (each > 1e-9 ? each : 1e-9) + 1;
  barrier();
  if (rank == 0) shared->iterations.value = n > 200000 ? 200000 : n;
  barrier();
  return shared->iterations.value;
}

static void measure(operation op, size_t bytes) {
  op(bytes);
  int n = bytes > 1 << 20 ? 2 : 6;
  double start;
  for (int again = 0; again < 2; again++) { // the first few are slower than those to come
    start = now();
    for (int i = 0; i < n; i++) op(bytes);
    n = agreed_iterations((now() - start) / n);
  }
  for (int r = 0; r < repetitions; r++) {
    barrier();
    start = now();
    for (int i = 0; i < n; i++) op(bytes);
    if (rank == 0) printf("%zu %.4f\n", bytes, (now() - start) / n * 1e6);
  }
  barrier();
}

static operation choose(const char *mode, const char *op) {
  int memory = !strcmp(mode, "shm");
  if (!strcmp(op, "allreduce")) return memory ? reduce_shared : reduce_socket;
  if (!strcmp(op, "pingpong")) return memory ? pingpong_shared : pingpong_socket;
  if (!strcmp(op, "stream")) return memory ? stream_shared : stream_socket;
  fprintf(stderr, "limits: no operation %s\n", op);
  exit(2);
}

static void bind_to_core(int cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(rank % cores, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void start_rank(int r) {
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child > 0) return;
  rank = r;
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a rank that spins would never notice
}

int main(int argc, char **argv) {
  if (argc < 8) { fprintf(stderr, "usage: limits REPETITIONS SECONDS MODE RANKS OPERATION TYPE BYTES...\n"); return 2; }
  repetitions = atoi(argv[1]), seconds = atof(argv[2]), ranks = atoi(argv[4]);
  const char *mode = argv[3];
  operation op = choose(mode, argv[5]);
  int ends[2] = {-1, -1}, cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (ranks < 2 || ranks > MOST_RANKS || (strcmp(mode, "shm") && ranks != 2)) { fprintf(stderr, "limits: %s cannot have %d ranks\n", mode, ranks); return 2; }
  shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("mmap");
  patience = ranks > cores ? 20 : 2000;
  if (strcmp(mode, "shm")) connect_ends(mode, ends);
  for (int r = 1; r < ranks && rank == 0; r++) start_rank(r);
  connection = ends[rank & 1];
  bind_to_core(cores);
  for (int i = 7; i < argc; i++) {
    size_t bytes = strtoull(argv[i], 0, 10);
    data = aligned(bytes), room = aligned(bytes);
    if (op == reduce_shared || op == reduce_socket) check_sum(op, bytes);
    measure(op, bytes);
    free(data), free(room);
  }
  if (rank != 0) return 0;
  int status, code = 0;
  while (wait(&status) > 0) code |= status != 0;
  return code;
}
