// Several outputs of one command come into their places together: when all are complete, or not at all.
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sap_cli_together_begin(sap_cli* cli, const sap_cli_output* outputs, int count) {
    int named = 0;
    for (int i = 0; i < count; i++) named += outputs[i].path && strcmp(outputs[i].path, "-");
    cli->together = named > 1;
}

// The file that a path leads to, if it is one that can be replaced: new memory, else NULL.
static char* find_target(const char* path, bool* there, mode_t* mode) {
    struct stat about;
    *there = !stat(path, &about);
    if (!strcmp(path, "-") || (*there && !S_ISREG(about.st_mode)) || (!*there && !lstat(path, &about))) return NULL;
    *mode = *there ? about.st_mode & 0777 : 0;
    return *there ? realpath(path, NULL) : strdup(path);
}

sap_cli_exit sap_cli_together_add(sap_cli* cli, const char* path, const char** place) {
    bool there;
    mode_t mode = 0;
    *place = path;
    char* target = cli->together && path ? find_target(path, &there, &mode) : NULL;
    if (!target) return SAP_EXIT_OK;
    sap_cli_waiting* waiting = &cli->waiting[cli->waiting_count];
    const char* slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    char* temporary;
    const char* suffix = sap_cli_has_suffix(target, ".tsv") ? ".tsv" : ""; // it tells the writer what separates
    if (asprintf(&temporary, "%.*s.sapwood-XXXXXX.part%s", folder, target, suffix) < 0) {
        free(target);
        return sap_cli_error(cli, "no memory to write '%s'", path);
    }
    int descriptor = mkstemps(temporary, 5 + (int)strlen(suffix));
    if (descriptor < 0) {
        free(target);
        free(temporary);
        return sap_cli_error(cli, "cannot write '%s': %s", path, strerror(errno));
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, there ? mode : 0666 & ~mask); // which the writer that replaces this file keeps
    *waiting = (sap_cli_waiting){path, target, temporary};
    sap_cli_interrupted_removes(cli->waiting_count++, temporary);
    close(descriptor);
    *place = waiting->temporary;
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_together_end(sap_cli* cli, sap_cli_exit result) {
    for (int i = 0; i < cli->waiting_count; i++) {
        sap_cli_waiting* waiting = &cli->waiting[i];
        if (result == SAP_EXIT_OK && rename(waiting->temporary, waiting->target))
            result = sap_cli_error(cli, "cannot write '%s': %s", waiting->path, strerror(errno));
        if (result != SAP_EXIT_OK) unlink(waiting->temporary);
        sap_cli_interrupted_removes(i, NULL);
        free(waiting->target);
        free(waiting->temporary);
    }
    cli->waiting_count = 0;
    return result;
}

sap_cli_exit sap_cli_together_failed(sap_cli* cli, sap_status status, const char* path, const char* place) {
    if (path == place || status != SAP_ERROR_IO) return sap_cli_failed(cli, status, path);
    return sap_cli_error(cli, "cannot write '%s': %s", path, strerror(cli->reason_errno));
}
