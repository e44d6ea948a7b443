// The fibers' stacks and the switch between them, with what AddressSanitizer and ThreadSanitizer want to be told.
#include "fibers.h"

#include "sanitizers.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
enum { STACK_BYTES = 256 << 10 }; // frames are larger there
#else
enum { STACK_BYTES = 64 << 10 };
#endif
enum { FIBERS_AT_ONCE = 32 }; // mapped together

static fiber *idle_fibers, *current;
static void* home_context; // of whoever resumes
#ifdef __SANITIZE_ADDRESS__
static void* home_asan;
static const void* home_stack;
static size_t home_bytes;
#endif
#ifdef __SANITIZE_THREAD__
static void* home_tsan;
#endif

// ---- The switch. It saves what a called function must preserve, on the stack that it leaves.

#if !defined(CUDA_ON_CPU_UCONTEXT) && defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
extern "C" void cuda_on_cpu_switch(void** leave, void* enter);
static void begin(void);

#ifdef __x86_64__
enum { SAVED_WORDS = 7 };
// A jump rather than a return: the return's target is never the predicted one.
__asm__(".text\n.p2align 4\n.globl cuda_on_cpu_switch\n.type cuda_on_cpu_switch, @function\ncuda_on_cpu_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
        "popq %rcx\njmp *%rcx\n.size cuda_on_cpu_switch, .-cuda_on_cpu_switch\n");
#else
enum { SAVED_WORDS = 20 };
__asm__(".text\n.p2align 4\n.globl cuda_on_cpu_switch\n.type cuda_on_cpu_switch, %function\ncuda_on_cpu_switch:\n"
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
        "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
        "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\nret\n.size cuda_on_cpu_switch, .-cuda_on_cpu_switch\n");
#endif

// As if `begin` had stopped right at its start. The tops differ by cache lines: stacks a power of two apart would all
// meet in the same lines of the cache.
static void prepare(fiber* f, int number) {
    uintptr_t top = (uintptr_t)f->stack + STACK_BYTES - 64 - (uintptr_t)(number * 192 % 4096);
    void** words = (void**)(top & ~(uintptr_t)15) - 2 - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS + 2; ++i) words[i] = NULL;
#ifdef __x86_64__
    ++words; // a function starts 8 beside a multiple of 16
    words[SAVED_WORDS - 1] = (void*)(uintptr_t)&begin;
    words[SAVED_WORDS] = NULL;
#else
    words[11] = (void*)(uintptr_t)&begin; // x30
#endif
    f->context = words;
}

#else
#include <ucontext.h>

static void begin(void);

static void prepare(fiber* f, int number) {
    (void)number;
    ucontext_t* context = (ucontext_t*)calloc(1, sizeof(ucontext_t));
    if (context == NULL || getcontext(context) != 0) abort();
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = STACK_BYTES;
    makecontext(context, begin, 0);
    f->context = context;
}

static void cuda_on_cpu_switch(void** leave, void* enter) {
    if (*leave == NULL) *leave = calloc(1, sizeof(ucontext_t)); // home's, once
    if (*leave == NULL || swapcontext((ucontext_t*)*leave, (ucontext_t*)enter) != 0) abort();
}
#endif

static void begin(void) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &home_stack, &home_bytes);
#endif
    cuda_on_cpu_run_fiber(current);
}

void fiber_resume(fiber* to) {
    current = to;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&home_asan, to->stack, STACK_BYTES);
#endif
#ifdef __SANITIZE_THREAD__
    home_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    cuda_on_cpu_switch(&home_context, to->context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(home_asan, NULL, NULL);
#endif
}

void fiber_pause(fiber* from) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from->asan, home_stack, home_bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(home_tsan, 0);
#endif
    cuda_on_cpu_switch(&from->context, home_context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from->asan, &home_stack, &home_bytes); // home may be another OS thread now
#endif
}

// ---- Stacks. Below each lies a page that nobody may touch.

static void make_fibers(void) {
    static int made;
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE), step = STACK_BYTES + guard;
    void* memory =
        mmap(NULL, FIBERS_AT_ONCE * step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fiber* fibers = (fiber*)calloc(FIBERS_AT_ONCE, sizeof(fiber));
    if (memory == MAP_FAILED || fibers == NULL) {
        fprintf(stderr, "cuda_on_cpu: no memory for %d fibers\n", made + FIBERS_AT_ONCE);
        abort();
    }
    for (int i = FIBERS_AT_ONCE - 1; i >= 0; --i) {
        unsigned char* page = (unsigned char*)memory + (size_t)i * step;
        if (mprotect(page, guard, PROT_NONE) != 0) abort();
        fibers[i].stack = page + guard;
#ifdef __SANITIZE_THREAD__
        fibers[i].tsan = __tsan_create_fiber(0);
#endif
        prepare(&fibers[i], made + i);
        fiber_give(&fibers[i]);
    }
    made += FIBERS_AT_ONCE;
}

fiber* fiber_take(void) {
    if (idle_fibers == NULL) make_fibers();
    fiber* taken = idle_fibers;
    idle_fibers = taken->next;
    return taken;
}

void fiber_give(fiber* idle) {
    idle->next = idle_fibers;
    idle_fibers = idle;
}
