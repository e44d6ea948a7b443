// Reading meshes.
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(SAP_HAVE_ZLIB)
#include <zlib.h>
#endif

enum { LINE_BYTES = 256 };

// Opens what can be looked into: a file, also one that is standard input. NULL: a pipe, or nothing.
static FILE* open_to_look(const char* path, off_t* size) {
    struct stat status;
    bool standard = !strcmp(path, "-");
    if ((standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) || !S_ISREG(status.st_mode)) return NULL;
    *size = status.st_size;
    if (!standard) return fopen(path, "rb");
    int descriptor = lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 ? dup(STDIN_FILENO) : -1;
    FILE* file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

// The first bytes of a file that gzip has packed, in a file of their own, and how many there are in all; others stay.
static FILE* open_packed(FILE* file, off_t* size) {
#if defined(SAP_HAVE_ZLIB)
    enum { MOST_BYTES = 1 << 22 };
    unsigned char block[1 << 14], end[4] = {0};
    const bool packed = fread(block, 1, 2, file) == 2 && block[0] == 0x1f && block[1] == 0x8b;
    const bool told = packed && !fseek(file, -4, SEEK_END) && fread(end, 1, sizeof end, file) == sizeof end;
    rewind(file);
    FILE* first = told ? tmpfile() : NULL;
    if (!first) return file;
    lseek(fileno(file), 0, SEEK_SET);
    const int descriptor = dup(fileno(file));
    gzFile unpacked = descriptor >= 0 ? gzdopen(descriptor, "rb") : NULL;
    off_t taken = 0;
    for (int got = 1; unpacked && got > 0 && taken < MOST_BYTES; taken += got) {
        got = gzread(unpacked, block, sizeof block);
        if (got <= 0 || fwrite(block, 1, (size_t)got, first) != (size_t)got) break;
    }
    if (unpacked)
        gzclose(unpacked);
    else if (descriptor >= 0)
        close(descriptor);
    fclose(file);
    rewind(first);
    *size = (off_t)end[0] | (off_t)end[1] << 8 | (off_t)end[2] << 16 | (off_t)end[3] << 24;
    return first;
#else
    (void)size;
    return file;
#endif
}

// A copy of standard input has the place of its next byte in common with it.
static void close_looked(FILE* file, const char* path) {
    fclose(file);
    if (!strcmp(path, "-")) lseek(STDIN_FILENO, 0, SEEK_SET);
}

// The next line of a header, or its beginning if it is long; false at the end of the file.
static bool next_line(FILE* file, char line[LINE_BYTES]) {
    int length = 0, c = getc(file);
    if (c == EOF) return false;
    for (; c != EOF && c != '\n' && c != '\r'; c = getc(file))
        if (length < LINE_BYTES - 1) line[length++] = (char)c;
    line[length] = 0;
    return true;
}

// Whether a file begins with the header of a PLY that has faces, or rows of another kind that name vertices: those the
// reader of meshes refuses, where the reader of points would drop them.
static bool is_ply_with_faces(FILE* file) {
    enum { MOST_LINES = 20000 };
    char line[LINE_BYTES], name[16] = "", list[16];
    bool faces = false;
    long long rows = 0;
    for (int i = 0; i < MOST_LINES && next_line(file, line); i++) {
        if (i == 0 && (sscanf(line, "%15s", name) != 1 || strcmp(name, "ply") != 0)) break;
        if (!strncmp(line, "end_header", strlen("end_header"))) break;
        if (sscanf(line, "element %15s %lld", name, &rows) == 2)
            faces |= rows > 0 && (!strcmp(name, "face") || !strcmp(name, "tristrips"));
        bool indices = sscanf(line, "property list %*s %*s %15s", list) == 1 &&
                       (!strcmp(list, "vertex_indices") || !strcmp(list, "vertex_index"));
        faces |= indices && rows > 0 && strcmp(name, "vertex") != 0;
    }
    return faces;
}

// Whether a file has the bytes of an STL: as many as a binary one counts out, or "solid" and, on a later line, what
// follows it.
static bool is_stl(FILE* file, off_t size) {
    enum { HEADER_BYTES = 80, START_BYTES = 84, TRIANGLE_BYTES = 50 };
    unsigned char start[START_BYTES];
    char line[LINE_BYTES], word[16];
    if (fread(start, 1, sizeof start, file) == sizeof start) {
        const unsigned char* count = start + HEADER_BYTES;
        int64_t triangles =
            (int64_t)count[0] | (int64_t)count[1] << 8 | (int64_t)count[2] << 16 | (int64_t)count[3] << 24;
        if (size == START_BYTES + triangles * TRIANGLE_BYTES) return true;
    }
    rewind(file);
    if (!next_line(file, line) || sscanf(line, "%15s", word) != 1 || strcmp(word, "solid") != 0) return false;
    while (next_line(file, line))
        if (sscanf(line, "%15s", word) == 1) return !strcmp(word, "facet") || !strcmp(word, "endsolid");
    return false;
}

// Whether a file begins with the line of an OFF: what it holds, as in COFF and STCNOFF.
static bool is_off(FILE* file) {
    char line[LINE_BYTES], word[16] = "";
    const size_t length = next_line(file, line) && sscanf(line, "%15s", word) == 1 ? strlen(word) : 0;
    return length >= 3 && !strcmp(word + length - 3, "OFF") && strspn(word, "STCN4nOF") == length;
}

// Copies what a pipe holds to a file, which then takes the descriptor of the pipe. Returns 0, or what went wrong.
static int move_to_file(int descriptor, FILE* file) {
    char block[1 << 14];
    ssize_t taken = 1;
    bool whole = true;
    while (whole && taken != 0) {
        taken = read(descriptor, block, sizeof block);
        whole = taken > 0 ? fwrite(block, 1, (size_t)taken, file) == (size_t)taken : taken == 0 || errno == EINTR;
    }
    if (whole && !fflush(file) && !fseek(file, 0, SEEK_SET) && dup2(fileno(file), descriptor) >= 0) return 0;
    return errno ? errno : EIO;
}

void sap_cli_file_of_pipe(sap_cli* cli, const char* path) {
    struct stat status;
    int descriptor = -1;
    const bool standard = !strcmp(path, "-"), open_already = standard || sscanf(path, "/dev/fd/%d", &descriptor) == 1;
    if (standard) descriptor = STDIN_FILENO;
    if (open_already ? fstat(descriptor, &status) : cli->pipe || stat(path, &status)) return;
    if (!S_ISFIFO(status.st_mode) && (!S_ISSOCK(status.st_mode) || !open_already)) return;
    FILE* file = tmpfile();
    if (file && !open_already) descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file && descriptor >= 0) cli->pipe_error = move_to_file(descriptor, file);
    if (file) fclose(file);
    if (open_already || descriptor < 0) return;
    cli->pipe = path; // stays open, so that its file can be opened again
    snprintf(cli->pipe_file, sizeof cli->pipe_file, "/dev/fd/%d", descriptor);
}

