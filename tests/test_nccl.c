// NCCL as the engine of a communicator: what it is told, what it carries, and how it ends. The tests of all engines run over
// it, too (engines.h).
#include "allocator.h"
#include "test.h"

#if defined(SAP_HAVE_CUDA) && defined(SAP_HAVE_THREADS) && defined(__linux__)
#if !defined(RANKS_BY_NCCL)
#define RANKS_BY_NCCL
#endif
#include "engines.h"
#include "families.h"
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Files that communicators have left behind.
static int files_left(void) {
    int count = 0;
    DIR* folder = opendir("/dev/shm");
    for (struct dirent* entry; folder && (entry = readdir(folder));) count += !strncmp(entry->d_name, "sapwood-", 8);
    if (folder) closedir(folder);
    return count;
}

// Whether there are no more than before, soon: those of other programs come and go.
static bool files_gone(int before) {
    for (int i = 0; i < 500 && files_left() > before; i++) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return files_left() <= before;
}

// ---- Ranks that are processes. First, because processes that are forked have no GPU if their parent had one.

typedef enum ending { ENDING_KILLED, ENDING_ABORTED, ENDING_CLOSED, ENDING_COUNT } ending;

enum { CHILD_SKIPS = 77 };

// What rank 0 and rank 1 do, each in a process; the process's exit code.
static int be_rank(int32_t rank, ending how, int id_in, int id_out) {
    const sap_device_options options = {.processor = SAP_CUDA, .ordinal = rank};
    const sap_nccl_options where = nccl_options();
    sap_device* device = NULL;
    sap_nccl_id id;
    sap_comm* comm = NULL;
    uint64_t sum = 1;
    if (cuda_tools_gpus(2) < 2 || sap_device_open(&options, &device) != SAP_OK) return CHILD_SKIPS;
    if (!rank && sap_comm_nccl_id(device, &where, &id) != SAP_OK) return CHILD_SKIPS;
    if (!rank && write(id_out, &id, sizeof id) != sizeof id) return 2;
    close(id_out);
    if (rank && read(id_in, &id, sizeof id) != sizeof id) return CHILD_SKIPS;
    if (sap_comm_open_nccl(device, &id, rank, 2, &where, &comm) != SAP_OK) return 3;
#if !defined(SAP_EMULATED) // whose ranks see no other process's memory
    if (sap_comm_all_reduce(comm, SAP_REDUCE_SUM, &sum, 1) != SAP_OK || sum != 2) return 4;
#endif
    if (rank && how == ENDING_KILLED) (void)raise(SIGKILL);
    if (rank && how == ENDING_ABORTED) sap_comm_abort(comm, SAP_ERROR_CANCELLED);
    if (rank && how == ENDING_ABORTED) nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    if (!rank) {
        const double begun = seconds();
        const sap_status status = sap_comm_all_reduce(comm, SAP_REDUCE_SUM, &sum, 1);
        if (status != (how == ENDING_ABORTED ? SAP_ERROR_CANCELLED : SAP_ERROR_IO)) return 5;
        if (seconds() - begun > (how == ENDING_ABORTED ? 2 : 15)) return 6;
    }
    sap_comm_close(comm);
    sap_device_close(device);
    return 0;
}

TEST(a_process_ends) {
#if defined(SAP_EMULATED)
    CHECK(nccl_stand_in() != NULL); // which its processes share
#endif
    const int before = files_left();
    for (int how = 0; how < ENDING_COUNT; how++) {
        int ends[2], codes[2];
        pid_t children[2];
        NOTE("ending %d", how);
        if (!CHECK(!pipe(ends))) return;
        fflush(stdout);
        for (int32_t r = 0; r < 2; r++) {
            children[r] = fork();
            if (!children[r]) {
                if (!r) close(ends[0]);
                _exit(be_rank(r, (ending)how, ends[0], ends[1]));
            }
        }
        close(ends[0]);
        close(ends[1]);
        for (int r = 0; r < 2; r++) CHECK(waitpid(children[r], &codes[r], 0) == children[r]);
        if (WIFEXITED(codes[0]) && WEXITSTATUS(codes[0]) == CHILD_SKIPS)
            SKIP("there are not two GPUs, or there is no NCCL");
        CHECK(WIFEXITED(codes[0]) && CHECK_EQUAL(WEXITSTATUS(codes[0]), 0));
        if (how != ENDING_KILLED) CHECK(WIFEXITED(codes[1]) && CHECK_EQUAL(WEXITSTATUS(codes[1]), 0));
    }
    CHECK(files_gone(before));
    NOTE("%s", "");
}

