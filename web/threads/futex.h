// Waiting in shared memory. The main thread of a page must not wait: there it spins.
#ifndef WEB_THREADS_FUTEX_H
#define WEB_THREADS_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

/** A lock: 0 free, 1 taken, 2 taken while others wait. Ulrich Drepper, "Futexes are tricky", 2011. */
typedef int32_t web_lock;

void web_lock_take(web_lock* lock);
void web_lock_give(web_lock* lock);

/** Says whether the calling thread may wait; until then it spins. */
void web_futex_may_wait(bool may);

/** Returns once *word is another than `value`; whoever changes it calls web_futex_wake. */
void web_futex_wait(int32_t* word, int32_t value);
void web_futex_wake(int32_t* word);

#endif
