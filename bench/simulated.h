// Simulated ranks: thousands of them in one process, which run the library's own code over many ranks one after the other.
//
// Each rank is a thread with a small stack, of which one at a time goes on: at a message it waits, the next rank goes on,
// and the last one that arrives carries the message out for all. So a run is the same each time. Messages are counted as
// src/cluster/mpi sends them (all-to-all) or as MPI libraries do (the others), and each rank has a clock that a message
// moves on: a message of n bytes keeps its sender busy for `overhead + n * per_byte`, is `latency` later at the receiver,
// and keeps that one busy for `overhead`. Nothing but messages moves the clocks.
#ifndef SAPWOOD_BENCH_SIMULATED_H
#define SAPWOOD_BENCH_SIMULATED_H

#include "sapwood/cluster.h"

// Seconds; the model is LogGP's (Alexandrov, Ionescu, Schauser, Scheiman 1995), with what it takes to add up.
typedef struct ranks_network {
    double latency, overhead, per_byte;
    double per_byte_reduced; // on the processor that adds
} ranks_network;

// 100 Gbit/s, 1 microsecond from card to card.
static const ranks_network RANKS_NETWORK = {1e-6, 0.4e-6, 1 / 12.5e9, 0.1e-9};

// All-reduces of more bytes go in halves (Rabenseifner 2004): less is sent, in twice as many steps.
enum { RANKS_SMALL_REDUCE = 2048 };

// The messages of one kind: calls of a rank, and what all ranks together sent to others.
typedef struct ranks_sent {
    int64_t calls, messages, bytes;
} ranks_sent;

typedef struct ranks_counts {
    ranks_sent gather, exchange, reduce;
    int64_t most_messages, most_bytes; // of one rank, in all exchanges
    double seconds;                    // the latest clock
} ranks_counts;

// A rank, as its work sees it.
typedef struct ranks_rank {
    sap_comm* comm;
    sap_allocator allocator; // that counts
    int64_t bytes, most;     // that it has lent, and at once; `most` may be set
    int32_t rank;
    struct ranks_group* group;
} ranks_rank;

typedef void ranks_work(ranks_rank* rank, void* context);

// Runs `work` on each of `size` ranks. False if there is no memory, or not as many threads.
bool ranks_run(int32_t size, const ranks_network* network, ranks_work* work, void* context);

// For the work of a rank, at the same place on all: what they have sent since the last call.
void ranks_take_counts(ranks_rank* rank, ranks_counts* counts);

// Messages without data, for programs that send what the library would.
void ranks_gather(ranks_rank* rank, int64_t bytes);
void ranks_reduce(ranks_rank* rank, int64_t words);
void ranks_exchange(ranks_rank* rank, const int64_t* bytes); // to each rank

#endif
