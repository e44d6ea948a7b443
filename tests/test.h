// A small test harness: one header, C17, nothing but the C library, so that it runs on any machine and in WASM.
//
//   TEST(name) { CHECK(condition); }     registers itself
//   TEST_MAIN()                          once, at the end of the file
//
// The program takes `--list` or names: a test runs if its name contains one of them. Its last line is
// "N passed, N failed, N skipped"; it exits with 1 if a test failed. Checks return whether they held, go on when they
// did not, and may be used by several threads.
#ifndef SAPWOOD_TEST_H
#define SAPWOOD_TEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Whether the address or the thread sanitizer watches, which makes everything several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif
// Whether the CPU plays a GPU under a sanitizer, which takes a hundred times as long.
#if defined(SAP_EMULATED) && TEST_SANITIZED
#define TEST_SLOW 1
#else
#define TEST_SLOW 0
#endif

typedef struct test_case {
    const char* name;
    void (*run)(void);
    struct test_case* next;
} test_case;

static struct {
    test_case* first;
    int failures;        // of the running test
    const char* skipped; // why, if the running test was skipped
    char note[256];      // what the running test is at, printed when a check fails
} test_state;

enum { TEST_FAILURES_SHOWN = 10 };

static inline void test_register(test_case* added) {
    test_case** link = &test_state.first;
    while (*link) link = &(*link)->next;
    *link = added;
}

// Counts a failed check; true if it is to be printed, after its place has been.
static inline bool test_failed(const char* file, int line) {
    int before = __atomic_fetch_add(&test_state.failures, 1, __ATOMIC_RELAXED);
    if (before >= TEST_FAILURES_SHOWN) return false;
    printf("%s:%d: %s%s", file, line, test_state.note, test_state.note[0] ? ": " : "");
    return true;
}

static inline bool test_check(bool held, const char* text, const char* file, int line) {
    if (!held && test_failed(file, line)) printf("failed: %s\n", text);
    return held;
}

static inline bool test_equal(long long a, long long b, const char* text, const char* file, int line) {
    if (a != b && test_failed(file, line)) printf("failed: %s: %lld and %lld\n", text, a, b);
    return a == b;
}

static inline bool test_text(const char* a, const char* b, const char* text, const char* file, int line) {
    bool held = a && b && !strcmp(a, b);
    if (!held && test_failed(file, line))
        printf("failed: %s: \"%s\" and \"%s\"\n", text, a ? a : "(null)", b ? b : "(null)");
    return held;
}

__attribute__((format(printf, 1, 2))) static inline void test_note(const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(test_state.note, sizeof test_state.note, format, values);
    va_end(values);
}

// Runs what the arguments name; the program's exit code.
static inline int test_main(int count, char** names) {
    static const char* const words[] = {"passed ", "FAILED ", "skipped"};
    int outcomes[3] = {0, 0, 0};
    bool list = count == 2 && !strcmp(names[1], "--list");
    for (const test_case* t = test_state.first; t; t = t->next) {
        bool wanted = count < 2 || list;
        for (int i = 1; i < count && !wanted; i++) wanted = strstr(t->name, names[i]) != NULL;
        if (list) printf("%s\n", t->name);
        if (list || !wanted) continue;
        test_state.failures = 0;
        test_state.skipped = NULL;
        test_state.note[0] = 0;
        t->run();
        int outcome = test_state.failures ? 1 : test_state.skipped ? 2 : 0;
        outcomes[outcome]++;
        printf("%s %s%s%s\n", words[outcome], t->name, outcome == 2 ? ": " : "",
               outcome == 2 ? test_state.skipped : "");
        fflush(stdout);
    }
    if (list) return 0;
    bool none = outcomes[0] + outcomes[1] + outcomes[2] == 0;
    if (none) printf("no such test\n");
    printf("%d passed, %d failed, %d skipped\n", outcomes[0], outcomes[1], outcomes[2]);
    return outcomes[1] || none;
}

#define TEST(name)                                                                                                     \
    static void test_##name(void);                                                                                     \
    __attribute__((constructor)) static void register_##name(void) {                                                   \
        static test_case self = {#name, test_##name, NULL};                                                            \
        test_register(&self);                                                                                          \
    }                                                                                                                  \
    static void test_##name(void)

#define CHECK(condition)  test_check(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(a, b) test_equal((long long)(a), (long long)(b), #a " == " #b, __FILE__, __LINE__)
#define CHECK_TEXT(a, b)  test_text(a, b, #a " == " #b, __FILE__, __LINE__)
#define CHECK_STATUS(call, expected)                                                                                   \
    test_text(sap_status_string(call), sap_status_string(expected), #call " gives " #expected, __FILE__, __LINE__)
#define NOTE(...) test_note(__VA_ARGS__) /* printf style: which case the next checks belong to */
#define SKIP(why)                                                                                                      \
    do {                                                                                                               \
        test_state.skipped = (why);                                                                                    \
        return;                                                                                                        \
    } while (0)
#define TEST_MAIN()                                                                                                    \
    int main(int count, char** names) { return test_main(count, names); }

#endif
