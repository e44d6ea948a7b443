// The benchmark on a GPU: its options, what it runs, and its last word.
#include "gpu.cuh"

enum { NO_GPU = 77 };

static void usage(FILE* to) {
    fprintf(to,
            "sapwood_gpu_bench [--quick] [--only PREFIX[,PREFIX]...] [--reps N] [--cpu] [--data FOLDER] [--csv FILE]\n"
            "                  [--rivals FILE]\n"
            "  --quick   sizes up to a million only\n"
            "  --only    works whose names begin so: ceiling, build, table, peak, search, whole, leaf, cpu, radius, "
            "compact,\n"
            "            rays, occluded, all, visits, closest, inside, mesh, frame, render, surface, set, told, box, "
            "splits,\n            pairs, cloud, skin, subdivide, photons\n"
            "  --reps    measurements of a work, %d to %d (default 9)\n"
            "  --cpu     the CPU beside the GPU, with all its threads\n"
            "  --data    a folder of point clouds and meshes\n"
            "  --csv     all rows as CSV\n"
            "  --rivals  other programs' figures (default: bench/gpu_rivals.csv where this was built)\n"
            "Exit: 0, 1 if an answer is wrong or a call fails, 2 for a wrong option, %d without a GPU.\n",
            (int)GPU_LEAST_REPS, (int)GPU_MOST_REPS, (int)NO_GPU);
}

static void refuse(void*, sap_status status, const char* sentence) {
    fprintf(stderr, "gpu: %s: %s\n", sap_status_string(status), sentence);
}

// The argument of an option; exits without one.
static const char* value_of(int count, char** arguments, int* at) {
    if (*at + 1 < count) return arguments[++*at];
    fprintf(stderr, "gpu: %s needs a value\n", arguments[*at]);
    exit(2);
}

static void read_options(gpu_bench* b, int count, char** arguments) {
    const char* csv = NULL;
    for (int i = 1; i < count; i++) {
        const char* option = arguments[i];
        if (!strcmp(option, "--help") || !strcmp(option, "-h")) {
            usage(stdout);
            exit(0);
        } else if (!strcmp(option, "--quick"))
            b->quick = true;
        else if (!strcmp(option, "--cpu"))
            b->cpu = true;
        else if (!strcmp(option, "--only"))
            b->only = value_of(count, arguments, &i);
        else if (!strcmp(option, "--reps"))
            b->reps = atoi(value_of(count, arguments, &i));
        else if (!strcmp(option, "--data"))
            b->data = value_of(count, arguments, &i);
        else if (!strcmp(option, "--rivals"))
            b->rivals = value_of(count, arguments, &i);
        else if (!strcmp(option, "--csv"))
            csv = value_of(count, arguments, &i);
        else {
            usage(stderr);
            exit(2);
        }
    }
    if (b->reps < GPU_LEAST_REPS || b->reps > GPU_MOST_REPS) {
        fprintf(stderr, "gpu: --reps takes %d to %d\n", (int)GPU_LEAST_REPS, (int)GPU_MOST_REPS);
        exit(2);
    }
    if (csv && !(b->csv = fopen(csv, "w"))) {
        perror(csv);
        exit(2);
    }
}

static void open_devices(gpu_bench* b) {
    sap_device_options options = {};
    int gpus = 0;
    cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess || !gpus) {
        fprintf(stderr, "gpu: no GPU that CUDA can use (%s): nothing was measured\n",
                error != cudaSuccess ? cudaGetErrorString(error) : "none found");
        exit(NO_GPU);
    }
    GPU_CUDA(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
    GPU_CUDA(cudaEventCreate(&b->begin));
    GPU_CUDA(cudaEventCreate(&b->end));
    options.log = refuse;
    options.processor = SAP_CPU;
    GPU_SAP(sap_device_open(&options, &b->host));
    options.processor = SAP_CUDA;
    options.stream = (void*)b->stream;
    GPU_SAP(sap_device_open(&options, &b->device));
}

static void close_devices(gpu_bench* b) {
    sap_device_close(b->device);
    sap_device_close(b->host);
    GPU_CUDA(cudaEventDestroy(b->begin));
    GPU_CUDA(cudaEventDestroy(b->end));
    GPU_CUDA(cudaStreamDestroy(b->stream));
    if (b->csv) fclose(b->csv);
}

// The rate of a copy within the device, from which floors are computed.
void gpu_ceilings(gpu_bench* b) {
    size_t bytes = (size_t)1 << 30;
    void *from = gpu_memory(bytes), *to = gpu_memory(bytes);
    GPU_CUDA(cudaMemsetAsync(from, 0, bytes, b->stream));
    gpu_times ms =
        gpu_measure(b, [&] { GPU_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, b->stream)); });
    b->bytes_a_ms = 2.0 * (double)bytes / ms.median;
    double rate = 2e-6 * (double)bytes; // GB moved, times ms
    gpu_row row = gpu_row_of("ceiling", "copy", 0, 0);
    row.unit = "GB/s";
    snprintf(row.order, sizeof row.order, "1 GiB");
    if (gpu_wanted(b, row.work, 0)) gpu_report(b, row, gpu_times{rate / ms.median, rate / ms.most, rate / ms.least});
    GPU_CUDA(cudaFree(from));
    GPU_CUDA(cudaFree(to));
}

static void say_where(const gpu_bench* b) {
    sap_device_info gpu, cpu;
    GPU_SAP(sap_device_describe(b->device, &gpu));
    GPU_SAP(sap_device_describe(b->host, &cpu));
    printf(
        "Sapwood %s on %s; the CPU beside it: %d threads. Medians of %d; ms unless said; floor: bytes that must move "
        "at the rate of a copy (of peaks: what is kept).\nratio: the best rival's figure over ours; rivals: see %s\n\n",
        sap_version(), gpu.name, (int)cpu.threads, b->reps, b->rivals);
}

int main(int count, char** arguments) {
    static gpu_bench bench;
    gpu_bench* b = &bench;
    b->reps = 9;
    b->rivals = BENCH_GPU_RIVALS;
    read_options(b, count, arguments);
    open_devices(b);
    gpu_rivals_read(b);
    say_where(b);
    gpu_heading();
    gpu_ceilings(b);
    gpu_builds(b);
    gpu_published(b);
    gpu_peaks(b);
    gpu_searches(b);
    gpu_large(b);
    gpu_leaves(b);
    gpu_splits(b);
    gpu_radii(b);
    gpu_compaction(b);
    gpu_meshes(b);
    gpu_rays(b);
    gpu_frames(b);
    gpu_moving(b);
    gpu_surfaces(b);
    gpu_sets(b);
    gpu_told(b);
    gpu_pairs(b);
    gpu_clouds(b);
    gpu_skin(b);
    gpu_subdivide(b);
    gpu_photons(b);
    close_devices(b);
    printf("\n%d rows; targets: %d reached, %d missed; %lld answers and trees checked against the CPU's, %lld wrong\n",
           b->rows, b->reached, b->missed, (long long)b->checked, (long long)b->wrong);
    return b->wrong ? 1 : 0;
}
