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
    const sap_field* fields; // what else each point has, where the verb keeps that
    int32_t field_count;
    int32_t* kept;                        // the row of each point in the file; NULL: all rows are points
    int64_t not_finite, first_not_finite; // queries, or points that are left out; the row of the first, -1: unknown
    int64_t first, all; // of the rows of the file, those from `first` on are here; all of them are so many
} sap_cli_points;

// REFERENCE. All zero can be closed.
typedef struct sap_cli_reference {
    const char* path;
    sap_tree* tree;
    sap_cluster_tree* cluster; // in its place where there are several ranks
    sap_tree_info info;
    bool saved;            // a saved tree: points holds nothing
    sap_cli_points points; // as the file has them
    double read_seconds, build_seconds;
} sap_cli_reference;

// How a file of points is to be read.
typedef struct sap_cli_manner {
    const char *columns, *member; // NULL: as the reader chooses
    sap_format format;
} sap_cli_manner;

// As the options say it of a path: of the second operand, its own options, else those of the first.
sap_cli_manner sap_cli_manner_of(const sap_cli* cli, const char* path);

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

// How far rounding to float may move points, as a part of the largest side of the bounds of those that are searched.
#define SAP_CLI_FLOAT_ERROR 0x1p-20

// Reads points as real_bits, 32 or 64, or 0: as the file has them; text as float unless that would move points too far.
sap_cli_exit sap_cli_points_read(sap_cli* cli, const char* path, int32_t real_bits, sap_cli_points* points);
// The same, where others of this extent are searched; 0: these themselves.
sap_cli_exit sap_cli_points_read_beside(sap_cli* cli, const char* path, int32_t real_bits, double extent,
                                        sap_cli_points* points);
// Changes the precision in place; nothing to do if it is that already.
sap_cli_exit sap_cli_points_convert(sap_cli* cli, sap_cli_points* points, int32_t real_bits);
void sap_cli_points_free(sap_cli_points* points);

static inline sap_points sap_cli_f32(const sap_cli_points* p) { return (sap_points){p->coords, p->count, p->dims, 0}; }
static inline sap_points_f64 sap_cli_f64(const sap_cli_points* p) {
    return (sap_points_f64){p->coords, p->count, p->dims, 0};
}
// Number i of the coordinates.
static inline double sap_cli_number_at(const sap_cli_points* p, int64_t i) {
    return p->real_bits == 64 ? ((const double*)p->coords)[i] : (double)((const float*)p->coords)[i];
}

// ---- mesh.c
// Whether a path names a mesh: by --input-format, by suffix, or by what is seen in it.
bool sap_cli_is_mesh(sap_cli* cli, const char* path);
// What mesh a file turns out to be when its first bytes are looked at: a PLY with faces, or, without a suffix that says
// something else, an STL or an OFF. SAP_FORMAT_AUTO: none. A pipe is made a file first.
sap_format sap_cli_mesh_seen(sap_cli* cli, const char* path);
// A pipe's bytes can be read only once: a file without a name takes its place, which can be looked into and read again.
// Where no such file can be made the pipe stays what it is.
void sap_cli_file_of_pipe(sap_cli* cli, const char* path);
// Where the bytes of a path are: in a file that took the place of a pipe, or where they were.
const char* sap_cli_bytes_of(const sap_cli* cli, const char* path);
// Fails, with a sentence, where a pipe's bytes were taken but could not all be kept.
sap_cli_exit sap_cli_pipe_check(sap_cli* cli);
sap_cli_exit sap_cli_mesh_read(sap_cli* cli, const char* path, sap_mesh_file** mesh);
// The same relative to the origin of another mesh (NULL: as the user says).
sap_cli_exit sap_cli_mesh_read_beside(sap_cli* cli, const char* path, const double* origin, sap_mesh_file** mesh);
// The same where meshes that stand in several places may be kept once.
sap_cli_exit sap_cli_places_read(sap_cli* cli, const char* path, sap_mesh_places** places);
// A glTF, and how it moves.
sap_cli_exit sap_cli_animation_read(sap_cli* cli, const char* path, sap_animation** animation);
// How the options say that a tree over triangles is built.
sap_mesh_tree_options sap_cli_mesh_tree_options(const sap_cli* cli);
// Builds a tree over the triangles of a mesh with the user's options.
sap_cli_exit sap_cli_mesh_tree_build(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree** tree,
                                     double* seconds);
