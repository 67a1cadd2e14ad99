//go:build cgo && mpi

#include "bridge.h"

#include <sched.h>
#include <string.h>
#include <time.h>

MPI_Comm lk_world(void) { return MPI_COMM_WORLD; }

int lk_state(int *started, int *finalised, int *threads) {
  int level = 0, rc;
  *threads = 0;
  if ((rc = MPI_Initialized(started)) || (rc = MPI_Finalized(finalised))) return rc;
  if (!*started || *finalised) return MPI_SUCCESS;
  rc = MPI_Query_thread(&level);
  *threads = level == MPI_THREAD_MULTIPLE;
  return rc;
}

int lk_start(int *threads) {
  int level = 0, rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  *threads = level == MPI_THREAD_MULTIPLE;
  return rc;
}

int lk_return_errors(MPI_Comm comm) { return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

int lk_dup(MPI_Comm comm, MPI_Comm *out) {
  int rc = MPI_Comm_dup(comm, out);
  return rc ? rc : lk_return_errors(*out);
}

int lk_split(MPI_Comm comm, int color, int key, MPI_Comm *out) {
  int rc = MPI_Comm_split(comm, color < 0 ? MPI_UNDEFINED : color, key, out);
  if (rc || *out == MPI_COMM_NULL) return rc;
  return lk_return_errors(*out);
}

int lk_free(MPI_Comm comm) { return MPI_Comm_free(&comm); }

int lk_tag_limit(long *limit) {
  int *value = NULL, found = 0;
  int rc = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  *limit = found ? *value : 32767; /* what the standard grants at least */
  return rc;
}

// Describes bytes > piece as q pieces and a rest.
static int describe(size_t bytes, int piece, MPI_Datatype *out) {
  MPI_Datatype one, many;
  int rc;
  if ((rc = MPI_Type_contiguous(piece, MPI_BYTE, &one))) return rc;
  if ((rc = MPI_Type_contiguous((int)(bytes / piece), one, &many))) return rc;
  int lengths[2] = {1, (int)(bytes % piece)};
  MPI_Aint offsets[2] = {0, (MPI_Aint)(bytes - bytes % piece)};
  MPI_Datatype types[2] = {many, MPI_BYTE};
  if ((rc = MPI_Type_create_struct(2, lengths, offsets, types, out))) return rc;
  if ((rc = MPI_Type_commit(out))) return rc;
  if ((rc = MPI_Type_free(&one))) return rc;
  return MPI_Type_free(&many);
}

// How many elements of which type are bytes; a described type is the caller's to
// release once the transfer has started.
static int measure(size_t bytes, int piece, int *count, MPI_Datatype *type) {
  *count = (int)bytes;
  *type = MPI_BYTE;
  if (bytes <= (size_t)piece) return MPI_SUCCESS;
  *count = 1;
  return describe(bytes, piece, type);
}

static int release(int rc, MPI_Datatype type) {
  if (type == MPI_BYTE) return rc;
  int freed = MPI_Type_free(&type);
  return rc ? rc : freed;
}

int lk_send(const void *data, size_t bytes, int piece, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  MPI_Datatype type;
  int count, rc = measure(bytes, piece, &count, &type);
  return rc ? rc : release(MPI_Isend(data, count, type, peer, tag, comm, request), type);
}

int lk_receive(void *data, size_t bytes, int piece, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  MPI_Datatype type;
  int count, rc = measure(bytes, piece, &count, &type);
  return rc ? rc : release(MPI_Irecv(data, count, type, peer, tag, comm, request), type);
}

int lk_receive_matched(void *data, size_t bytes, int piece, lk_message *message, MPI_Request *request) {
  MPI_Datatype type;
  int count, rc = measure(bytes, piece, &count, &type);
  return rc ? rc : release(MPI_Imrecv(data, count, type, &message->handle, request), type);
}

int lk_sum(void *data, int count, int kind, MPI_Comm comm, MPI_Request *request) {
  MPI_Datatype types[] = {MPI_INT32_T, MPI_INT64_T, MPI_UINT32_T, MPI_UINT64_T, MPI_FLOAT, MPI_DOUBLE};
  return MPI_Iallreduce(MPI_IN_PLACE, data, count, types[kind], MPI_SUM, comm, request);
}

static long microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

// Whether a burst that began at start is over. After a few microseconds other
// processes may run between tests: there can be more ranks than cores.
static int over(long start, long micros) {
  long spent = microseconds() - start;
  if (spent >= 5) sched_yield();
  return spent >= micros;
}

int lk_test(int n, MPI_Request *requests, MPI_Status *statuses, long micros, int *done, int *failed) {
  long start = microseconds();
  *done = 0;
  do {
    int rc = MPI_Testall(n, requests, done, statuses);
    if (rc == MPI_ERR_IN_STATUS) {
      for (*failed = 0; *failed < n; ++*failed) {
        rc = statuses[*failed].MPI_ERROR;
        if (rc != MPI_SUCCESS && rc != MPI_ERR_PENDING) return rc;
      }
      return MPI_ERR_OTHER;
    }
    if (rc || *done) return rc;
  } while (!over(start, micros));
  return MPI_SUCCESS;
}

int lk_complete(MPI_Request request, int *done) {
  return MPI_Request_get_status(request, done, MPI_STATUS_IGNORE);
}

int lk_bytes(const MPI_Status *status, long long *bytes) {
  MPI_Count count = 0;
  int rc = MPI_Get_elements_x((MPI_Status *)status, MPI_BYTE, &count);
  *bytes = count;
  return rc;
}

int lk_probe(int source, int tag, MPI_Comm comm, long micros, int *found, lk_message *message) {
  long start = microseconds();
  MPI_Status status;
  *found = 0;
  do {
    int rc = MPI_Improbe(source, tag, comm, found, &message->handle, &status);
    if (rc) return rc;
    if (*found) return lk_bytes(&status, &message->bytes);
  } while (!over(start, micros));
  return MPI_SUCCESS;
}

int lk_take(int tag, MPI_Comm comm, void *data, int room, int *found, int *source, int *bytes) {
  MPI_Message message;
  MPI_Status status;
  *found = 0;
  int rc = MPI_Improbe(MPI_ANY_SOURCE, tag, comm, found, &message, &status);
  if (rc || !*found) return rc;
  *source = status.MPI_SOURCE;
  /* Small enough to have come whole with its header, so this does not wait. */
  if ((rc = MPI_Mrecv(data, room, MPI_BYTE, &message, &status))) return rc;
  return MPI_Get_count(&status, MPI_BYTE, bytes);
}

void lk_text(int code, char *text) {
  int length = 0;
  MPI_Error_string(code, text, &length);
  text[length] = 0;
}
