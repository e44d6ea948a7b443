// What verbs work on: points from files, and the tree that REFERENCE names or becomes.
#ifndef SAPWOOD_CLI_INPUT_H
#define SAPWOOD_CLI_INPUT_H

#include "output.h"

// Points of either precision: from a file, converted, or generated. All zero holds none.
typedef struct sap_cli_points {
    const void* coords; // [count*dims] float or double
    int64_t count;
    int32_t dims, real_bits;
    sap_point_set* set; // owns coords, unless they are in `owned`
    void* owned;
} sap_cli_points;

// REFERENCE. All zero can be closed.
typedef struct sap_cli_reference {
    const char* path;
    sap_tree* tree;
    sap_tree_info info;
    bool saved;            // a saved tree: points holds nothing
    sap_cli_points points; // as the file has them
    double read_seconds, build_seconds;
} sap_cli_reference;

// Whether a path names a saved tree: by its first bytes, then by --input-format, then by its suffix.
bool sap_cli_is_tree(const sap_cli* cli, const char* path);
// Whether it is one over triangles, by its first bytes.
bool sap_cli_is_mesh_tree(const char* path);
// Refuses, before work begins, inputs of a search that cannot be: a tree as QUERIES, two standard inputs, a walk that
// the tree to be built has not.
sap_cli_exit sap_cli_check_inputs(sap_cli* cli);

// Says why a tree could not be loaded or is not sound.
sap_cli_exit sap_cli_tree_failed(sap_cli* cli, sap_status status, const char* path);
// Whether a path's bytes can be read only once; what to say of a tree there.
bool sap_cli_is_pipe(const char* path);
sap_cli_exit sap_cli_tree_from_pipe(sap_cli* cli);

// Reads points as real_bits, 32 or 64, or 0: as the file has them.
sap_cli_exit sap_cli_points_read(sap_cli* cli, const char* path, int32_t real_bits, sap_cli_points* points);
// Changes the precision in place; nothing to do if it is that already.
sap_cli_exit sap_cli_points_convert(sap_cli* cli, sap_cli_points* points, int32_t real_bits);
void sap_cli_points_free(sap_cli_points* points);

static inline sap_points sap_cli_f32(const sap_cli_points* p) { return (sap_points){p->coords, p->count, p->dims, 0}; }
static inline sap_points_f64 sap_cli_f64(const sap_cli_points* p) {
    return (sap_points_f64){p->coords, p->count, p->dims, 0};
}

// ---- mesh.c
// Whether a path names a mesh: by --input-format, by suffix, or because it is a PLY whose header counts faces.
bool sap_cli_is_mesh(const sap_cli* cli, const char* path);
sap_cli_exit sap_cli_mesh_read(sap_cli* cli, const char* path, sap_mesh_file** mesh);
// Builds a tree over the triangles of a mesh with the user's options: a new one if *tree is NULL, else that one anew.
sap_cli_exit sap_cli_mesh_tree_build(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree** tree,
                                     double* seconds);
// Refuses the options of this list, which say how something is built that is there already, or is not built so.
sap_cli_exit sap_cli_refuse_given(sap_cli* cli, const char* const* names, size_t count, const char* path,
                                  const char* why);
// The vertices of a mesh, which keeps them.
static inline sap_cli_points sap_cli_vertices(const sap_mesh_file* mesh) {
    return (sap_cli_points){
        .coords = mesh->mesh.vertices, .count = mesh->mesh.vertex_count, .dims = 3, .real_bits = 32};
}

// Builds a tree over points with the user's options.
sap_cli_exit sap_cli_tree_build(sap_cli* cli, const sap_cli_points* points, const char* path, sap_tree** tree);
// Loads the saved tree, or reads the points and builds. On failure nothing is left to close.
sap_cli_exit sap_cli_reference_open(sap_cli* cli, const char* path, sap_cli_reference* reference);
void sap_cli_reference_close(sap_cli_reference* reference);

// Reads QUERIES, checks their dimensions and converts them to the tree's precision.
sap_cli_exit sap_cli_queries_read(sap_cli* cli, const char* path, const sap_cli_reference* reference,
                                  sap_cli_points* queries);

// Which ids a tree holds, one byte for each of source_count; NULL after saying why not.
bool* sap_cli_present(sap_cli* cli, const sap_cli_reference* reference);

// Marks each point that equals an earlier one in every coordinate; gives how many. Points with a NaN equal none.
// repeated[count] may be NULL. -1 after saying that memory is missing.
int64_t sap_cli_duplicates(sap_cli* cli, const sap_cli_points* points, bool* repeated);

#endif
