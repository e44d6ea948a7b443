/**
 * @file mpi/comm.h
 * MPI as the engine of a communicator (cluster.h). These functions are in a library of their own, libsapwood_mpi, which is
 * built where MPI is found and linked to that MPI; sapwood.h does not include this header.
 */
#ifndef SAPWOOD_MPI_COMM_H
#define SAPWOOD_MPI_COMM_H

#include "../cluster.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a handle for the ranks of an MPI communicator: one process a rank, under any launcher. Collective over them. MPI
 * must have been initialised, and not finalised before the handle is closed; calls come from one thread at a time
 * (MPI_THREAD_FUNNELED or better). Messages go through a duplicate of `mpi`, so they never meet the program's own;
 * `allocator` NULL: the C library's heap. Buffers lie in host memory. Messages of any size go in pieces of at most 2^30
 * bytes.
 *
 * An error that MPI returns becomes SAP_ERROR_IO, and ::sap_comm_abort calls MPI_Abort, which ends the processes: MPI has
 * no other way to end the waiting of all ranks. Errors: SAP_ERROR_ARGUMENT (comm NULL, MPI_COMM_NULL, MPI not
 * initialised), SAP_ERROR_MEMORY (the same on all ranks), SAP_ERROR_IO (MPI refuses to duplicate the communicator).
 */
SAP_API sap_status sap_comm_open_mpi(MPI_Comm mpi, const sap_allocator* allocator, sap_comm** comm);

/**
 * Makes a handle for all processes that a launcher has started, in a program that need not know MPI: it may load
 * libsapwood_mpi when it runs, as the command `sapwood` does. Initialises MPI (MPI_THREAD_FUNNELED) if nobody has; then
 * closing the handle finalises MPI, so it is to be closed after all others. Collective over them. Errors: as
 * ::sap_comm_open_mpi; SAP_ERROR_IO also if MPI was finalised before.
 */
SAP_API sap_status sap_comm_open_world(const sap_allocator* allocator, sap_comm** comm);

#ifdef __cplusplus
}
#endif
#endif
