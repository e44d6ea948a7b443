// The memory that trees lie in, and what saved trees have in common, in files or in memory.
//
// A saved tree is a header of 512 bytes, the tree's arrays just as they lie in memory, and 64 zero bytes, which
// searches may read beyond the arrays. Arrays begin at byte 512, hence aligned to 64 bytes in a mapped file. The
// header: magic (8 bytes), version and byte order (uint32 each), what the tree says of itself (its facts), then as
// uint64 the bytes of the arrays and their checksum, facts that came to be later and are zero in trees of before, zeros,
// and in the last 8 bytes the checksum of all of the header before them. Numbers are in the byte order of the machine that saved the tree.
#ifndef SAPWOOD_SAVED_SAVED_H
#define SAPWOOD_SAVED_SAVED_H

#include "device/memory.h"
#include "sapwood/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Memory of a tree's arrays: of the device's, a mapped file, or the caller's bytes. All zero: none.

typedef struct sap_tree_memory {
    size_t allocated;     // bytes; 0 if the arrays lie in a mapped file or in the caller's bytes
    void* mapping;        // the mapped file, or the caller's bytes; or NULL
    size_t mapping_bytes; // 0: they are the caller's
} sap_tree_memory;

// Makes room for arrays of `bytes`, and SAP_ALIGNMENT more: a search may read a vector beyond them. What lay there is
// lost, unless this fails. Errors: SAP_ERROR_MEMORY.
sap_status sap_tree_memory_grow(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays,
                                size_t bytes);
// Releases the memory of the arrays, or unmaps their file.
void sap_tree_memory_release(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays);

// ---- Saving and loading.

enum { SAP_SAVED_HEADER = 512, SAP_SAVED_FACTS = 16 }; // bytes of the header; where the facts begin

// One kind of saved tree.
typedef struct sap_saved_form {
    char magic[8];
    uint32_t version;
    uint32_t facts;   // bytes of the facts, a multiple of 8
    const char* what; // "a saved tree"
    uint32_t later;   // bytes of facts that came to be later, a multiple of 8
} sap_saved_form;

// Where a saved tree is: a file, or `size` bytes of the caller's, which begin at a multiple of SAP_ALIGNMENT.
typedef struct sap_saved_place {
    const char* path; // NULL: bytes
    void* bytes;      // only read in loading
    int64_t size;
} sap_saved_place;

// The bytes of a saved tree whose arrays have `bytes`.
static inline int64_t sap_saved_size(size_t bytes) { return (int64_t)(SAP_SAVED_HEADER + bytes + SAP_ALIGNMENT); }

// Whether a place was given at all. Errors: SAP_ERROR_ARGUMENT.
sap_status sap_saved_place_check(const sap_device* device, const sap_saved_place* place);
// Writes header, arrays and end. `facts` are followed by those that came later. Errors: SAP_ERROR_IO, SAP_ERROR_MEMORY; SAP_ERROR_ARGUMENT if the size of a place in
// memory is another than sap_saved_size.
sap_status sap_saved_write(const sap_device* device, const sap_saved_place* place, const sap_saved_form* form,
                           const void* facts, const void* arrays, size_t bytes);

typedef struct sap_saved_file {
    const sap_device* device;
    const char* name;           // for sentences: the path, or what stands for one
    const unsigned char* start; // of a saved tree in memory; or NULL
    int descriptor;             // of a file
    size_t bytes;               // of the arrays
    uint64_t sum;               // their checksum
} sap_saved_file;

// Opens a saved tree, checks its header and its size, and copies the facts. On failure there is nothing to close.
// Errors: SAP_ERROR_IO, SAP_ERROR_FORMAT.
sap_status sap_saved_open(sap_saved_file* file, const sap_device* device, const sap_saved_place* place,
                          const sap_saved_form* form, void* facts);
// Maps the file, or where it cannot be mapped reads the arrays; those in memory are used where they are. Checks them
// against their checksum. On failure there is no memory to release. Errors: SAP_ERROR_IO, SAP_ERROR_FORMAT,
// SAP_ERROR_MEMORY.
sap_status sap_saved_load(const sap_saved_file* file, sap_tree_memory* memory, unsigned char** arrays);
void sap_saved_close(sap_saved_file* file);
// Says what is wrong at a byte. SAP_ERROR_FORMAT.
sap_status sap_saved_refuse(const sap_saved_file* file, size_t byte, const char* what);

// The checksum of whole words. It multiplies words of 8 bytes into eight lanes, each by h = (h ^ word) * odd, and the
// lanes into one. Every step is a bijection of h and of the word alike, so a change within one word never goes
// unnoticed.
uint64_t sap_saved_sum(const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
