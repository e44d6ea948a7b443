// LZF, the compression in which PCL saves points.
#ifndef SAPWOOD_FILES_LZF_H
#define SAPWOOD_FILES_LZF_H

#include <stdbool.h>
#include <stddef.h>

// The most bytes that one compressed byte can stand for: 3 bytes name 264 that are there already.
enum { SAP_LZF_MOST = 88 };

// Expands to exactly out_size bytes. False if the input leads to more or to fewer, or names bytes before the first; *at
// is then the place in the input that is wrong.
bool sap_lzf_expand(const unsigned char* in, size_t in_size, unsigned char* out, size_t out_size, size_t* at);

#endif
