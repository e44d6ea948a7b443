// Trees over MPI's ranks: `mpirun -n N mpi_cluster`. Every rank makes all points, gives its part of them, and compares the
// answers with those of one tree. Exits with 1 if anything differs; the last line is rank 0's.
#include "sapwood/mpi/comm.h"
#include "sapwood/points.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 5000, QUERIES = 60, K = 8, DIMS = 3 };

static int failures;

static void check(bool held, const char* what) {
    if (held) return;
    failures++;
    printf("failed: %s\n", what);
}

static float* make_points(void) {
    float* coords = malloc(POINTS * DIMS * sizeof *coords);
    uint64_t state = 7;
    for (int i = 0; coords && i < POINTS * DIMS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        coords[i] = (float)(state >> 40) / 65536;
        if (i % 7 == 0) coords[i] = floorf(coords[i] / 8); // many equal ones
    }
    return coords;
}

static void check_nearest(const sap_cluster_tree* tree, const sap_tree* one, sap_points queries) {
    static int64_t ids[QUERIES * K];
    static int32_t expected[QUERIES * K];
    static float near[QUERIES * K], expected_near[QUERIES * K];
    const sap_search search = {.k = K};
    const size_t cells = (size_t)queries.count * K;
    check(sap_cluster_nearest(tree, queries, &search, ids, near) == SAP_OK, "sap_cluster_nearest");
    check(sap_nearest(one, queries, &search, expected, expected_near) == SAP_OK, "sap_nearest");
    for (size_t i = 0; i < cells; i++) check(ids[i] == expected[i], "an id");
    check(!memcmp(near, expected_near, cells * sizeof *near), "distances");
}

static void check_radius(const sap_cluster_tree* tree, const sap_tree* one, sap_points queries) {
    sap_cluster_neighbors* found = NULL;
    sap_neighbors* expected = NULL;
    const bool both =
        sap_cluster_radius(tree, queries, 2, &found) == SAP_OK && sap_radius(one, queries, 2, &expected) == SAP_OK;
    check(both, "sap_cluster_radius");
    for (int64_t q = 0; both && q <= queries.count; q++) check(found->offsets[q] == expected->offsets[q], "an offset");
    for (int64_t i = 0; both && !failures && i < expected->offsets[queries.count]; i++)
        check(found->ids[i] == expected->ids[i], "an id within the radius");
    sap_neighbors_free(expected);
    sap_cluster_neighbors_free(found);
}

static void check_tree(sap_comm* comm, sap_device* device, const float* coords) {
    const int64_t rank = sap_comm_rank(comm), size = sap_comm_size(comm);
    const int64_t from = POINTS * rank / size, to = POINTS * (rank + 1) / size;
    const sap_points share = {coords + from * DIMS, to - from, DIMS, 0}, all = {coords, POINTS, DIMS, 0};
    // Queries of other ranks' points.
    const sap_points queries = {coords + (POINTS - to) * DIMS / 2, QUERIES, DIMS, 0};
    sap_cluster_tree* tree = NULL;
    sap_tree* one = NULL;
    check(sap_tree_build(device, all, NULL, &one) == SAP_OK, "sap_tree_build");
    check(sap_cluster_build(comm, device, share, NULL, NULL, &tree) == SAP_OK, "sap_cluster_build");
    if (one && tree) {
        check_nearest(tree, one, queries);
        check_radius(tree, one, queries);
    }
    sap_cluster_free(tree);
    sap_tree_free(one);
    // A rank's mistake is all ranks' status.
    sap_points wrong = share;
    wrong.dims = rank == size - 1 ? 0 : DIMS;
    check(sap_cluster_build(comm, device, wrong, NULL, NULL, &tree) == SAP_ERROR_ARGUMENT, "an argument");
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    sap_device* device = NULL;
    sap_comm *comm = NULL, *part = NULL, *world = NULL;
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    float* coords = make_points();
    check(coords && sap_device_open(&options, &device) == SAP_OK, "sap_device_open");
    check(sap_comm_open_mpi(MPI_COMM_NULL, NULL, &comm) == SAP_ERROR_ARGUMENT, "MPI_COMM_NULL");
    check(sap_comm_open_mpi(MPI_COMM_WORLD, NULL, &comm) == SAP_OK, "sap_comm_open_mpi");
    if (!failures) {
        check_tree(comm, device, coords);
        const int32_t rank = sap_comm_rank(comm);
        check(sap_comm_split(comm, rank ? rank % 2 : -1, -rank, &part) == SAP_OK, "sap_comm_split");
        check((part == NULL) == (rank == 0), "the parts");
        if (part) check_tree(part, device, coords);
    }
    check(sap_comm_open_world(NULL, NULL) == SAP_ERROR_ARGUMENT, "no handle");
    check(sap_comm_open_world(NULL, &world) == SAP_OK, "sap_comm_open_world"); // and leaves MPI as it is
    check(sap_comm_size(world) == sap_comm_size(comm) && sap_comm_rank(world) == sap_comm_rank(comm), "the world");
    sap_comm_close(world);
    sap_comm_close(part);
    sap_comm_close(comm);
    sap_device_close(device);
    free(coords);
    int all = 0, rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) printf("%d ranks, %d failures\n", size, all);
    MPI_Finalize();
    return all != 0;
}
