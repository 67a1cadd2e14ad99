// What Go calls of Open MPI. All functions that can fail return MPI's code.
#ifndef LOCKSTEP_BRIDGE_H
#define LOCKSTEP_BRIDGE_H

#if __has_include(<mpi.h>)
#include <mpi.h>
#elif __has_include(<mpi/mpi.h>)
#include <mpi/mpi.h> /* Debian's multiarch alternative */
#else
#error "mpi.h was not found: set CGO_CFLAGS to the output of mpicc --showme:compile"
#endif
#ifndef OPEN_MPI
#error "the build tag mpi needs Open MPI; this is another MPI"
#endif

#include <stddef.h>

// A message that a probe has matched and nobody else can receive.
typedef struct {
  MPI_Message handle;
  long long bytes;
} lk_message;

// The world is a macro in C.
MPI_Comm lk_world(void);

// Whether MPI was started, was finalised, and allows calls from all threads.
int lk_state(int *started, int *finalised, int *threads);
// Starts MPI; *threads tells whether calls from all threads are allowed.
int lk_start(int *threads);

// Makes errors on comm return instead of ending the job.
int lk_return_errors(MPI_Comm comm);
// Blocking, to be called once all members are known to be on their way. A
// negative color gives MPI_COMM_NULL in *out.
int lk_dup(MPI_Comm comm, MPI_Comm *out);
int lk_split(MPI_Comm comm, int color, int key, MPI_Comm *out);
int lk_free(MPI_Comm comm);
// The largest tag, which only the world tells.
int lk_tag_limit(long *limit);

// Start a transfer of bytes; counts above piece are described as several pieces
// in one derived type, so that a message is one message at any length.
int lk_send(const void *data, size_t bytes, int piece, int peer, int tag, MPI_Comm comm, MPI_Request *request);
int lk_receive(void *data, size_t bytes, int piece, int peer, int tag, MPI_Comm comm, MPI_Request *request);
int lk_receive_matched(void *data, size_t bytes, int piece, lk_message *message, MPI_Request *request);

// Starts a sum over all members, in place, of int32, int64, uint32, uint64, float32 or float64, which
// kind numbers from 0.
int lk_sum(void *data, int count, int kind, MPI_Comm comm, MPI_Request *request);

// Test all requests until they are complete or the time is over. On failure
// *failed is the request that failed.
int lk_test(int n, MPI_Request *requests, MPI_Status *statuses, long micros, int *done, int *failed);
// Whether one request is complete, without completing it.
int lk_complete(MPI_Request request, int *done);
// Bytes that the status of a completed receive tells of.
int lk_bytes(const MPI_Status *status, long long *bytes);
// Look for a message until there is one or the time is over.
int lk_probe(int source, int tag, MPI_Comm comm, long micros, int *found, lk_message *message);
// Take one small message from anybody, if there is one.
int lk_take(int tag, MPI_Comm comm, void *data, int room, int *found, int *source, int *bytes);

// The text of an error code, in a buffer of MPI_MAX_ERROR_STRING.
void lk_text(int code, char *text);

#endif
