// Broken invariants: builds with assertions end the program and say which condition failed, all others never evaluate
// it.
#include "test.h"

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#include "base/assert.h"
#include "device/device.h"
#include "sapwood/sets.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(SAP_ASSERTIONS)
enum { ASSERTS = true };
#else
enum { ASSERTS = false };
#endif

static bool count_up(int* count) {
    ++*count;
    return true;
}

TEST(conditions_are_evaluated_in_builds_with_assertions_only) {
    int called = 0, evaluated = 0;
    CHECK(count_up(&called) && called == 1);
    SAP_ASSERT(count_up(&evaluated));
    CHECK_EQUAL(evaluated, ASSERTS);
}

// What a process that breaks an invariant writes to stderr; its wait status.
static int run_broken(void (*broken)(void), char* text, size_t bytes) {
    int ends[2], status = 0;
    if (!CHECK(pipe(ends) == 0)) return 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        broken();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used + 1 < bytes; used += got > 0 ? (size_t)got : 0)
        got = read(ends[0], text + used, bytes - 1 - used);
    text[used] = 0;
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

// A block of scratch memory is given back twice: two calls would share it.
static void give_twice(void) {
    sap_device* device = NULL;
    sap_scratch block, again;
    if (sap_device_open(NULL, &device) != SAP_OK || !sap_scratch_take(device, 100, &block)) _exit(1);
    again = block;
    sap_scratch_give(device, &block);
    sap_scratch_give(device, &again);
}

// A set is looked at while a call changes it: what the allocator does here, another thread might.
static sap_set* changing;

static void* allocate(void* user, size_t bytes, size_t alignment) {
    sap_set_info info;
    (void)user;
    if (changing) sap_set_describe(changing, &info);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void* user, void* memory, size_t bytes) {
    (void)user, (void)bytes;
    free(memory);
}

static void look_while_it_changes(void) {
    static float points[3 * 1000];
    const sap_device_options options = {.processor = SAP_CPU, .allocator = {allocate, release, NULL}};
    sap_device* device = NULL;
    sap_set* set = NULL;
    if (sap_device_open(&options, &device) != SAP_OK || sap_set_create(device, 3, NULL, &set) != SAP_OK) _exit(1);
    changing = set;
    sap_set_insert(set, (sap_points){points, 1000, 3, 0}, NULL, NULL);
}

TEST(a_set_that_changes_is_not_shared) {
    if (!ASSERTS) SKIP("assertions are off in this build");
    char text[2000];
    const int status = run_broken(look_while_it_changes, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, "set.c") && strstr(text, "before >= 0"));
}

TEST(a_broken_invariant_ends_the_program) {
    if (!ASSERTS) SKIP("assertions are off in this build");
    char text[2000];
    const int status = run_broken(give_twice, text, sizeof text);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, "device->idle[i].memory != scratch->memory"));
    CHECK(strstr(text, "memory.c"));
}

#else
TEST(broken_invariants) { SKIP("there are no processes to break here"); }
#endif

TEST_MAIN()
