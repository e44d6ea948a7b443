// Kernels and calls that must be aborted, each in a child of its own; part of selftest.cu.
#ifndef CUDA_ON_CPU_SELFTEST_FAILURES_H
#define CUDA_ON_CPU_SELFTEST_FAILURES_H

__global__ static void bad(int how, int* cell) {
    SAP_CUDA_SHARED(int, shared);
    int thread = (int)threadIdx.x;
    if (how == 0 && thread < 5) __syncwarp(0x3f); // lane 5 waits elsewhere
    if (how == 0) __syncthreads();
    if (how == 1 && thread == 0)
        while (atomicAdd(cell, 0) == 0) SAP_CUDA_SPIN();
    if (how == 2) __syncwarp(2);
    if (how == 3 && thread > 0) __syncwarp(~0u); // lane 0 exits
    if (how == 4) shared[20 + thread] = 1;
    if (how == 5 && thread < 4) __syncthreads_or(1);
    if (how == 5) __syncthreads();
    if (how == 6) __shfl_sync(~0u, thread, 0, 12);
    if (how == 7) __trap();
    if (how == 11) atomicAdd(cell, 1);
    if (how == 11) sap_cuda_await_before();
}

// Whether a child that does it is aborted (or stopped by a sanitizer) with these words.
static bool aborts(int how, const char* words) {
    int ends[2];
    char text[4096];
    size_t length = 0;
    fflush(stdout);
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        int* cell = (int*)take(sizeof(int));
        *cell = 0;
        if (how < 8) sap_cuda_launch(NULL, bad, sap_cuda_grid{1, how == 2 ? 1 : 32, 64, false}, how, cell);
        if (how == 8) gpu->copy(cell, 8, ends, 8, 8, 1, NULL);
        if (how == 9) gpu->release(ends, NULL);
        if (how >= 10) sap_cuda_launch(NULL, bad, sap_cuda_grid{1, 32, 64, false, true}, how, cell);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0; length += got > 0 ? (size_t)got : 0)
        got = read(ends[0], text + length, sizeof text - 1 - length);
    text[length] = 0;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    bool good = !(WIFEXITED(status) && WEXITSTATUS(status) == 0) && strstr(text, words) != NULL;
    if (!good || getenv("SHOW") != NULL) printf("case %d: %s\n", how, text);
    return good;
}

static void test_failures(void) {
#ifdef __SANITIZE_THREAD__ // in a forked child it no longer follows the fibers, and sees races
    if (failures == 0) return;
#endif
    CHECK(aborts(0, "thread (4, 0, 0) waits in __syncwarp, mask 0000003f"));
    CHECK(aborts(1, "deadlock: threads spin"));
    CHECK(aborts(2, "lacks the calling lane 0"));
    CHECK(aborts(3, cuda_on_cpu_backwards ? "exits while other lanes wait" : "which exited"));
    CHECK(aborts(5, "__syncthreads"));
    CHECK(aborts(6, "width 12"));
    CHECK(aborts(7, "__trap"));
    CHECK(aborts(8, "leave their block"));
    CHECK(aborts(9, "not allocated"));
    CHECK(aborts(10, "never waits for the launch before"));
    CHECK(aborts(11, "changes memory before it waits"));
#ifndef __SANITIZE_ADDRESS__
    CHECK(aborts(4, "shared memory"));
#else
    CHECK(aborts(4, "use-after-poison"));
#endif
}

#endif