// ---- Arguments

TEST(arguments) {
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device *device = NULL, *cpu = NULL;
    sap_nccl_options where = nccl_options(), wrong = where;
    sap_nccl_id id = {{0}};
    sap_comm* comm = NULL;
    options.processor = SAP_CPU;
    CHECK_STATUS(sap_device_open(&options, &cpu), SAP_OK);
    CHECK_STATUS(sap_comm_nccl_id(cpu, &where, &id), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(w.sentence, "NCCL") != NULL);
    CHECK_STATUS(sap_comm_open_nccl(cpu, &id, 0, 1, &where, &comm), SAP_ERROR_UNSUPPORTED);
    sap_device_close(cpu);
    options.processor = SAP_CUDA;
    if (!cuda_tools_gpus(2) || sap_device_open(&options, &device) != SAP_OK) SKIP("there is no GPU");
    CHECK_STATUS(sap_comm_nccl_id(NULL, &where, &id), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_nccl_id(device, &where, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(NULL, &id, 0, 1, &where, &comm), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, NULL, 0, 1, &where, &comm), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, 0, 1, &where, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, 0, 0, &where, &comm), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, -1, 1, &where, &comm), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, 2, 2, &where, &comm), SAP_ERROR_ARGUMENT);
    wrong.reserved[3] = 1;
    CHECK_STATUS(sap_comm_nccl_id(device, &wrong, &id), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, 0, 1, &wrong, &comm), SAP_ERROR_ARGUMENT);
    const double times[] = {-1, (double)NAN};
    for (int i = 0; i < 2; i++) {
        wrong = where;
        wrong.patience = times[i];
        CHECK_STATUS(sap_comm_nccl_id(device, &wrong, &id), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_comm_open_nccl(device, &id, 0, 1, &wrong, &comm), SAP_ERROR_ARGUMENT);
    }
    // No library, one that is not NCCL, and one that is too old.
    wrong = where;
    wrong.library = "libnccl-that-is-nowhere.so.2";
    CHECK_STATUS(sap_comm_nccl_id(device, &wrong, &id), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(w.sentence, wrong.library) != NULL);
    CHECK_STATUS(sap_comm_open_nccl(device, &id, 0, 1, &wrong, &comm), SAP_ERROR_UNSUPPORTED);
    wrong.library = "libc.so.6";
    CHECK_STATUS(sap_comm_nccl_id(device, &wrong, &id), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(w.sentence, "ncclGetVersion") != NULL);
#if defined(SAP_EMULATED)
    nccl_stand_in()->version = 2708;
    CHECK_STATUS(sap_comm_nccl_id(device, &where, &id), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(w.sentence, "NCCL 2.7;") != NULL);
    nccl_stand_in()->version = 21304;
    CHECK_STATUS(sap_comm_nccl_id(device, &where, &id), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(w.sentence, "NCCL 2.13;") != NULL);
    nccl_stand_in()->version = 22903;
#endif
    CHECK(!comm);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
}

// ---- Ranks that open their handles themselves

typedef struct life {
    pthread_t thread;
    watch w;
    sap_nccl_id id;
    int32_t rank, size;
    const char* library;
    double patience;
    int64_t fail_from; // request for host memory
    bool stays_away;
    void (*work)(struct life* l);
    const void* context;
    sap_device* device;
    sap_comm* comm;
    sap_status status;
} life;

static void* live(void* argument) {
    life* l = argument;
    const sap_nccl_options where = {.library = l->library, .patience = l->patience};
    sap_device_options options = watched(&l->w);
    options.processor = SAP_CUDA;
    options.ordinal = l->rank % cuda_tools_gpus(2);
    if (!CHECK_STATUS(cuda_tools_open(&options, &l->device), SAP_OK)) return NULL;
    if (l->fail_from) l->w.fail_from = l->w.requests + l->fail_from;
    if (!l->stays_away) l->status = sap_comm_open_nccl(l->device, &l->id, l->rank, l->size, &where, &l->comm);
    CHECK((l->comm != NULL) == (l->status == SAP_OK && !l->stays_away));
    CHECK(l->status == SAP_OK || l->w.log_calls || l->rank != 1);
    if (l->comm) l->work(l);
    l->w.fail_from = 0;
    sap_comm_close(l->comm);
    sap_device_close(l->device);
    CHECK_EQUAL(l->w.blocks, 0);
    CHECK_EQUAL(l->w.wrong, 0);
    return NULL;
}

