// LZF: a byte below 32 counts bytes that follow; any other one begins a reference to bytes that have been written.
#include "files/lzf.h"
#include "base/assert.h"
#include <string.h>

bool sap_lzf_expand(const unsigned char* in, size_t in_size, unsigned char* out, size_t out_size, size_t* at) {
    enum { PLAIN = 32, LONG = 7, LEAST = 2 };
    size_t read = 0, written = 0;
    while (read < in_size) {
        *at = read;
        unsigned control = in[read++];
        if (control < PLAIN) {
            size_t length = control + 1;
            if (length > in_size - read || length > out_size - written) return false;
            memcpy(out + written, in + read, length);
            read += length;
            written += length;
            continue;
        }
        size_t length = control >> 5, back = (size_t)(control & 31) << 8;
        if (in_size - read < (length == LONG ? 2u : 1u)) return false;
        if (length == LONG) length += in[read++];
        length += LEAST;
        back += (size_t)in[read++] + 1;
        if (back > written || length > out_size - written) return false;
        // Byte by byte: what is named may reach into what is being written.
        for (size_t i = 0; i < length; i++, written++) out[written] = out[written - back];
    }
    SAP_ASSERT(written <= out_size);
    *at = in_size;
    return written == out_size;
}
