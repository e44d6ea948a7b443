// Real data: the mesh files of a folder, and files that xz has compressed.
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned char* bench_unpack(const char* path, size_t* size) {
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) return NULL;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("xz", "xz", "-dcf", "--", path, (char*)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t room = (size_t)1 << 20;
    unsigned char* bytes = bench_memory(room, 1);
    *size = 0;
    for (ssize_t got; (got = read(ends[0], bytes + *size, room - *size)) > 0;) {
        *size += (size_t)got;
        if (*size < room) continue;
        unsigned char* larger = bench_memory(room, 2);
        memcpy(larger, bytes, *size);
        free(bytes);
        bytes = larger;
        room *= 2;
    }
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    if (status == 0 && *size > 0) return bytes;
    free(bytes);
    return NULL;
}

// How long a name is without the suffix of a mesh file; 0: it has none.
static size_t stem_length(const char* name) {
    static const char* const suffixes[] = {".ply.xz", ".ply"};
    size_t length = strlen(name);
    for (int i = 0; i < 2; i++) {
        size_t end = strlen(suffixes[i]);
        if (length > end && strcmp(name + length - end, suffixes[i]) == 0) return length - end;
    }
    return 0;
}

static int is_mesh_file(const struct dirent* entry) { return stem_length(entry->d_name) > 0; }

bench_folder bench_mesh_files(const char* folder) {
    char path[1024];
    struct dirent** entries = NULL;
    bench_folder found = {NULL, 0};
    int count = (size_t)snprintf(path, sizeof path, "%s/meshes", folder) < sizeof path
                    ? scandir(path, &entries, is_mesh_file, alphasort)
                    : -1;
    if (count < 0 && (size_t)snprintf(path, sizeof path, "%s", folder) < sizeof path)
        count = scandir(path, &entries, is_mesh_file, alphasort);
    if (count < 0) return found;
    found.files = bench_memory((size_t)count, sizeof *found.files);
    for (int i = 0; i < count; i++) {
        const char* name = entries[i]->d_name;
        bench_file* file = &found.files[found.count];
        int path_length = snprintf(file->path, sizeof file->path, "%s/%s", path, name);
        int name_length = snprintf(file->name, sizeof file->name, "%.*s", (int)stem_length(name), name);
        bool fits = (size_t)path_length < sizeof file->path && (size_t)name_length < sizeof file->name;
        if (!fits) fprintf(stderr, "bench: left out, its name is too long: %s\n", name);
        found.count += fits;
        free(entries[i]);
    }
    free(entries);
    return found;
}