static life ready(void (*work)(life*), const void* context) {
    return (life){.library = nccl_library, .patience = 60, .work = work, .context = context};
}

static bool make_id(sap_nccl_id* id) {
    const sap_device_options options = {.processor = SAP_CUDA};
    const sap_nccl_options where = nccl_options();
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    const sap_status status = sap_comm_nccl_id(device, &where, id);
    sap_device_close(device);
    return status == SAP_OK;
}

// Runs the first ranks of so many.
static void run_some(int32_t count, int32_t size, const sap_nccl_id* id, life* lives) {
    for (int32_t r = 0; r < count; r++) {
        lives[r].id = *id;
        lives[r].rank = r;
        lives[r].size = size;
        CHECK(!pthread_create(&lives[r].thread, NULL, live, &lives[r]));
    }
    for (int32_t r = 0; r < count; r++) pthread_join(lives[r].thread, NULL);
}

// Runs ranks that were set up; false: there was no id to begin with.
static bool run_lives(int32_t size, life* lives) {
    const int before = files_left();
    sap_nccl_id id;
    if (!make_id(&id)) return false;
    run_some(size, size, &id, lives);
    CHECK(files_gone(before));
#if defined(SAP_EMULATED)
    CHECK_EQUAL(nccl_stand_in()->comms, 0);
#endif
    return true;
}

static void nothing(life* l) { (void)l; }

TEST(a_rank_cannot_open) {
    NEEDS_RANKS;
    for (int how = 0; how < 3; how++) {
        static const sap_status expected[] = {SAP_ERROR_UNSUPPORTED, SAP_ERROR_IO, SAP_ERROR_MEMORY};
        life lives[FEW_RANKS];
        for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(nothing, NULL);
        NOTE("way %d", how);
        if (how == 0) lives[1].library = "libnccl-that-is-nowhere.so.2";
        if (how == 1) lives[1].stays_away = true;
        for (int32_t r = 0; r < FEW_RANKS && how == 1; r++) lives[r].patience = 0.5;
        if (how == 2) lives[1].fail_from = 1;
        const double begun = seconds();
        CHECK(run_lives(FEW_RANKS, lives));
        CHECK(seconds() - begun < 20);
        for (int32_t r = 0; r < FEW_RANKS; r++)
            CHECK_STATUS(lives[r].status, lives[r].stays_away ? SAP_OK : expected[how]);
    }
    NOTE("%s", "");
}

TEST(memory_for_a_handle) {
    NEEDS_RANKS;
    bool failed = true;
    for (int64_t n = 1; failed && n < 20; n++) {
        life lives[FEW_RANKS];
        for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(nothing, NULL);
        lives[1].fail_from = n;
        NOTE("request %d", (int)n);
        CHECK(run_lives(FEW_RANKS, lives));
        failed = lives[1].status != SAP_OK;
        CHECK(failed || n > 2);
        for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(lives[r].status, failed ? SAP_ERROR_MEMORY : SAP_OK);
    }
    CHECK(!failed);
    for (int pins = 0; pins < 2; pins++) {
        life lives[FEW_RANKS];
        for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(nothing, NULL);
        cuda_tools_reset();
        cuda_tools.fail_kinds = 1u << (pins ? CUDA_TOOLS_PIN : CUDA_TOOLS_ALLOCATE);
        cuda_tools.error = CUDA_TOOLS_NO_MEMORY;
        cuda_tools.fail_at = 1;
        cuda_tools.fail_on = true;
        NOTE("of the GPU, or page-locked: %d", pins);
        CHECK(run_lives(FEW_RANKS, lives));
        for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(lives[r].status, SAP_ERROR_DEVICE_MEMORY);
        CHECK_EQUAL(cuda_tools.blocks, 0);
        CHECK_EQUAL(cuda_tools.objects, 0);
        cuda_tools_reset();
    }
    NOTE("%s", "");
}

// ---- Messages

static unsigned char byte_of(int64_t i, int32_t from, int32_t to) {
    return (unsigned char)(i * 7 + from * 31 + to * 3);
}