const char* sap_cli_bytes_of(const sap_cli* cli, const char* path) {
    return cli->pipe && !strcmp(cli->pipe, path) ? cli->pipe_file : path;
}

sap_cli_exit sap_cli_pipe_check(sap_cli* cli) {
    if (!cli->pipe_error) return SAP_EXIT_OK;
    return sap_cli_error(cli, "cannot keep in a temporary file what the pipe holds: %s", strerror(cli->pipe_error));
}

sap_format sap_cli_mesh_seen(sap_cli* cli, const char* path) {
    sap_format format = cli->options->input_format, suffix = sap_format_of(path);
    bool unknown = format == SAP_FORMAT_AUTO && suffix == SAP_FORMAT_AUTO;
    if (format != SAP_FORMAT_AUTO && format != SAP_FORMAT_PLY) return SAP_FORMAT_AUTO;
    // Other suffixes say what a pipe with a name holds.
    if (suffix == SAP_FORMAT_AUTO || suffix == SAP_FORMAT_PLY) sap_cli_file_of_pipe(cli, path);
    off_t size;
    FILE* file = open_to_look(sap_cli_bytes_of(cli, path), &size);
    if (file) file = open_packed(file, &size);
    if (!file) return SAP_FORMAT_AUTO;
    sap_format seen = is_ply_with_faces(file) ? SAP_FORMAT_PLY : SAP_FORMAT_AUTO;
    rewind(file);
    if (seen == SAP_FORMAT_AUTO && unknown && is_stl(file, size)) seen = SAP_FORMAT_STL;
    rewind(file);
    if (seen == SAP_FORMAT_AUTO && unknown && is_off(file)) seen = SAP_FORMAT_OFF;
    close_looked(file, path);
    return seen;
}

bool sap_cli_is_mesh(sap_cli* cli, const char* path) {
    sap_format format = cli->options->input_format;
    bool points = sap_cli_given(cli->options, "precision") || cli->options->columns || cli->options->member;
    if (points) return sap_cli_holds_meshes_only(format);
    if (format == SAP_FORMAT_AUTO && sap_cli_holds_meshes_only(sap_format_of(path))) return true;
    return sap_cli_holds_meshes_only(format) || sap_cli_mesh_seen(cli, path) != SAP_FORMAT_AUTO;
}

// What can be said of a path before it is read, and how to read it; origin NULL: as the user says.
static sap_cli_exit begin_reading(sap_cli* cli, const char* path, const double* origin, sap_mesh_read_options* how) {
    const sap_cli_options* o = cli->options;
    // A saved tree does not keep an origin, so whoever builds one must know of it.
    const bool finds = sap_cli_given(o, "origin") ? o->find_origin : o->verb != SAP_VERB_BUILD;
    *how = (sap_mesh_read_options){.unpack_limit = o->unpack_limit, .find_origin = finds && !origin};
    memcpy(how->origin, origin ? origin : o->origin, sizeof how->origin);
    if (sap_cli_is_mesh_tree(path))
        return sap_cli_usage(cli, "%s is a saved tree over triangles; the mesh itself is needed here", path);
    if (sap_cli_is_tree(cli, path))
        return sap_cli_usage(
            cli, "%s is a saved tree over points; a mesh%s is needed here", path,
            o->verb == SAP_VERB_TRACE || o->verb == SAP_VERB_CLOSEST ? ", or a tree saved by build --triangles," : "");
    if (sap_cli_pipe_check(cli) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "reading");
    return SAP_EXIT_OK;
}

