// What an output may replace: nothing that is read, and nothing that cannot be written.
#include "file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// What is known of the folder of a path; false if it is not there.
static bool folder_of(const char* path, struct stat* folder) {
    char name[PATH_MAX];
    const char* slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof name) return false;
    memcpy(name, path, length);
    name[length] = 0;
    return !stat(length ? name : ".", folder);
}

// Whether two paths lead to one file, be it there or not. Devices such as /dev/null can be shared.
static bool same_file(const char* left, const char* right) {
    struct stat a, b;
    if (stat(left, &a) || stat(right, &b)) {
        const char *left_slash = strrchr(left, '/'), *right_slash = strrchr(right, '/');
        const char *left_name = left_slash ? left_slash + 1 : left, *right_name = right_slash ? right_slash + 1 : right;
        return !strcmp(left_name, right_name) && folder_of(left, &a) && folder_of(right, &b) && a.st_dev == b.st_dev &&
               a.st_ino == b.st_ino;
    }
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && !S_ISCHR(a.st_mode);
}

static const char* operand_name(const sap_cli* cli, int operand) {
    sap_cli_verb verb = cli->options->verb;
    if (verb == SAP_VERB_ASSEMBLE) return "CLOUD";
    if (verb == SAP_VERB_ALIGN) return operand == 1 ? "TARGET" : "SOURCE";
    if (operand == 1) return verb == SAP_VERB_TRACE ? "RAYS" : verb == SAP_VERB_BOX ? "BOXES" : "QUERIES";
    if (verb == SAP_VERB_RENDER || verb == SAP_VERB_TRACE || verb == SAP_VERB_CLOSEST || verb == SAP_VERB_SUBDIVIDE)
        return "MESH";
    if (verb == SAP_VERB_ISOSURFACE || verb == SAP_VERB_COMPACT) return "VOLUME";
    if (verb == SAP_VERB_VORONOI) return "SITES";
    if (verb == SAP_VERB_CONVERT) return "FILE";
    const bool searches = verb == SAP_VERB_NEAREST || verb == SAP_VERB_RADIUS || verb == SAP_VERB_BOX ||
                          verb == SAP_VERB_CORRELATE || verb == SAP_VERB_PAIRS;
    return searches ? "REFERENCE" : "POINTS";
}

// ---- Material libraries

// The length of a line, which '\n' or '\r' ends, or -1 at the end of the file. What has no room is left out.
static int take_line(FILE* file, char line[PATH_MAX]) {
    int length = 0, c = getc(file);
    if (c == EOF) return -1;
    for (; c != EOF && c != '\n' && c != '\r'; c = getc(file))
        if (length < PATH_MAX - 1) line[length++] = (char)c;
    line[length] = 0;
    return length;
}

// Whether a library's name, in an OBJ of this path, leads to the file. Libraries are looked up in the OBJ's folder.
static bool leads_to(const char* mesh, const char* name, const char* path) {
    char library[2 * PATH_MAX];
    const char *slash = strrchr(mesh, '/'), *last = name + strlen(name);
    if (*name == '/' || strchr(name, '\\')) // of another machine: only the last name counts
        while (last > name && last[-1] != '/' && last[-1] != '\\') last--;
    else
        last = name;
    snprintf(library, sizeof library, "%.*s%s", slash ? (int)(slash - mesh) + 1 : 0, mesh, last);
    return *last && same_file(library, path);
}

// A statement mtllib names one library, whose name may hold blanks, or several.
static bool names_library(const char* mesh, char* line, const char* path) {
    static const char word[] = "mtllib", blanks[] = " \t\v\f";
    line += strspn(line, blanks);
    if (strncmp(line, word, strlen(word)) || !strchr(blanks, line[strlen(word)])) return false;
    line += strlen(word);
    line += strspn(line, blanks);
    for (size_t end = strlen(line); end && strchr(blanks, line[end - 1]);) line[--end] = 0;
    bool found = leads_to(mesh, line, path);
    for (char* rest = NULL; !found && (line = strtok_r(rest ? NULL : line, blanks, &rest));)
        found = leads_to(mesh, line, path);
    return found;
}

static bool is_packed(const char* path) {
    const char* end = strrchr(path, '.');
    return end && !strcasecmp(end, ".gz");
}

// Whether the input is an OBJ that takes its materials from the file. One that can be read only once, or is packed, might.
static bool reads_library(const sap_cli* cli, const char* input, const char* path) {
    const unsigned reading = 1u << SAP_VERB_CONVERT | 1u << SAP_VERB_BUILD | 1u << SAP_VERB_RENDER |
                             1u << SAP_VERB_TRACE | 1u << SAP_VERB_CLOSEST | 1u << SAP_VERB_SUBDIVIDE;
    sap_format format = cli->options->input_format;
    struct stat about;
    char line[PATH_MAX];
    if (!format) format = sap_format_of(input);
    if (!(1u << cli->options->verb & reading) || (format && format != SAP_FORMAT_OBJ)) return false;
    if (stat(path, &about) || !S_ISREG(about.st_mode)) return false;
    if (!strcmp(input, "-") || is_packed(input) || (!stat(input, &about) && !S_ISREG(about.st_mode)))
        return sap_format_of(path) == SAP_FORMAT_AUTO && strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".mtl");
    FILE* file = fopen(input, "rb");
    bool found = false;
    while (file && !found && take_line(file, line) >= 0) found = names_library(input, line, path);
    if (file) fclose(file);
    return found;
}