// Builds a tree of `before` triangles anew over its mesh, which has moved, or refits it if that was asked for and is good
// enough. *loss: as of sap_mesh_tree_refit; 0 after a build.
sap_cli_exit sap_cli_mesh_tree_fit(sap_cli* cli, sap_mesh mesh, const char* path, sap_mesh_tree* tree, int64_t before,
                                   double* seconds, double* loss);
// Refuses the options of this list, which say how something is built that is there already, or is not built so.
sap_cli_exit sap_cli_refuse_given(sap_cli* cli, const char* const* names, size_t count, const char* path,
                                  const char* why);
// The vertices of a mesh as its file has them: its own floats, or doubles if there is an origin. To be freed.
sap_cli_exit sap_cli_vertices(sap_cli* cli, const sap_mesh_file* mesh, sap_cli_points* points);
// Whether an origin is not 0.
static inline bool sap_cli_is_shifted(const double origin[3]) {
    return origin[0] != 0 || origin[1] != 0 || origin[2] != 0;
}
// Adds the origin of a mesh to the JSON report, if one was asked for.
void sap_cli_origin_json(sap_json* json, const sap_cli* cli, const double origin[3]);

// Adds --period to the options of a tree over points of `dims` coordinates.
sap_cli_exit sap_cli_period_read(sap_cli* cli, int32_t dims, sap_tree_options* options);
// Adds the periods of a tree that has some to the JSON report.
void sap_cli_period_json(sap_json* json, const sap_tree_info* info);
static inline bool sap_cli_is_periodic(const sap_tree_info* info) {
    for (int32_t a = 0; a < info->dims; a++)
        if (info->options.period[a] > 0) return true;
    return false;
}
// Builds a tree over points with the user's options.
sap_cli_exit sap_cli_tree_build(sap_cli* cli, const sap_cli_points* points, const char* path, sap_tree** tree);
// The same with another tree's periods.
sap_cli_exit sap_cli_tree_build_beside(sap_cli* cli, const sap_cli_points* points, const char* path,
                                       const sap_tree* other, sap_tree** tree);
// Loads the saved tree, or reads the points and builds. On failure nothing is left to close.
sap_cli_exit sap_cli_reference_open(sap_cli* cli, const char* path, sap_cli_reference* reference);
void sap_cli_reference_close(sap_cli_reference* reference);

// The same with QUERIES (NULL: none), in the precision that both need unless the user chose one.
sap_cli_exit sap_cli_inputs_open(sap_cli* cli, const char* path, const char* queries, sap_cli_reference* reference,
                                 sap_cli_points* asking);

// ---- dropped.c
// Counts the rows that are not finite, and notes the first.
void sap_cli_not_finite_look(sap_cli_points* points);
// Counts queries that are not finite, and says how many there are, since they find nothing.
void sap_cli_queries_look(sap_cli* cli, const char* path, sap_cli_points* queries);
// Adds how many queries or points were not finite to the JSON report.
void sap_cli_not_finite_json(sap_json* json, const sap_cli_points* points);
// Counts points that a tree leaves out, and says how many there are.
void sap_cli_left_out_look(sap_cli* cli, const char* path, sap_cli_points* points);
// With --drop-nonfinite: takes points that are not finite away, and says how many.
sap_cli_exit sap_cli_points_drop(sap_cli* cli, const char* path, sap_cli_points* points);
// Makes numbers of points the numbers of their rows in the file.
void sap_cli_renumber(const sap_cli_points* points, int32_t* ids, int64_t count);

// ---- precise.c
// The bounds of the finite coordinates, and their largest side.
double sap_cli_points_bounds(const sap_cli_points* points, double* lower, double* upper);
// How far rounding to float would move a coordinate.
double sap_cli_points_moved(const sap_cli_points* points);
// Reads QUERIES, checks their dimensions and converts them to the precision of a saved tree; or, where a tree is to be
// built over the points of the reference, one of the two to the precision that both need.
sap_cli_exit sap_cli_queries_read(sap_cli* cli, const char* path, sap_cli_reference* reference,
                                  sap_cli_points* queries);

// Refuses a cloud that is to be aligned and has not three coordinates.
sap_cli_exit sap_cli_align_dims(sap_cli* cli, const char* path, int32_t dims);

// Which ids a tree holds, one byte for each of source_count; NULL after saying why not.
bool* sap_cli_present(sap_cli* cli, const sap_cli_reference* reference);

// Marks each point that equals an earlier one in every coordinate; gives how many. Points with a NaN equal none.
// repeated[count] may be NULL. -1 after saying that memory is missing.
int64_t sap_cli_duplicates(sap_cli* cli, const sap_cli_points* points, bool* repeated);

#endif