static sap_cli_exit end_reading(sap_cli* cli, const char* path, sap_status status, const sap_mesh_file* file) {
    const double seconds = sap_cli_stage_end(cli);
    if (status != SAP_OK || !file) return sap_cli_failed(cli, status, path);
    sap_cli_detail(cli, "%s: %lld vertices, %lld triangles, read in %.3g s", path, (long long)file->mesh.vertex_count,
                   (long long)file->mesh.triangle_count, seconds);
    const double* origin = file->origin;
    if (cli->options->find_origin)
        sap_cli_note(cli, "%s: the origin is %.15g,%.15g,%.15g", path, origin[0], origin[1], origin[2]);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_mesh_read_beside(sap_cli* cli, const char* path, const double* origin, sap_mesh_file** mesh) {
    sap_mesh_read_options how;
    const sap_cli_exit result = begin_reading(cli, path, origin, &how);
    if (result != SAP_EXIT_OK) return result;
    const sap_status status =
        sap_mesh_read(cli->device, sap_cli_bytes_of(cli, path), cli->options->input_format, &how, mesh);
    return end_reading(cli, path, status, *mesh);
}

sap_cli_exit sap_cli_mesh_read(sap_cli* cli, const char* path, sap_mesh_file** mesh) {
    return sap_cli_mesh_read_beside(cli, path, NULL, mesh);
}

sap_cli_exit sap_cli_places_read(sap_cli* cli, const char* path, sap_mesh_places** places) {
    sap_mesh_read_options how;
    const sap_cli_exit result = begin_reading(cli, path, NULL, &how);
    if (result != SAP_EXIT_OK) return result;
    const sap_status status =
        sap_mesh_places_read(cli->device, sap_cli_bytes_of(cli, path), cli->options->input_format, &how, places);
    return end_reading(cli, path, status, status == SAP_OK ? (*places)->file : NULL);
}

sap_cli_exit sap_cli_animation_read(sap_cli* cli, const char* path, sap_animation** animation) {
    sap_mesh_read_options how;
    const sap_cli_exit result = begin_reading(cli, path, NULL, &how);
    if (result != SAP_EXIT_OK) return result;
    const sap_status status = sap_animation_read(cli->device, sap_cli_bytes_of(cli, path), &how, animation);
    return end_reading(cli, path, status, status == SAP_OK ? (*animation)->file : NULL);
}

sap_cli_exit sap_cli_vertices(sap_cli* cli, const sap_mesh_file* mesh, sap_cli_points* points) {
    const int64_t count = mesh->mesh.vertex_count;
    *points = (sap_cli_points){.coords = mesh->mesh.vertices, .count = count, .dims = 3, .real_bits = 32};
    if (!sap_cli_is_shifted(mesh->origin)) return SAP_EXIT_OK;
    double* places = sap_cli_allocate(cli, count, 3 * sizeof *places);
    if (!places) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < count; i++) sap_mesh_file_place(mesh, i, places + 3 * i);
    points->coords = points->owned = places;
    points->real_bits = 64;
    return SAP_EXIT_OK;
}

void sap_cli_origin_json(sap_json* json, const sap_cli* cli, const double origin[3]) {
    if (!sap_cli_given(cli->options, "origin")) return;
    sap_json_open(json, "origin", '[');
    for (int a = 0; a < 3; a++) sap_json_real(json, NULL, origin[a], 64);
    sap_json_close(json, ']');
}

sap_mesh_tree_options sap_cli_mesh_tree_options(const sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    return (sap_mesh_tree_options){.quality = o->quality, .cost = o->cost, .radius = (float)o->reach};
}

sap_cli_exit sap_cli_mesh_tree_build(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree** tree,
                                     double* seconds) {
    const sap_mesh_tree_options options = sap_cli_mesh_tree_options(cli);
    sap_cli_stage_begin(cli, "building");
    const sap_status status = sap_mesh_tree_build(cli->device, mesh, &options, tree);
    *seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}

sap_cli_exit sap_cli_mesh_tree_fit(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree* tree, int64_t before,
                                   double* seconds, double* loss) {
    const bool fits = cli->options->refit > 0 && before == mesh.triangle_count;
    sap_status status = SAP_OK;
    *loss = 0;
    sap_cli_stage_begin(cli, fits ? "refitting" : "building");
    if (fits) status = sap_mesh_tree_refit(tree, mesh, loss);
    if (status == SAP_OK && (!fits || *loss > cli->options->refit)) {
        status = sap_mesh_tree_rebuild(tree, mesh);
        *loss = 0;
    }
    *seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}
