// Hands every file of the folders (or every file) named as arguments to a fuzzer, once: for compilers without
// libFuzzer, and for the corpora in tests.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// The number of inputs run: 1, or -1 if the file cannot be read.
static long replay_file(const char* path, size_t size) {
    FILE* file = fopen(path, "rb");
    uint8_t* data = malloc(size ? size : 1);
    long done = -1;
    if (file && data && fread(data, 1, size, file) == size) {
        LLVMFuzzerTestOneInput(data, size);
        done = 1;
    }
    free(data);
    if (file) fclose(file);
    if (done < 0) fprintf(stderr, "cannot read %s\n", path);
    return done;
}

// Runs a file, or the files of a folder.
static long replay(const char* path) {
    struct stat about;
    if (stat(path, &about)) {
        fprintf(stderr, "cannot find %s\n", path);
        return -1;
    }
    if (!S_ISDIR(about.st_mode)) return replay_file(path, (size_t)about.st_size);
    DIR* folder = opendir(path);
    long total = folder ? 0 : -1;
    for (struct dirent* entry; folder && total >= 0 && (entry = readdir(folder));) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (stat(inside, &about) || !S_ISREG(about.st_mode)) continue;
        long done = replay_file(inside, (size_t)about.st_size);
        total = done < 0 ? -1 : total + done;
    }
    if (folder) closedir(folder);
    return total;
}

int main(int count, char** paths) {
    long total = 0;
    for (int i = 1; i < count && total >= 0; i++) {
        long done = replay(paths[i]);
        total = done < 0 ? -1 : total + done;
    }
    // No input at all is a mistake in the call, not a success.
    if (total <= 0) {
        fprintf(stderr, "nothing was replayed; name folders of inputs\n");
        return 1;
    }
    printf("%ld inputs replayed\n", total);
    return 0;
}
