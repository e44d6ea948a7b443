// One tree over the points of many processes: each reads its rows of one file, and writes the numbers of the nearest points
// of each into its place of another.
//   mpirun -n 4 ranks scan.npy 8 ids.npy
#include <sapwood/mpi/comm.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>

static void log_error(void* user, sap_status status, const char* message) {
    if (status != SAP_OK) fprintf(stderr, "%s: %s\n", (const char*)user, message);
}

static sap_status search(sap_comm* comm, sap_device* device, const sap_point_set* set, int64_t first, int64_t all,
                         int32_t k, const char* path) {
    const sap_points share = {set->coords, set->count, set->dims, 0};
    const sap_search wanted = {.k = k};
    sap_cluster_tree* tree = NULL;
    int64_t* ids = malloc((size_t)(set->count * k + 1) * sizeof *ids);
    sap_status status = sap_cluster_build(comm, device, share, NULL, NULL, &tree); // ids are the rows of the file
    if (status == SAP_OK) status = sap_cluster_nearest(tree, share, &wanted, ids, NULL);
    const sap_table table = {.values = ids, .rows = set->count, .columns = k, .number = SAP_INT64};
    if (status == SAP_OK) status = sap_table_write_part(device, path, table, first, all);
    sap_cluster_free(tree);
    free(ids);
    return status;
}

int main(int count, char** arguments) {
    sap_comm* comm = NULL;
    sap_device* device = NULL;
    sap_point_set* set = NULL;
    int64_t first = 0, all = 0;
    MPI_Init(&count, &arguments);
    if (count != 4 || sap_comm_open_mpi(MPI_COMM_WORLD, NULL, &comm) != SAP_OK) MPI_Abort(MPI_COMM_WORLD, 2);
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1, .log = log_error, .log_user = arguments[0]};
    sap_status status = sap_device_open(&options, &device);
    if (status == SAP_OK)
        status = sap_points_read_part(device, arguments[1], SAP_FORMAT_AUTO, 32, NULL, sap_comm_rank(comm),
                                      sap_comm_size(comm), &first, &all, &set);
    if (status != SAP_OK || !set) {
        sap_comm_abort(comm, status); // the others would wait
        return 1;
    }
    status = search(comm, device, set, first, all, (int32_t)atoi(arguments[2]), arguments[3]);
    sap_point_set_free(set);
    sap_device_close(device);
    sap_comm_close(comm);
    MPI_Finalize();
    return status != SAP_OK;
}
