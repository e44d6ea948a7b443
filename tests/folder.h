// A folder for files that a test makes.
#ifndef SAPWOOD_TESTS_FOLDER_H
#define SAPWOOD_TESTS_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct folder {
    char path[64];
    char file[80]; // a path in it
} folder;

static inline bool folder_make(folder* f) {
    const char* base = getenv("TMPDIR");
    if (!base || strlen(base) > 40) base = "/tmp";
    snprintf(f->path, sizeof f->path, "%s/sapwood-XXXXXX", base);
    if (!mkdtemp(f->path)) return false;
    snprintf(f->file, sizeof f->file, "%s/tree.sap", f->path);
    return true;
}

// How many files lie in it; removes them if asked.
static inline int folder_count(const folder* f, bool remove_them) {
    int count = 0;
    DIR* open = opendir(f->path);
    for (struct dirent* entry; open && (entry = readdir(open));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        count++;
        char path[400];
        snprintf(path, sizeof path, "%s/%s", f->path, entry->d_name);
        if (remove_them) unlink(path);
    }
    if (open) closedir(open);
    return count;
}

static inline void folder_remove(const folder* f) {
    folder_count(f, true);
    rmdir(f->path);
}

#endif
