// The heap for several threads: Emscripten's, which knows of one, under a lock. JavaScript and web/module call the heap
// itself, for they call it when no other thread works.
#include "heap.h"

#include "futex.h"

#undef malloc
#undef calloc
#undef realloc
#undef aligned_alloc
#undef free

static web_lock lock;

static void* locked(void* memory) {
    web_lock_give(&lock);
    return memory;
}

void* web_malloc(size_t bytes) {
    web_lock_take(&lock);
    return locked(malloc(bytes));
}
void* web_calloc(size_t count, size_t bytes) {
    web_lock_take(&lock);
    return locked(calloc(count, bytes));
}
void* web_realloc(void* memory, size_t bytes) {
    web_lock_take(&lock);
    return locked(realloc(memory, bytes));
}
void* web_aligned_alloc(size_t alignment, size_t bytes) {
    web_lock_take(&lock);
    return locked(aligned_alloc(alignment, bytes));
}
void web_free(void* memory) {
    web_lock_take(&lock);
    free(memory);
    web_lock_give(&lock);
}