// The MTL that comes with an OBJ; false if this output comes with none.
static bool library_of(const sap_cli* cli, const char* path, char library[PATH_MAX]) {
    const bool writes_meshes = cli->options->verb == SAP_VERB_CONVERT || cli->options->verb == SAP_VERB_SUBDIVIDE;
    if (!writes_meshes || sap_cli_format_of(cli, path) != SAP_FORMAT_OBJ) return false;
    const char* dot = sap_format_of(path) == SAP_FORMAT_OBJ ? strrchr(path, '.') : NULL;
    size_t length = dot ? (size_t)(dot - path) : strlen(path);
    return length < PATH_MAX - 5 && snprintf(library, PATH_MAX, "%.*s.mtl", (int)length, path) > 0;
}

static sap_cli_exit check_library(sap_cli* cli, const char* input, const sap_cli_output* output) {
    char library[PATH_MAX];
    bool piped = !strcmp(input, "-");
    if (reads_library(cli, input, output->path))
        return sap_cli_usage(cli, "%s %s may hold the materials of %s; give another name", output->option, output->path,
                             piped ? "standard input" : input);
    if (!library_of(cli, output->path, library)) return SAP_EXIT_OK;
    if (!piped && same_file(library, input))
        return sap_cli_usage(cli, "%s %s comes with %s, which is read; give another name", output->option, output->path,
                             library);
    if (!reads_library(cli, input, library)) return SAP_EXIT_OK;
    return sap_cli_usage(cli, "%s %s comes with %s, which may hold the materials of %s; give another name",
                         output->option, output->path, library, piped ? "standard input" : input);
}

// ---- Whether files can be written

// 0, or why a path cannot be written: an errno. Nothing is changed to find out.
static int obstacle(const char* path) {
    char folder[PATH_MAX];
    struct stat about;
    bool there = !stat(path, &about);
    if (!there && errno != ENOENT) return errno;
    if (!there && !lstat(path, &about)) return 0; // a link to a file that does not exist yet
    if (there && S_ISDIR(about.st_mode)) return EISDIR;
    if (there && access(path, W_OK)) return errno;
    if (there && !S_ISREG(about.st_mode)) return 0;
    // A new file comes into being in the folder, and then takes the place of an older one.
    if (there ? !realpath(path, folder) : snprintf(folder, sizeof folder, "%s", path) >= PATH_MAX)
        return there ? errno : ENAMETOOLONG;
    char* slash = strrchr(folder, '/');
    if (slash && !slash[1]) return EISDIR;
    if (slash) slash[slash == folder] = 0;
    return access(slash ? folder : ".", W_OK | X_OK) ? errno : 0;
}

// ---- What verbs call

// Files that options name are read, too.
static sap_cli_exit check_read(sap_cli* cli, const sap_cli_output* output) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output read[] = {{"--mask", o->mask},
                                   {"--radii", o->radii},
                                   {"--weights", o->point_weights},
                                   {"--query-weights", o->query_weights},
                                   {"--cells", o->cells},
                                   {"--start", o->start}};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i].path && strcmp(read[i].path, "-") && same_file(read[i].path, output->path))
            return sap_cli_usage(cli, "%s %s and %s %s are the same file; give another name", read[i].option,
                                 read[i].path, output->option, output->path);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_check_replaced(sap_cli* cli, const sap_cli_output* output) {
    const char* const* inputs = cli->options->operands;
    for (int i = 0; i < cli->options->operand_count; i++) {
        if (strcmp(inputs[i], "-") && same_file(inputs[i], output->path))
            return sap_cli_usage(cli, "%s %s and %s %s are the same file; give another name", operand_name(cli, i),
                                 inputs[i], output->option, output->path);
        sap_cli_exit result = i == 0 ? check_library(cli, inputs[i], output) : SAP_EXIT_OK;
        if (result != SAP_EXIT_OK) return result;
    }
    return check_read(cli, output);
}

sap_cli_exit sap_cli_check_distinct(sap_cli* cli, const sap_cli_output* outputs, int count) {
    int to_stdout = cli->options->json;
    for (const sap_cli_output* output = outputs; output < outputs + count; output++) {
        if (!output->path) continue;
        if (is_packed(output->path))
            return sap_cli_usage(cli, "%s: gzip is read but not written; write without .gz", output->path);
        if (!strcmp(output->path, "-")) {
            if (to_stdout++)
                return sap_cli_usage(cli,
                                     "only one output can go to standard output; give a file's name instead of '-'");
            continue;
        }
        for (const sap_cli_output* other = outputs; other < output; other++)
            if (other->path && same_file(other->path, output->path))
                return sap_cli_usage(cli, "%s %s and %s %s are the same file; give each its own name", other->option,
                                     other->path, output->option, output->path);
        sap_cli_exit result = sap_cli_check_replaced(cli, output);
        if (result != SAP_EXIT_OK) return result;
    }
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_check_writable(sap_cli* cli, const sap_cli_output* outputs, int count) {
    for (int i = 0; i < count; i++) {
        const char* path = outputs[i].path;
        int error = path && strcmp(path, "-") ? obstacle(path) : 0;
        if (error) return sap_cli_error(cli, "cannot write '%s': %s", path, strerror(error));
    }
    sap_cli_together_begin(cli, outputs, count);
    return SAP_EXIT_OK;
}
