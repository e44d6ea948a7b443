// A saved tree in a file that a test damages: every bit flipped, every end missing, bytes too many.
#ifndef SAPWOOD_TESTS_SAVED_FILE_H
#define SAPWOOD_TESTS_SAVED_FILE_H

#include "allocator.h"
#include "folder.h"
#include "test.h"
#include <fcntl.h>

typedef struct saved_file {
    folder files;
    int open; // for writing; -1: not yet
    size_t size;
    unsigned char* bytes; // as first saved
} saved_file;

// What a scene that holds a saved file expects of loading it.
typedef struct saved_checks {
    void* scene;
    void (*refused)(void* scene);
    void (*loaded)(void* scene);
} saved_checks;

// Opens the file anew, after a save has put another in its place.
static inline void saved_file_open(saved_file* f) {
    if (f->open >= 0) close(f->open);
    f->open = open(f->files.file, O_RDWR);
    CHECK(f->open >= 0);
}

static inline void saved_file_keep(saved_file* f) {
    f->size = (size_t)lseek(f->open, 0, SEEK_END);
    f->bytes = malloc(f->size);
    CHECK(pread(f->open, f->bytes, f->size, 0) == (ssize_t)f->size);
}

static inline void saved_file_remove(saved_file* f) {
    close(f->open);
    free(f->bytes);
    folder_remove(&f->files);
}

// A load has failed as it should: one sentence, the first since log_calls was 0, that tells the byte or the node.
static inline void expect_one_sentence(watch* w, sap_status status, const void* tree) {
    CHECK_STATUS(status, SAP_ERROR_FORMAT);
    CHECK(tree == NULL && w->log_calls == 1 && w->logged == SAP_ERROR_FORMAT);
    CHECK(strpbrk(w->sentence, "0123456789"));
}

static inline void flip_every_bit(saved_file* f, saved_checks expect) {
    for (size_t bit = 0; bit < f->size * 8; bit++) {
        unsigned char byte = (unsigned char)(f->bytes[bit / 8] ^ 1 << bit % 8);
        NOTE("byte %zu of %zu, bit %zu", bit / 8, f->size, bit % 8);
        if (pwrite(f->open, &byte, 1, (off_t)(bit / 8)) != 1) break;
        expect.refused(expect.scene);
        if (pwrite(f->open, &f->bytes[bit / 8], 1, (off_t)(bit / 8)) != 1) break;
    }
    expect.loaded(expect.scene);
}

static inline void cut_and_extend(saved_file* f, saved_checks expect) {
    for (size_t size = f->size; size-- > 0;) {
        NOTE("the first %zu of %zu bytes", size, f->size);
        if (ftruncate(f->open, (off_t)size)) break;
        expect.refused(expect.scene);
    }
    CHECK(pwrite(f->open, f->bytes, f->size, 0) == (ssize_t)f->size);
    expect.loaded(expect.scene);
    static const size_t more[] = {1, 8, 64, 512, 100000};
    for (int i = 0; i < 5; i++) {
        NOTE("%zu bytes too many", more[i]);
        CHECK(!ftruncate(f->open, (off_t)(f->size + more[i])));
        expect.refused(expect.scene);
    }
    CHECK(!ftruncate(f->open, (off_t)f->size));
    expect.loaded(expect.scene);
}

#endif
