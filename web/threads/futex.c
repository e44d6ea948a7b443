#include "futex.h"

static _Thread_local bool may_wait;

void web_futex_may_wait(bool may) { may_wait = may; }

void web_futex_wait(int32_t* word, int32_t value) {
    // Most waits are shorter than it takes to sleep and to be woken.
    for (int turns = 0; turns < 1000; turns += may_wait)
        if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return;
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) __builtin_wasm_memory_atomic_wait32(word, value, -1);
}

void web_futex_wake(int32_t* word) { __builtin_wasm_memory_atomic_notify(word, UINT32_MAX); }

void web_lock_take(web_lock* lock) {
    int32_t free = 0;
    if (__atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_SEQ_CST)) web_futex_wait(lock, 2);
}

void web_lock_give(web_lock* lock) {
    if (__atomic_exchange_n(lock, 0, __ATOMIC_SEQ_CST) == 2) web_futex_wake(lock);
}
