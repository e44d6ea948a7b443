#include "saved/output.h"
#include "base/assert.h"
#include "device/device.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

static void keep_error(sap_output* output) {
    if (!output->error) output->error = errno;
}

// Writes all bytes, in as many calls of the system as that takes.
static void write_all(sap_output* output, const unsigned char* bytes, size_t size) {
    const size_t most = (size_t)1 << 30; // one write of more than 2 GiB is refused by some systems
    while (size && !output->error) {
        ssize_t written = write(output->descriptor, bytes, size < most ? size : most);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            if (written == 0) errno = EIO;
            keep_error(output);
        }
    }
}

// Creates a file with a short name of its own in the target's folder.
static int create_temporary(sap_output* output) {
    const int attempts = 100;
    const char* last = strrchr(output->target, '/');
    int folder = last ? (int)(last - output->target) + 1 : 0;
    for (int i = 0; i < attempts; i++) {
        int length = snprintf(output->temporary, sizeof output->temporary, "%.*s.sapwood-%ld-%d.part", folder,
                              output->target, (long)getpid(), i);
        if (length < 0 || (size_t)length >= sizeof output->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

static bool set_target(sap_output* output, const char* path) {
    size_t length = strlen(path);
    if (length >= sizeof output->target) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(output->target, path, length + 1);
    return true;
}

// Opens the descriptor; -1 with errno on failure.
static int open_descriptor(sap_output* output, const char* path) {
    // A copy of standard output can be closed, which reports errors that the system has kept.
    if (!strcmp(path, "-")) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    struct stat about;
    if (!*path) {
        errno = ENOENT;
        return -1;
    }
    if (stat(path, &about)) {
        // A link to a file that does not exist yet stays a link.
        if (!lstat(path, &about)) return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        return set_target(output, path) ? create_temporary(output) : -1;
    }
    if (!S_ISREG(about.st_mode)) return open(path, O_WRONLY | O_CLOEXEC);
    // A link to a file stays, and the file it leads to is replaced, which keeps its permissions.
    char resolved[PATH_MAX];
    if (!realpath(path, resolved) || access(resolved, W_OK) || !set_target(output, resolved)) return -1;
    int descriptor = create_temporary(output);
    if (descriptor >= 0) (void)fchmod(descriptor, about.st_mode & 0777);
    return descriptor;
}

sap_status sap_output_open(sap_output* output, const sap_device* device, const char* path) {
    output->device = device;
    output->name = strcmp(path, "-") ? path : "standard output";
    output->error = 0;
    output->used = 0;
    output->target[0] = output->temporary[0] = 0;
    output->buffer = sap_memory_allocate(device, BUFFER_BYTES);
    if (!output->buffer) return sap_fail(device, SAP_ERROR_MEMORY, "no memory to write '%s'", output->name);
    output->descriptor = open_descriptor(output, path);
    if (output->descriptor >= 0) return SAP_OK;
    output->error = errno;
    sap_memory_release(device, output->buffer, BUFFER_BYTES);
    return sap_fail(device, SAP_ERROR_IO, "cannot write '%s': %s", output->name, strerror(output->error));
}

void sap_output_put(sap_output* output, const void* bytes, size_t size) {
    SAP_ASSERT(output->descriptor >= 0 && output->used <= BUFFER_BYTES);
    if (size > BUFFER_BYTES - output->used) {
        write_all(output, output->buffer, output->used);
        output->used = 0;
    }
    if (size > BUFFER_BYTES) {
        write_all(output, bytes, size);
    } else if (size) {
        memcpy(output->buffer + output->used, bytes, size);
        output->used += size;
    }
}

void sap_output_text(sap_output* output, const char* text) { sap_output_put(output, text, strlen(text)); }

// Closes the file, and puts it in its place if all went well, or removes it. Once for each file that was opened.
static void finish(sap_output* output) {
    SAP_ASSERT(output->descriptor >= 0);
    bool replaces = output->target[0];
    if (replaces && !output->error && fsync(output->descriptor)) keep_error(output);
    // The file has its last name before it is closed: whoever ends the program by a signal can find it by descriptor.
    if (replaces && !output->error && rename(output->temporary, output->target)) keep_error(output);
    if (replaces && output->error) unlink(output->temporary);
    if (close(output->descriptor)) keep_error(output);
    output->descriptor = -1;
    sap_memory_release(output->device, output->buffer, BUFFER_BYTES);
}

sap_status sap_output_close(sap_output* output) {
    write_all(output, output->buffer, output->used);
    finish(output);
    if (!output->error) return SAP_OK;
    return sap_fail(output->device, SAP_ERROR_IO, "cannot write '%s': %s", output->name, strerror(output->error));
}

void sap_output_discard(sap_output* output) {
    output->error = ECANCELED;
    finish(output);
}
