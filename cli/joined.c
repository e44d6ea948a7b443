// What the ranks have found becomes one file: each writes its rows into it, or rank 0 gets all of them and writes.
#include "file.h"
#include "ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

// Whether what several machines write into one file meets there whole. NFS, and what is like it, keeps whole pages in each
// machine's memory, and writes them back over one another.
static bool can_be_shared(const char* path) {
#if defined(__linux__)
    static const unsigned long cached[] = {0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x01021997, 0x65735546};
    struct statfs about; // NFS, CIFS, SMB2, SMB, 9P, FUSE
    if (statfs(path, &about)) return false;
    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
        if (((unsigned long)about.f_type & 0xffffffff) == cached[i]) return false;
#endif
    return path != NULL;
}

// ---- To rank 0.

sap_cli_exit sap_cli_joined_bytes(sap_cli* cli, const void* mine, int64_t bytes, void** all) {
    const int32_t size = cli->ranks->size;
    int64_t* counts = sap_cli_allocate(cli, 3 * (int64_t)size, sizeof *counts);
    *all = NULL;
    sap_cli_exit result = sap_cli_agree(cli, counts ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) {
        free(counts);
        return result;
    }
    int64_t *sends = counts + size, *comes = sends + size, sum = 0;
    sap_comm_all_gather(cli->ranks->comm, &bytes, sizeof bytes, counts);
    const bool first = sap_cli_is_first(cli);
    for (int32_t r = 0; r < size; r++) {
        sends[r] = r ? 0 : bytes;
        comes[r] = first ? counts[r] : 0;
        sum += comes[r];
    }
    *all = first ? sap_cli_allocate(cli, sum, 1) : NULL;
    result = sap_cli_agree(cli, first && !*all ? SAP_EXIT_FAILED : SAP_EXIT_OK);
    if (result == SAP_EXIT_OK) sap_comm_all_to_all(cli->ranks->comm, mine, sends, *all, comes);
    free(counts);
    return result;
}

static size_t row_bytes(const sap_table* table) {
    const size_t number = table->number == SAP_INT32 || table->number == SAP_FLOAT32 ? 4 : 8;
    return number * (size_t)(table->columns ? table->columns : 1);
}

static sap_cli_exit write_by_first(sap_cli* cli, const char* path, const sap_table* table, int64_t all,
                                   const char* prefix) {
    void* values;
    sap_cli_exit result = sap_cli_joined_bytes(cli, table->values, table->rows * (int64_t)row_bytes(table), &values);
    if (result == SAP_EXIT_OK && sap_cli_is_first(cli)) {
        sap_table whole = *table;
        whole.values = values;
        whole.rows = all;
        result = sap_cli_write(cli, path, &whole, prefix);
    }
    free(values);
    return sap_cli_agree(cli, result);
}

// ---- By all.

// Rank 0 makes the file that takes the place of `path` when it is complete, and tells all of them its name. name "": the
// ranks cannot write it together.
static sap_cli_exit begin_file(sap_cli* cli, const char* path, sap_cli_file* file, char name[PATH_MAX]) {
    const char* place;
    memset(name, 0, PATH_MAX);
    sap_cli_exit result = SAP_EXIT_OK;
    if (sap_cli_is_first(cli) && path && sap_cli_format_of(cli, path) == SAP_FORMAT_NPY && strcmp(path, "-")) {
        struct stat about;
        const bool there = !stat(path, &about), other = there && !S_ISREG(about.st_mode); // a device, or a pipe
        if (!other) result = sap_cli_together_add(cli, path, &place);
        if (!other && result == SAP_EXIT_OK) result = sap_cli_file_open(cli, place, file);
        if (there && file->temporary) fchmod(fileno(file->stream), about.st_mode & 0777); // as the file it replaces
        if (result == SAP_EXIT_OK && file->temporary && can_be_shared(file->temporary))
            snprintf(name, PATH_MAX, "%s", file->temporary);
        else
            sap_cli_file_discard(file);
    }
    return sap_cli_agree(cli, result);
}

// A name of rank 0's, at all ranks.
static sap_cli_exit hear_name(sap_cli* cli, char name[PATH_MAX]) {
    char* all = sap_cli_allocate(cli, cli->ranks->size, PATH_MAX);
    const sap_cli_exit result = sap_cli_agree(cli, all ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) {
        sap_comm_all_gather(cli->ranks->comm, name, PATH_MAX, all);
        memcpy(name, all, PATH_MAX);
    }
    free(all);
    return result;
}

sap_cli_exit sap_cli_joined_write(sap_cli* cli, const char* path, const sap_table* table, int64_t first, int64_t all,
                                  const char* prefix) {
    sap_cli_file file = {.stream = NULL};
    char name[PATH_MAX];
    sap_cli_exit result = begin_file(cli, path, &file, name);
    if (result == SAP_EXIT_OK) result = hear_name(cli, name);
    if (result != SAP_EXIT_OK || !*name) {
        sap_cli_file_discard(&file);
        return result == SAP_EXIT_OK ? write_by_first(cli, path, table, all, prefix) : result;
    }
    sap_cli_stage_begin(cli, "writing");
    const sap_status status = sap_table_write_part(cli->device, name, *table, first, all);
    sap_cli_stage_end(cli);
    if (status == SAP_ERROR_IO)
        result = sap_cli_error(cli, "cannot write '%s': %s", path, strerror(cli->reason_errno));
    else if (status != SAP_OK)
        result = sap_cli_failed(cli, status, path);
    result = sap_cli_agree(cli, result);
    if (result == SAP_EXIT_OK && sap_cli_is_first(cli))
        result = sap_cli_file_close(cli, &file);
    else
        sap_cli_file_discard(&file);
    return sap_cli_agree(cli, result);
}

sap_number sap_cli_joined_ids(const sap_cli_reference* reference, void* ids, int64_t count) {
    if (reference->info.source_count > INT32_MAX) return SAP_INT64;
    for (int64_t i = 0; i < count; i++) { // each takes the place of one that has moved
        const int32_t id = (int32_t)((const int64_t*)ids)[i];
        memcpy((unsigned char*)ids + (size_t)i * sizeof id, &id, sizeof id);
    }
    return SAP_INT32;
}
