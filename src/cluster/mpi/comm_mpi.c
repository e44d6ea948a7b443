// MPI's engine. It uses the library through its public headers alone, because it is a library of its own.
//
// All-to-all goes pair by pair: in step s rank r sends to r + s and receives from r - s, at most PIECE bytes at a time, and
// nothing where there is nothing to say. So counts are never wider than MPI's int, and no graph of neighbours is made.
#include "sapwood/mpi/comm.h"
#include <stdlib.h>
#include <string.h>

#if !defined(SAP_MPI_PIECE) // a test makes it small
#define SAP_MPI_PIECE (1 << 30)
#endif
enum { PIECE = SAP_MPI_PIECE, TAG = 1 };

typedef struct engine_state {
    MPI_Comm mpi;
    int rank, size;
    sap_allocator allocator;
    bool heap;  // no allocator was given
    bool begun; // MPI, by this handle, which ends it
} engine_state;

static sap_status status_of(int error) { return error == MPI_SUCCESS ? SAP_OK : SAP_ERROR_IO; }

static int piece_of(int64_t bytes, int64_t done) {
    const int64_t left = bytes - done;
    return left < PIECE ? (int)(left > 0 ? left : 0) : PIECE;
}

// Sends to one rank and receives from another, which may be this one.
static sap_status swap(const engine_state* e, int to, const unsigned char* out, int64_t out_bytes, int from,
                       unsigned char* in, int64_t in_bytes) {
    for (int64_t done = 0; done < out_bytes || done < in_bytes; done += PIECE) {
        const int sends = piece_of(out_bytes, done), receives = piece_of(in_bytes, done);
        const int error = MPI_Sendrecv(sends ? out + done : NULL, sends, MPI_BYTE, sends ? to : MPI_PROC_NULL, TAG,
                                       receives ? in + done : NULL, receives, MPI_BYTE, receives ? from : MPI_PROC_NULL,
                                       TAG, e->mpi, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return SAP_ERROR_IO;
    }
    return SAP_OK;
}

static sap_status gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    const engine_state* e = state;
    unsigned char* to = all;
    (void)stream;
    if (bytes <= PIECE) return status_of(MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, e->mpi));
    memcpy(to + e->rank * bytes, mine, (size_t)bytes);
    for (int step = 1; step < e->size; step++) {
        const int next = (e->rank + step) % e->size, last = (e->rank + e->size - step) % e->size;
        const sap_status status = swap(e, next, mine, bytes, last, to + last * bytes, bytes);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

static int64_t sum_before(const int64_t* bytes, int rank) {
    int64_t sum = 0;
    for (int r = 0; r < rank; r++) sum += bytes[r];
    return sum;
}

static sap_status exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream) {
    const engine_state* e = state;
    const unsigned char* out = send;
    unsigned char* in = receive;
    (void)stream;
    // Where the parts of the ranks lie that come next, from this one on, upwards and downwards.
    int64_t out_at = sum_before(send_bytes, e->rank), in_at = sum_before(receive_bytes, e->rank);
    if (send_bytes[e->rank]) memcpy(in + in_at, out + out_at, (size_t)send_bytes[e->rank]);
    for (int step = 1; step < e->size; step++) {
        const int next = (e->rank + step) % e->size, last = (e->rank + e->size - step) % e->size;
        out_at = next ? out_at + send_bytes[next - 1] : 0;
        in_at = (last + 1 < e->size ? in_at : sum_before(receive_bytes, e->size)) - receive_bytes[last];
        const unsigned char* from = send_bytes[next] ? out + out_at : NULL;
        unsigned char* to = receive_bytes[last] ? in + in_at : NULL;
        const sap_status status = swap(e, next, from, send_bytes[next], last, to, receive_bytes[last]);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// MPICH 4.0 compares unsigned numbers as if they had signs. So smallest and largest are those of numbers that have: half of
// the range is taken off before, and put back behind.
static void shift_range(sap_reduction how, uint64_t* values, int64_t count) {
    for (int64_t i = 0; i < count && how != SAP_REDUCE_SUM; i++) values[i] ^= UINT64_C(1) << 63;
}

static sap_status reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    const engine_state* e = state;
    const MPI_Op operation = how == SAP_REDUCE_SUM ? MPI_SUM : how == SAP_REDUCE_MIN ? MPI_MIN : MPI_MAX;
    const MPI_Datatype type = how == SAP_REDUCE_SUM ? MPI_UINT64_T : MPI_INT64_T;
    const int64_t step = PIECE / (int)sizeof *values;
    (void)stream;
    shift_range(how, values, count);
    for (int64_t done = 0; done < count; done += step) {
        const int part = (int)(count - done < step ? count - done : step);
        if (MPI_Allreduce(MPI_IN_PLACE, values + done, part, type, operation, e->mpi) != MPI_SUCCESS)
            return SAP_ERROR_IO;
    }
    shift_range(how, values, count);
    return SAP_OK;
}

static void abort_job(void* state, sap_status status) { MPI_Abort(((engine_state*)state)->mpi, (int)status); }

static void close_state(void* state) {
    engine_state* e = state;
    const sap_allocator memory = e->allocator;
    const bool heap = e->heap;
    MPI_Comm_free(&e->mpi);
    if (e->begun) MPI_Finalize();
    if (heap)
        free(e);
    else
        memory.release(memory.user, e, sizeof *e);
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part);

static const sap_comm_engine engine = {gather, exchange, reduce, split, abort_job, close_state, false, {0}};

// Makes a handle that owns `mpi`, and MPI if it was begun for it, unless memory is lacking on one of its ranks.
static sap_status open_on(MPI_Comm mpi, bool begun, const sap_allocator* allocator, sap_comm** comm) {
    engine_state* e = allocator ? allocator->allocate(allocator->user, sizeof *e, 64) : malloc(sizeof *e);
    sap_comm* made = NULL;
    sap_status status = e ? SAP_OK : SAP_ERROR_MEMORY;
    MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
    if (e) {
        *e = (engine_state){.mpi = mpi, .heap = !allocator, .begun = begun};
        if (allocator) e->allocator = *allocator;
        MPI_Comm_rank(mpi, &e->rank);
        MPI_Comm_size(mpi, &e->size);
        status = sap_comm_open(&engine, e, e->rank, e->size, allocator, &made);
    }
    int worst = (int)status;
    if (MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, mpi) != MPI_SUCCESS) worst = SAP_ERROR_IO;
    if (worst == SAP_OK) {
        *comm = made;
        return SAP_OK;
    }
    if (made)
        sap_comm_close(made);
    else if (e)
        close_state(e);
    else
        MPI_Comm_free(&mpi);
    if (begun && !e) MPI_Finalize();
    return (sap_status)worst;
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part) {
    const engine_state* e = state;
    MPI_Comm divided;
    *part = NULL;
    if (MPI_Comm_split(e->mpi, color < 0 ? MPI_UNDEFINED : color, key, &divided) != MPI_SUCCESS) return SAP_ERROR_IO;
    return divided == MPI_COMM_NULL ? SAP_OK : open_on(divided, false, e->heap ? NULL : &e->allocator, part);
}

sap_status sap_comm_open_mpi(MPI_Comm mpi, const sap_allocator* allocator, sap_comm** comm) {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (!initialised || mpi == MPI_COMM_NULL || !comm) return SAP_ERROR_ARGUMENT;
    if (allocator && (!allocator->allocate || !allocator->release)) return SAP_ERROR_ARGUMENT;
    MPI_Comm own;
    if (MPI_Comm_dup(mpi, &own) != MPI_SUCCESS) return SAP_ERROR_IO;
    return open_on(own, false, allocator, comm);
}

sap_status sap_comm_open_world(const sap_allocator* allocator, sap_comm** comm) {
    int initialised = 0, finalised = 0, provided;
    if (!comm || (allocator && (!allocator->allocate || !allocator->release))) return SAP_ERROR_ARGUMENT;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (finalised) return SAP_ERROR_IO;
    if (!initialised && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return SAP_ERROR_IO;
    MPI_Comm own;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &own) == MPI_SUCCESS) return open_on(own, !initialised, allocator, comm);
    if (!initialised) MPI_Finalize();
    return SAP_ERROR_IO;
}
