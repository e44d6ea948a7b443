// Files that are there completely or not at all.
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool sap_cli_has_suffix(const char* path, const char* suffix) {
    const size_t length = strlen(path), end = strlen(suffix);
    return length > end && !strcasecmp(path + length - end, suffix);
}

static void clear(sap_cli_file* file) {
    free(file->target);
    free(file->temporary);
    *file = (sap_cli_file){0};
}

static sap_cli_exit cannot_write(sap_cli* cli, const char* path) {
    return sap_cli_error(cli, "%s: cannot write: %s", path, strerror(errno));
}

// A new file beside the target, with the rights that any new file has.
static FILE* open_beside(sap_cli_file* file) {
    const char* slash = strrchr(file->target, '/');
    int folder = slash ? (int)(slash - file->target) + 1 : 0;
    if (asprintf(&file->temporary, "%.*s.sapwood-XXXXXX.part", folder, file->target) < 0) {
        file->temporary = NULL;
        return NULL;
    }
    int descriptor = mkstemps(file->temporary, 5);
    if (descriptor == -1) {
        free(file->temporary);
        file->temporary = NULL;
        return NULL;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, 0666 & ~mask);
    FILE* stream = fdopen(descriptor, "wb");
    if (!stream) close(descriptor);
    return stream;
}

sap_cli_exit sap_cli_file_open(sap_cli* cli, const char* path, sap_cli_file* file) {
    struct stat status;
    *file = (sap_cli_file){.path = path};
    if (!strcmp(path, "-")) {
        file->stream = stdout;
        return sap_cli_flush(cli);
    }
    bool there = !stat(path, &status);
    if (there && !S_ISREG(status.st_mode)) {
        file->stream = fopen(path, "wb");
    } else {
        file->target = there ? realpath(path, NULL) : strdup(path); // through links, to the file itself
        if (file->target) file->stream = open_beside(file);
    }
    if (file->stream) return SAP_EXIT_OK;
    cannot_write(cli, path);
    sap_cli_file_discard(file);
    return SAP_EXIT_FAILED;
}

void sap_cli_file_discard(sap_cli_file* file) {
    if (file->temporary) unlink(file->temporary);
    if (file->stream && file->stream != stdout) fclose(file->stream);
    clear(file);
}

sap_cli_exit sap_cli_file_close(sap_cli* cli, sap_cli_file* file) {
    if (file->stream == stdout) {
        clear(file);
        return sap_cli_flush(cli);
    }
    bool good = !fflush(file->stream) && !ferror(file->stream);
    if (good && file->temporary) good = !fsync(fileno(file->stream)) && !rename(file->temporary, file->target);
    int error = errno;
    if (fclose(file->stream) && good) {
        good = false;
        error = errno;
    }
    file->stream = NULL;
    if (good) {
        clear(file);
        return SAP_EXIT_OK;
    }
    errno = error;
    cannot_write(cli, file->path);
    sap_cli_file_discard(file);
    return SAP_EXIT_FAILED;
}
