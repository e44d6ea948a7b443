// Text from outside (names of files, arguments) as it may be shown: nothing in it commands a terminal.
#include "output.h"

#include <stdio.h>
#include <string.h>

enum { MOST_OF_PATH = 240, HALF_OF_PATH = 110 };

int sap_cli_utf8_length(const char* at) {
    const unsigned char* text = (const unsigned char*)at;
    int length = *text < 0x80 ? 1 : *text >= 0xc2 && *text < 0xe0 ? 2 : *text >= 0xe0 && *text < 0xf0 ? 3 : 4;
    if ((*text >= 0x80 && *text < 0xc2) || *text > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool overlong = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90);
    bool beyond = (*text == 0xed && text[1] > 0x9f) || (*text == 0xf4 && text[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

void sap_cli_show(FILE* stream, const char* text) {
    while (*text) {
        int length = sap_cli_utf8_length(text);
        unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
        // Bytes that are no UTF-8 may be the controls of an older character set.
        bool control = length == 0 || first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
        fprintf(stream, "%.*s", control ? 1 : length, control ? "?" : text);
        text += length ? length : 1;
    }
}

static bool continues(char byte) { return ((unsigned char)byte & 0xc0) == 0x80; }

void sap_cli_shorten(char* sentence, const char* path) {
    size_t length = path ? strlen(path) : 0;
    if (length <= MOST_OF_PATH) return;
    size_t head = HALF_OF_PATH, tail = length - HALF_OF_PATH; // what lies between them goes
    while (head > 0 && continues(path[head])) head--;
    while (continues(path[tail])) tail++;
    for (char* at = sentence; (at = strstr(at, path)); at++) {
        memset(at + head, '.', 3);
        memmove(at + head + 3, at + tail, strlen(at + tail) + 1);
    }
}
