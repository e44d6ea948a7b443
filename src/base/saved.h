// The memory that trees lie in, and what files of saved trees have in common.
//
// A file is a header of 512 bytes, the tree's arrays just as they lie in memory, and 64 zero bytes, which searches may
// read beyond the arrays. Arrays begin at byte 512, hence aligned to 64 bytes in a mapped file. The header: magic (8
// bytes), version and byte order (uint32 each), what the tree says of itself (its facts), then as uint64 the bytes of
// the arrays and their checksum, zeros, and in the last 8 bytes the checksum of all of the header before them. Numbers
// are in the byte order of the machine that saved the tree.
#ifndef SAPWOOD_BASE_SAVED_H
#define SAPWOOD_BASE_SAVED_H

#include "base/memory.h"
#include "sapwood/base.h"

// ---- Memory of a tree's arrays: of the device's, or a mapped file. All zero: none.

typedef struct sap_tree_memory {
    size_t allocated; // bytes; 0 if the arrays lie in a mapped file
    void* mapping;    // the mapped file, or NULL
    size_t mapping_bytes;
} sap_tree_memory;

// Makes room for arrays of `bytes`, and SAP_ALIGNMENT more: a search may read a vector beyond them. What lay there is
// lost, unless this fails. Errors: SAP_ERROR_MEMORY.
sap_status sap_tree_memory_grow(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays,
                                size_t bytes);
// Lets go of the arrays, wherever they lie.
void sap_tree_memory_release(const sap_device* device, sap_tree_memory* memory, unsigned char** arrays);

// ---- Files.

enum { SAP_SAVED_HEADER = 512, SAP_SAVED_FACTS = 16 }; // bytes of the header; where the facts begin

// One kind of saved tree.
typedef struct sap_saved_form {
    char magic[8];
    uint32_t version;
    uint32_t facts;   // bytes of the facts, a multiple of 8
    const char* what; // "a saved tree"
} sap_saved_form;

// Writes a file: header, arrays, end. Errors: SAP_ERROR_IO, SAP_ERROR_MEMORY.
sap_status sap_saved_write(const sap_device* device, const char* path, const sap_saved_form* form, const void* facts,
                           const void* arrays, size_t bytes);

typedef struct sap_saved_file {
    const sap_device* device;
    const char* path;
    int descriptor;
    size_t bytes; // of the arrays
    uint64_t sum; // their checksum
} sap_saved_file;

// Opens a file, checks its header and its size, and copies the facts. On failure there is nothing to close. Errors:
// SAP_ERROR_IO, SAP_ERROR_FORMAT.
sap_status sap_saved_open(sap_saved_file* file, const sap_device* device, const char* path, const sap_saved_form* form,
                          void* facts);
// Maps the file, or where it cannot be mapped reads the arrays, and checks them against their checksum. On failure
// there is no memory to release. Errors: SAP_ERROR_IO, SAP_ERROR_FORMAT, SAP_ERROR_MEMORY.
sap_status sap_saved_load(const sap_saved_file* file, sap_tree_memory* memory, unsigned char** arrays);
void sap_saved_close(sap_saved_file* file);
// Says what is wrong at a byte of the file. SAP_ERROR_FORMAT.
sap_status sap_saved_refuse(const sap_saved_file* file, size_t byte, const char* what);

// The checksum of whole words. It multiplies words of 8 bytes into eight lanes, each by h = (h ^ word) * odd, and the
// lanes into one. Every step is a bijection of h and of the word alike, so a change within one word never goes
// unnoticed.
uint64_t sap_saved_sum(const void* bytes, size_t size);

#endif