// Gathers, exchanges and reductions of so many bytes from each rank to each.
static void send_bytes(const life* l, int64_t bytes) {
    const size_t all = (size_t)bytes * (size_t)l->size;
    unsigned char *out = malloc(all + 8), *in = malloc(all + 8);
    int64_t outs[MOST_OPENED], ins[MOST_OPENED], wrong = 0;
    for (int32_t r = 0; r < l->size; r++) {
        outs[r] = r > l->rank ? 0 : bytes; // nothing to ranks above
        ins[r] = r < l->rank ? 0 : bytes;
    }
    for (int64_t i = 0; i < bytes; i++) out[i] = byte_of(i, l->rank, 0);
    CHECK_STATUS(sap_comm_all_gather(l->comm, out, bytes, in), SAP_OK);
    for (int64_t i = 0; i < bytes * l->size; i++) wrong += in[i] != byte_of(i % bytes, (int32_t)(i / bytes), 0);
    for (int64_t i = 0; i < bytes * (l->rank + 1); i++) out[i] = byte_of(i % bytes, l->rank, (int32_t)(i / bytes));
    memset(in, 0, all);
    CHECK_STATUS(sap_comm_all_to_all(l->comm, out, outs, in, ins), SAP_OK);
    for (int64_t i = 0; i < bytes * (l->size - l->rank); i++)
        wrong += in[i] != byte_of(i % bytes, l->rank + (int32_t)(i / bytes), l->rank);
    CHECK_EQUAL(wrong, 0);
    uint64_t* numbers = calloc(all / 8 + 1, 8);
    const int64_t count = bytes / 8;
    for (int how = 0; how < 3; how++) {
        for (int64_t i = 0; i < count; i++) numbers[i] = ((uint64_t)i << 32) + (uint64_t)l->rank + (UINT64_C(1) << 63);
        CHECK_STATUS(sap_comm_all_reduce(l->comm, (sap_reduction)how, numbers, count), SAP_OK);
        for (int64_t i = 0; i < count; i++) {
            const uint64_t size = (uint64_t)l->size, most = ((uint64_t)i << 32) + (UINT64_C(1) << 63);
            const uint64_t sum = most * size + size * (size - 1) / 2;
            wrong += numbers[i] != (how == SAP_REDUCE_SUM ? sum : how == SAP_REDUCE_MIN ? most : most + size - 1);
        }
    }
    CHECK_EQUAL(wrong, 0);
    free(numbers);
    free(out);
    free(in);
}

static void send_all(life* l) {
    static const int64_t sizes[] = {0, 1, 8, 1000, 128 << 10, (128 << 10) + 8, 3 << 20, 8};
    for (int i = 0; i < 8; i++) send_bytes(l, sizes[i]);
}

TEST(messages_of_any_size) {
    NEEDS_RANKS;
    life lives[FEW_RANKS];
    for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(send_all, NULL);
    CHECK(run_lives(FEW_RANKS, lives));
}

// The same tree and answers, where the messages of the searches are the device's own memory.
static void search_on_own_device(life* l) {
    enum { K = 5 };
    const cloud* all = l->context;
    const int64_t first = all->count * l->rank / l->size, count = all->count * (l->rank + 1) / l->size - first;
    const float* coords = all->coords;
    const sap_search search = {.k = K};
    const sap_device_options one_cpu = {.processor = SAP_CPU, .threads = 1};
    sap_cluster_tree* tree = NULL;
    sap_tree* one = NULL;
    sap_device* cpu = NULL;
    const sap_points share = {coords + 3 * first, count, 3, 0};
    const sap_points queries = {coords + 3 * (all->count - 500), 500, 3, 0};
    int64_t* ids = malloc(500 * K * sizeof *ids);
    int32_t* expected = malloc(500 * K * sizeof *expected);
    float *near = malloc(500 * K * sizeof *near), *distances = malloc(500 * K * sizeof *distances);
    CHECK_STATUS(sap_device_open(&one_cpu, &cpu), SAP_OK);
    CHECK_STATUS(sap_tree_build(cpu, (sap_points){coords, all->count, 3, 0}, NULL, &one), SAP_OK);
    CHECK_STATUS(sap_nearest(one, queries, &search, expected, distances), SAP_OK);
    if (CHECK_STATUS(sap_cluster_build(l->comm, l->device, share, NULL, NULL, &tree), SAP_OK) &&
        CHECK_STATUS(sap_cluster_nearest(tree, queries, &search, ids, near), SAP_OK)) {
        for (int i = 0; i < 500 * K; i++) CHECK(ids[i] == expected[i] && near[i] == distances[i]);
        CHECK_STATUS(sap_cluster_nearest_self(tree, &search, NULL, NULL), SAP_OK);
    }
    sap_cluster_free(tree);
    sap_tree_free(one);
    sap_device_close(cpu);
    free(ids);
    free(expected);
    free(near);
    free(distances);
}

