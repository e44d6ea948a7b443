// One tree over the GPUs of one machine, without MPI: a thread for each, which reads its rows of one file and writes the
// numbers of the nearest points of each into its place of another. Without GPUs the threads share the CPU.
//   gpus 2 scan.npy 8 ids.npy
#include <pthread.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

typedef struct rank {
    sap_comm* comm; // this thread's handle
    sap_processor processor;
    const char *points, *ids;
    int32_t k;
    int64_t all; // rows of the file
    sap_status status;
} rank;

static void log_error(void* user, sap_status status, const char* message) {
    if (status != SAP_OK) fprintf(stderr, "rank %d: %s\n", (int)sap_comm_rank(user), message);
}

static sap_status search(const rank* r, sap_device* device, const sap_point_set* set, int64_t first) {
    const sap_points share = {set->coords, set->count, set->dims, 0};
    const sap_search wanted = {.k = r->k};
    sap_cluster_tree* tree = NULL;
    int64_t* ids = malloc((size_t)(set->count * r->k + 1) * sizeof *ids);
    if (!ids) return SAP_ERROR_MEMORY;
    sap_status status = sap_cluster_build(r->comm, device, share, NULL, NULL, &tree); // ids are the rows of the file
    if (status == SAP_OK) status = sap_cluster_nearest(tree, share, &wanted, ids, NULL);
    const sap_table table = {.values = ids, .rows = set->count, .columns = r->k, .number = SAP_INT64};
    if (status == SAP_OK) status = sap_table_write_part(device, r->ids, table, first, r->all);
    sap_cluster_free(tree);
    free(ids);
    return status;
}

static void* work(void* user) {
    rank* r = user;
    const int32_t number = sap_comm_rank(r->comm), size = sap_comm_size(r->comm);
    const sap_device_options options = {.processor = r->processor,
                                        .ordinal = r->processor == SAP_CUDA ? number : 0,
                                        .log = log_error,
                                        .log_user = r->comm};
    sap_device* device = NULL;
    sap_point_set* set = NULL;
    int64_t first = 0;
    r->status = sap_device_open(&options, &device);
    if (r->status == SAP_OK)
        r->status =
            sap_points_read_part(device, r->points, SAP_FORMAT_AUTO, 32, NULL, number, size, &first, &r->all, &set);
    if (r->status == SAP_OK) r->status = search(r, device, set, first);
    if (r->status != SAP_OK) sap_comm_abort(r->comm, r->status); // the others would wait
    sap_point_set_free(set);
    sap_device_close(device);
    return NULL;
}

int main(int count, char** arguments) {
    const int32_t size = count == 5 ? atoi(arguments[1]) : 0, k = count == 5 ? atoi(arguments[3]) : 0;
    rank ranks[MOST] = {0};
    sap_comm* comms[MOST];
    pthread_t threads[MOST];
    sap_device* gpu = NULL;
    int failed = 0;
    if (size < 1 || size > MOST || k < 1 || sap_comm_open_threads(size, NULL, comms) != SAP_OK) return 2;
    const bool has_gpus = sap_device_open(&(sap_device_options){.processor = SAP_CUDA}, &gpu) == SAP_OK;
    sap_device_close(gpu);
    for (int32_t r = 0; r < size; r++) {
        ranks[r] = (rank){.comm = comms[r],
                          .processor = has_gpus ? SAP_CUDA : SAP_CPU,
                          .points = arguments[2],
                          .ids = arguments[4],
                          .k = k};
        if (pthread_create(&threads[r], NULL, work, &ranks[r])) return 2;
    }
    for (int32_t r = 0; r < size; r++) {
        pthread_join(threads[r], NULL);
        failed |= ranks[r].status != SAP_OK;
        sap_comm_close(comms[r]);
    }
    if (!failed)
        printf("%d nearest points of each of %lld, by %d %s\n", (int)k, (long long)ranks[0].all, (int)size,
               has_gpus ? "GPUs" : "threads");
    return failed;
}
