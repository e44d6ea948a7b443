// Included before each of the library's files: their heap is that of web/threads/heap.c.
#ifndef WEB_THREADS_HEAP_H
#define WEB_THREADS_HEAP_H

#include <stdlib.h>

void* web_malloc(size_t bytes);
void* web_calloc(size_t count, size_t bytes);
void* web_realloc(void* memory, size_t bytes);
void* web_aligned_alloc(size_t alignment, size_t bytes);
void web_free(void* memory);

#define malloc        web_malloc
#define calloc        web_calloc
#define realloc       web_realloc
#define aligned_alloc web_aligned_alloc
#define free          web_free

#endif
