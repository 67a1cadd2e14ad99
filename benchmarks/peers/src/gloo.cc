// Gloo's all-reduce over TCP on loopback, in place. One line for each repetition: bytes, microseconds for one
// operation. Rank and size are LOCKSTEP_RANK and LOCKSTEP_SIZE.
//
//   gloo REPETITIONS SECONDS ALGORITHM DIRECTORY OPERATION TYPE BYTES...
//
// The algorithms are ring and bcube (of gloo::allreduce), chunked and halving (of the older classes) and busy
// (chunked, received by the caller in a loop). The type is f32. The ranks meet in an empty directory.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using Context = std::shared_ptr<gloo::rendezvous::Context>;
using Kind = gloo::AllreduceOptions::Algorithm;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static Context meet(const char* name, const std::string& directory, int rank, int size) {
  gloo::transport::tcp::attr loopback;
  loopback.iface = "lo";
  auto device = gloo::transport::tcp::CreateDevice(loopback);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  gloo::rendezvous::FileStore files(directory);
  gloo::rendezvous::PrefixStore store(name, files);
  context->connectFullMesh(store, device);
  return context;
}

static void allreduce(const Context& context, float* data, size_t n, Kind kind, bool largest = false) {
  void (*combine)(void*, const void*, const void*, size_t) = &gloo::sum<float>;
  if (largest) combine = &gloo::max<float>;
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(kind);
  options.setTimeout(std::chrono::seconds(60));
  options.setOutput(data, n);
  options.setReduceFunction(combine);
  gloo::allreduce(options);
}

// operation is the all-reduce of one buffer by a named algorithm.
static std::function<void()> operation(const Context& context, const std::string& algorithm, float* data, size_t n) {
  if (algorithm == "ring") return [=] { allreduce(context, data, n, Kind::RING); };
  if (algorithm == "bcube") return [=] { allreduce(context, data, n, Kind::BCUBE); };
  std::vector<float*> buffers{data};
  std::shared_ptr<gloo::Algorithm> prepared;
  if (algorithm == "halving") prepared.reset(new gloo::AllreduceHalvingDoubling<float>(context, buffers, n));
  else prepared.reset(new gloo::AllreduceRingChunked<float>(context, buffers, n));
  return [=] { prepared->run(); };
}

struct Run {
  int rank, size, repetitions;
  double seconds;
  std::string algorithm;
  Context data, control;
};

static void barrier(const Run& run) {
  gloo::BarrierOptions options(run.control);
  gloo::barrier(options);
}

static int agreed_iterations(const Run& run, double each) {
  float n = std::min(200000.0, run.seconds / each + 1);
  allreduce(run.control, &n, 1, Kind::RING, true);
  return static_cast<int>(n);
}

static void measure(const Run& run, size_t bytes) {
  size_t n = bytes / sizeof(float);
  void* memory;
  if (posix_memalign(&memory, 64, bytes)) exit(1);
  float* data = static_cast<float*>(memory);
  std::fill(data, data + n, run.rank + 1);
  auto op = operation(run.data, run.algorithm, data, n);
  op();
  for (size_t i = 0; i < n; i++)
    if (data[i] != run.size * (run.size + 1) / 2) { fprintf(stderr, "gloo: wrong sum\n"); exit(1); }
  std::fill(data, data + n, 0);
  op();
  int iterations = bytes > 1 << 20 ? 2 : 6;
  double start;
  for (int again = 0; again < 2; again++) { // the first few are slower than those to come
    start = now();
    for (int i = 0; i < iterations; i++) op();
    iterations = agreed_iterations(run, (now() - start) / iterations);
  }
  for (int r = 0; r < run.repetitions; r++) {
    barrier(run);
    start = now();
    for (int i = 0; i < iterations; i++) op();
    if (run.rank == 0) printf("%zu %.4f\n", bytes, (now() - start) / iterations * 1e6);
  }
  op = nullptr;
  barrier(run);
  free(memory);
}

static int from_environment(const char* name) {
  const char* value = getenv(name);
  if (!value) { fprintf(stderr, "gloo: %s is not set\n", name); exit(2); }
  return atoi(value);
}

int main(int argc, char** argv) {
  if (argc < 8) { fprintf(stderr, "usage: gloo REPETITIONS SECONDS ALGORITHM DIRECTORY OPERATION TYPE BYTES...\n"); return 2; }
  Run run{from_environment("LOCKSTEP_RANK"), from_environment("LOCKSTEP_SIZE"), atoi(argv[1]), atof(argv[2]), argv[3], nullptr, nullptr};
  run.data = meet("data", argv[4], run.rank, run.size);
  run.control = meet("control", argv[4], run.rank, run.size);
  if (run.algorithm == "busy")
    for (int r = 0; r < run.size; r++) if (r != run.rank) run.data->getPair(r)->setSync(true, true);
  for (int i = 7; i < argc; i++) measure(run, atol(argv[i]));
}
