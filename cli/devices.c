// --devices: ranks that are threads of this process, one for each GPU.
#include "ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct worker {
    sap_cli_options options; // with its own GPU
    sap_cli_ranks ranks;
    sap_cli_work* work;
    sap_cli_exit result;
    pthread_t thread;
} worker;

static void* start(void* user) {
    worker* w = user;
    w->result = w->work(&w->options, &w->ranks);
    return NULL;
}

// Its part of the CPU threads that the user allows, or that the machine has.
static int32_t threads_of(const sap_cli_options* options) {
    const long all = options->threads ? options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    const long each = all / options->devices.count;
    return each < 1 ? 1 : each > 1024 ? 1024 : (int32_t)each;
}

static void prepare(worker* w, const sap_cli_options* options, sap_cli_work* work, sap_comm* comm) {
    const int32_t rank = sap_comm_rank(comm), threads = threads_of(options);
    w->options = *options;
    w->options.ordinal = options->devices.ordinals[rank];
    w->options.threads = threads;
    w->ranks = (sap_cli_ranks){
        .comm = comm, .rank = rank, .size = options->devices.count, .threads = threads, .devices = &options->devices};
    w->work = work;
    w->result = SAP_EXIT_FAILED;
}

// Where the ranks could not tell one another how it went, the first that knows says why.
static sap_cli_exit say_why(const worker* workers, const sap_cli_options* options) {
    const sap_cli_ranks* known = NULL;
    for (int32_t r = options->devices.count - 1; r >= 0; r--)
        if (*workers[r].ranks.said && !workers[r].ranks.of_another) known = &workers[r].ranks;
    if (known)
        sap_cli_ranks_tell(options, known, known->rank, SAP_EXIT_FAILED);
    else
        fprintf(stderr, "sapwood %s: no memory for threads that share the work\n",
                sap_cli_verb_table[options->verb].name);
    return SAP_EXIT_FAILED;
}

static sap_cli_exit run(const sap_cli_options* options, sap_cli_work* work, worker* workers, sap_comm** comms) {
    const int32_t size = options->devices.count;
    int32_t started = 1;
    bool is_broken = false;
    for (int32_t r = 0; r < size; r++) prepare(&workers[r], options, work, comms[r]);
    while (started < size && !pthread_create(&workers[started].thread, NULL, start, &workers[started])) started++;
    if (started == size)
        start(&workers[0]);
    else // the others wait for those that are missing
        sap_comm_abort(comms[0], SAP_ERROR_MEMORY);
    for (int32_t r = 1; r < started; r++) pthread_join(workers[r].thread, NULL);
    for (int32_t r = 0; r < size; r++) {
        is_broken |= workers[r].ranks.is_broken;
        free(workers[r].ranks.left);
        sap_comm_close(comms[r]);
    }
    return is_broken || started < size ? say_why(workers, options) : workers[0].result;
}

sap_cli_exit sap_cli_devices_work(const sap_cli_options* options, sap_cli_work* work) {
    const int32_t size = options->devices.count;
    sap_comm* comms[SAP_CLI_MOST_DEVICES];
    worker* workers = calloc((size_t)size, sizeof *workers);
    const sap_status status = workers ? sap_comm_open_threads(size, NULL, comms) : SAP_ERROR_MEMORY;
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (status == SAP_OK)
        result = run(options, work, workers, comms);
    else
        fprintf(stderr, "sapwood %s: --devices: %s\n", sap_cli_verb_table[options->verb].name,
                sap_status_string(status));
    free(workers);
    return result;
}
