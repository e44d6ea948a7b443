#include "base/saved.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 8 };

static const size_t longest_read = (size_t)1 << 30; // some systems give no more at once

uint64_t sap_saved_sum(const void* bytes, size_t size) {
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    const unsigned char* at = bytes;
    uint64_t lanes[LANES], words[LANES];
    for (int i = 0; i < LANES; i++) lanes[i] = odd * (uint64_t)(i + 1);
    size_t left = size;
    for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (int i = 0; i < LANES; i++) lanes[i] = (lanes[i] ^ words[i]) * odd;
    }
    for (int i = 0; left >= sizeof words[0]; i++, left -= sizeof words[0], at += sizeof words[0]) {
        memcpy(words, at, sizeof words[0]);
        lanes[i] = (lanes[i] ^ words[0]) * odd;
    }
    uint64_t sum = size;
    for (int i = 0; i < LANES; i++) {
        sum = (sum ^ lanes[i]) * odd;
        sum ^= sum >> 29;
    }
    return sum;
}

int sap_saved_read(int file, void* bytes, size_t size) {
    unsigned char* at = bytes;
    while (size > 0) {
        ssize_t got = read(file, at, size < longest_read ? size : longest_read);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? -1 : 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}