TEST(memory_stays_on_the_device) {
    NEEDS_RANKS;
    cloud points = cloud_of_family(FAMILY_UNIFORM, 5000, 3, 32, 0, 4);
    for (int64_t i = 0; i < points.count; i++) // shares that have to move
        for (int a = 0; a < 3; a++)
            ((float*)points.coords)[3 * i + a] = (float)cloud_get(&points, i * 1777 % points.count, a);
    life lives[FEW_RANKS];
    for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(search_on_own_device, &points);
    cuda_tools_reset();
    CHECK(run_lives(FEW_RANKS, lives));
    CHECK_EQUAL(cuda_tools.blocks, 0);
    cloud_free(&points);
}

// ---- What only the stand-in shows

#if defined(SAP_EMULATED)

// Two ranks of one process, which make their GPUs reach one another, and one of another.
TEST(threads_and_a_process) {
    NEEDS_RANKS;
    life lives[3];
    sap_nccl_id id;
    int code = 1;
    if (!CHECK(make_id(&id))) return;
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        const sap_device_options options = {.processor = SAP_CUDA};
        const sap_nccl_options where = nccl_options();
        sap_device* device = NULL;
        sap_comm* comm = NULL;
        if (sap_device_open(&options, &device) != SAP_OK) _exit(2);
        if (sap_comm_open_nccl(device, &id, 2, 3, &where, &comm) != SAP_OK) _exit(3);
        sap_comm_close(comm);
        sap_device_close(device);
        _exit(0);
    }
    for (int r = 0; r < 2; r++) {
        lives[r] = ready(nothing, NULL);
        lives[r].patience = 20;
    }
    run_some(2, 3, &id, lives);
    for (int r = 0; r < 2; r++) CHECK_STATUS(lives[r].status, SAP_OK);
    CHECK(waitpid(child, &code, 0) == child && WIFEXITED(code));
    CHECK_EQUAL(WEXITSTATUS(code), 0);
}

// ---- Failures of a call of NCCL's

static void do_everything(life* l) {
    uint64_t value = 1, all[FEW_RANKS];
    int64_t bytes[FEW_RANKS], numbers[FEW_RANKS], came[FEW_RANKS];
    sap_comm* part = NULL;
    for (int32_t r = 0; r < l->size; r++) bytes[r] = sizeof *numbers, numbers[r] = r;
    l->status = sap_comm_all_reduce(l->comm, SAP_REDUCE_SUM, &value, 1);
    if (l->status == SAP_OK) l->status = sap_comm_all_gather(l->comm, &value, sizeof value, all);
    if (l->status == SAP_OK) l->status = sap_comm_all_to_all(l->comm, numbers, bytes, came, bytes);
    if (l->status == SAP_OK) l->status = sap_comm_split(l->comm, l->rank != 2, 0, &part);
    if (l->status == SAP_OK) l->status = sap_comm_all_reduce(part, SAP_REDUCE_SUM, &value, 1);
    sap_comm_close(part);
    if (l->status == SAP_OK) l->status = sap_comm_all_reduce(l->comm, SAP_REDUCE_SUM, &value, 1);
}

TEST(a_call_of_nccl_fails) {
    NEEDS_RANKS;
    nccl_on_cpu_state* nccl = nccl_stand_in();
    for (int kind = NCCL_ON_CPU_ID; kind < NCCL_ON_CPU_KINDS; kind++) {
        bool done = false;
        int64_t n = 1;
        const bool polls = kind == NCCL_ON_CPU_POLL; // of which there are as many as ranks have time for
        for (; !done && n < (polls ? 40 : 1000); n++) {
            life lives[FEW_RANKS];
            for (int32_t r = 0; r < FEW_RANKS; r++) lives[r] = ready(do_everything, NULL);
            NOTE("kind %d call %d", kind, (int)n);
            nccl->fail_kind = (nccl_on_cpu_kind)kind;
            nccl->seen = 0;
            nccl->fail_at = n;
            const bool begun = run_lives(FEW_RANKS, lives);
            done = nccl->seen < n;
            nccl->fail_kind = NCCL_ON_CPU_NONE;
            int bad = 0;
            for (int32_t r = 0; r < FEW_RANKS && begun; r++) {
                bad += lives[r].status != SAP_OK;
                CHECK_STATUS(lives[r].status, lives[r].status == SAP_OK ? SAP_OK : SAP_ERROR_IO);
            }
            CHECK((bad > 0) == (begun && !done && kind != NCCL_ON_CPU_FINALIZE));
        }
        CHECK((done || polls) && n > 2);
    }
    NOTE("%s", "");
}

#endif

#else
TEST(no_nccl) { SKIP("this build has not CUDA, threads and Linux"); }
#endif
TEST_MAIN()
