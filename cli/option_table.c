// The table of verbs and options.
#include "options.h"

#include <float.h>
#include <math.h>

#define V(verb)   (1u << SAP_VERB_##verb)
#define AT(field) offsetof(sap_cli_options, field)

enum {
    ON_ALL = V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(VERIFY) | V(CONVERT) | V(BENCH) | V(RENDER) | V(TRACE) |
             V(ISOSURFACE) | V(COMPACT) | V(VORONOI),
    ON_DEVICE = V(BUILD) | V(NEAREST) | V(RADIUS) | V(VERIFY) | V(BENCH),
    ON_FILES = V(INFO) | V(CONVERT),
    ON_READ = V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(CONVERT) | V(BENCH),
    ON_READ_TWO = V(NEAREST) | V(RADIUS) | V(BENCH),
    ON_TREE = V(BUILD) | V(NEAREST) | V(RADIUS) | V(BENCH),
    ON_SEARCH = V(NEAREST) | V(RADIUS),
    ON_MESH = V(RENDER) | V(TRACE),
    ON_PICTURE = V(RENDER) | V(ISOSURFACE),
    ON_VOLUME = V(ISOSURFACE) | V(COMPACT),
    ON_ANY_DEVICE = ON_DEVICE | ON_MESH | ON_VOLUME
};

static const sap_cli_choice splits[] = {
    {"median", SAP_SPLIT_MEDIAN}, {"sliding-midpoint", SAP_SPLIT_SLIDING_MIDPOINT}, {0}};
static const sap_cli_choice axes[] = {{"widest", SAP_AXIS_WIDEST}, {"cycle", SAP_AXIS_CYCLE}, {0}};
static const sap_cli_choice walks[] = {{"auto", SAP_WALK_AUTO},           {"stack", SAP_WALK_STACK},
                                       {"stackless", SAP_WALK_STACKLESS}, {"warp", SAP_WALK_WARP},
                                       {"packet", SAP_WALK_PACKET},       {0}};
static const sap_cli_choice simds[] = {{"auto", SAP_SIMD_AUTO},
                                       {"portable", SAP_SIMD_PORTABLE},
                                       {"avx2", SAP_SIMD_AVX2},
                                       {"avx512", SAP_SIMD_AVX512},
                                       {0}};
static const sap_cli_choice formats_read[] = {{"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {"csv", SAP_FORMAT_CSV},
                                              {"npy", SAP_FORMAT_NPY}, {"pcd", SAP_FORMAT_PCD}, {0}};
static const sap_cli_choice formats_read_with_meshes[] = {
    {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {"csv", SAP_FORMAT_CSV}, {"npy", SAP_FORMAT_NPY},
    {"pcd", SAP_FORMAT_PCD}, {"obj", SAP_FORMAT_OBJ}, {"stl", SAP_FORMAT_STL}, {0}};
static const sap_cli_choice formats_written_with_meshes[] = {{"npy", SAP_FORMAT_NPY},
                                                             {"csv", SAP_FORMAT_CSV},
                                                             {"ply", SAP_FORMAT_PLY},
                                                             {"xyz", SAP_FORMAT_XYZ},
                                                             {"obj", SAP_FORMAT_OBJ},
                                                             {"stl", SAP_FORMAT_STL},
                                                             {0}};
static const sap_cli_choice formats_of_meshes[] = {
    {"ply", SAP_FORMAT_PLY}, {"obj", SAP_FORMAT_OBJ}, {"stl", SAP_FORMAT_STL}, {0}};
static const sap_cli_choice voxels[] = {
    {"u8", SAP_VOXEL_U8}, {"i16", SAP_VOXEL_I16}, {"u16", SAP_VOXEL_U16}, {"f32", SAP_VOXEL_F32}, {0}};
static const sap_cli_choice formats_of_hits[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"xyz", SAP_FORMAT_XYZ}, {0}};
static const sap_cli_choice qualities[] = {{"high", SAP_QUALITY_HIGH}, {"fast", SAP_QUALITY_FAST}, {0}};
static const sap_cli_choice formats_written[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {0}};
static const sap_cli_choice precisions[] = {{"float32", 32}, {"float64", 64}, {0}};
static const sap_cli_choice progresses[] = {
    {"auto", SAP_PROGRESS_AUTO}, {"always", SAP_PROGRESS_ALWAYS}, {"never", SAP_PROGRESS_NEVER}, {0}};
static const sap_cli_choice styles[] = {{"cells", SAP_STYLE_CELLS},
                                        {"distances", SAP_STYLE_DISTANCES},
                                        {"edges", SAP_STYLE_EDGES},
                                        {"depth", SAP_STYLE_DEPTH},
                                        {0}};
static const sap_cli_choice documents[] = {
    {"man", SAP_MAN}, {"bash", SAP_BASH}, {"zsh", SAP_ZSH}, {"fish", SAP_FISH}, {0}};

#define FLAG(field)                SAP_KIND_FLAG, AT(field), 0, 0, NULL, NULL
#define PATH(field)                SAP_KIND_FILE, AT(field), 0, 0, "FILE", NULL
#define INT32(field, low, high)    SAP_KIND_INT32, AT(field), low, high, "N", NULL
#define INT64(field, low, high)    SAP_KIND_INT64, AT(field), low, high, "N", NULL
#define REAL(field)                SAP_KIND_REAL, AT(field), 0, HUGE_VAL, "R", NULL
#define REAL_IN(field, low, high)  SAP_KIND_REAL, AT(field), low, high, "R", NULL
#define SIZE(field)                SAP_KIND_SIZE, AT(field), 1, 65536, "WxH", NULL
#define VECTOR(field, name)        SAP_KIND_VECTOR, AT(field), 0, 0, name, NULL
#define SIDES(field)               SAP_KIND_SIDES, AT(field), 0, 0, "X,Y,Z", NULL
#define LIGHT(numbers, name)       SAP_KIND_LIGHT, AT(lights), numbers, 0, name, NULL
#define DEVICE                     SAP_KIND_DEVICE, AT(processor), 0, 0, "auto|cpu|cuda[:N]", NULL
#define DEVICE_OR_GL               SAP_KIND_DEVICE, AT(processor), 0, 1, "auto|cpu|cuda[:N]|gl", NULL
#define CHOICE(field, name, table) SAP_KIND_CHOICE, AT(field), 0, 0, name, table

const sap_cli_option sap_cli_option_table[] = {
    {"output", 'o', V(BUILD), PATH(output),
     "the saved tree (.sap); an older file is replaced when it is complete; '-' is standard output", true},
    {"output", 'o', V(NEAREST), PATH(output),
     "ids of the neighbours, int32[queries][k], -1 where there are fewer; '-' is standard output (NPY unless --format "
     "says otherwise); without -o, --distances and --json they go to standard output as text",
     false},
    {"output", 'o', V(RADIUS), PATH(output),
     "where each query's row begins, int64[queries+1], or with --count how many points it has, int64[queries]; '-' is "
     "standard output (NPY unless --format says otherwise); with no output named and no --json the ids (or counts) go "
     "to standard output as text, one line per query",
     false},
    {"output", 'o', V(CONVERT), PATH(output),
     "the file to write; '-' is standard output (NPY unless --format says otherwise); without it points as text on "
     "standard output",
     false},
    {"output", 'o', V(RENDER), PATH(output),
     "the picture, .png (if this build has libpng) or .ppm; with --orbit each has its number before the suffix; '-' is "
     "standard output, as PPM",
     true},
    {"output", 'o', V(TRACE), PATH(output),
     "the hits, one for each ray: NPY holds a structured array of the fields t, u, v (float32) and triangle (int32); "
     "CSV and text hold these four columns; '-' is standard output (NPY unless --format says otherwise); without -o "
     "and "
     "--json as text on standard output",
     false},
    {"output", 'o', V(ISOSURFACE), PATH(output),
     "the mesh, .ply (with normals), .obj or .stl; '-' is standard output (PLY unless --format says otherwise)", false},
    {"size", 0, ON_VOLUME, SIDES(sides), "samples along x, y and z, x being the fastest; raw files need it", false},
    {"type", 0, ON_VOLUME, CHOICE(voxel, "TYPE", voxels), "of raw samples (default f32)", false},
    {"level", 0, V(ISOSURFACE), REAL_IN(level, -FLT_MAX, FLT_MAX), "samples of at least this value are inside", true},
    {"level", 0, V(COMPACT), REAL_IN(level, -FLT_MAX, FLT_MAX), "samples of at least this value are kept", true},
    {"output", 'o', V(COMPACT), PATH(output),
     "the numbers of the samples that are kept, int64, x being the fastest; '-' is standard output (NPY unless "
     "--format says otherwise)",
     false},
    {"picture", 0, V(COMPACT), PATH(picture),
     "a picture, .png (if this build has libpng) or .ppm: the samples that are kept, in the colours of their places, "
     "scattered over the slices and compacted; beside them the levels of the histopyramid that leads from one to the "
     "other",
     false},
    {"spacing", 0, V(ISOSURFACE), VECTOR(spacing, "X,Y,Z"), "from one sample to the next (default 1,1,1)", false},
    {"skip", 0, ON_VOLUME, INT64(skip, 0, 9007199254740992.0),
     "bytes of a raw file ahead of the first sample: 352 of most NIfTI files (default 0)", false},
    {"big-endian", 0, ON_VOLUME, FLAG(big_endian), "raw samples have their highest byte first", false},
    {"low-inside", 0, V(ISOSURFACE), FLAG(low_inside), "fronts and normals face higher values", false},
    {"render", 0, V(ISOSURFACE), PATH(picture), "a picture of the surface, .png (if this build has libpng) or .ppm",
     false},
    {"picture-size", 0, V(ISOSURFACE), SIZE(size), "its width and height in pixels (default 800x500)", false},
    {"output", 'o', V(VORONOI), PATH(output),
     "the picture, .png (if this build has libpng) or .ppm; '-' is standard output, as PPM", true},
    {"style", 0, V(VORONOI), CHOICE(style, "STYLE", styles),
     "cells in colours with their sites; how far the nearest site is; the edges of cells; or how deep the search goes: "
     "leaves of the tree that each pixel's search visits (default cells)",
     false},
    {"slice", 0, V(VORONOI), REAL_IN(slice, -HUGE_VAL, HUGE_VAL),
     "of sites with three coordinates: the z of the slice (default: the middle)", false},
    {"distances", 0, V(VORONOI), PATH(distances), "squared distances to the nearest site, float32[height][width]",
     false},
    {"ids", 0, V(VORONOI), PATH(ids), "ids of the nearest sites, int32[height][width]", false},
    {"size", 0, V(RENDER) | V(VORONOI), SIZE(size), "width and height of the picture in pixels (default 800x500)",
     false},
    {"eye", 0, ON_PICTURE, VECTOR(eye, "X,Y,Z"),
     "position of the camera (default: one from which it sees the whole mesh, a little from above)", false},
    {"at", 0, ON_PICTURE, VECTOR(at, "X,Y,Z"), "what it looks at (default: the middle of the mesh)", false},
    {"up", 0, V(RENDER), VECTOR(up, "X,Y,Z"), "which way is up (default 0,1,0)", false},
    {"up", 0, V(ISOSURFACE), VECTOR(up, "X,Y,Z"), "which way is up in the picture (default 0,0,1)", false},
    {"fov", 0, ON_PICTURE, REAL_IN(fov, 1, 179), "degrees from the lower edge of the picture to the upper (default 35)",
     false},
    {"light", 0, V(RENDER), LIGHT(3, "X,Y,Z[,R,G,B]"),
     "a point light, and how bright it makes the middle of the mesh (default 1,1,1); may be repeated (default: one "
     "soft "
     "light above the camera)",
     false},
    {"area-light", 0, V(RENDER), LIGHT(4, "X,Y,Z,SIDE[,R,G,B]"),
     "a square light that faces the middle of the mesh: soft shadows; may be repeated", false},
    {"ambient", 0, V(RENDER), REAL(ambient), "strength of the light from the sky (default 1)", false},
    {"exposure", 0, ON_PICTURE, REAL(exposure), "factor of all light (default 1)", false},
    {"background", 0, V(RENDER), VECTOR(background, "R,G,B"),
     "colour where rays miss the mesh, 0 to 1 each (default: the sky)", false},
    {"samples", 0, ON_PICTURE, INT32(samples, 1, 65536), "rays through each pixel (default 16)", false},
    {"bounces", 0, V(RENDER), INT32(bounces, 0, 64),
     "how often light is mirrored, refracted or scattered on its way (default 5)", false},
    {"flat", 0, V(RENDER), FLAG(flat), "show each triangle as it is: no smoothed normals", false},
    {"heat", 0, V(RENDER), FLAG(heat), "draw how many nodes of the tree each ray visits", false},
    {"orbit", 0, V(RENDER), INT32(orbit, 1, 9999),
     "this many pictures from around the mesh, which twists in a wave; the tree is built anew for each; prints the "
     "milliseconds that building the tree, tracing rays and shading took",
     false},
    {"triangles", 0, V(BUILD), FLAG(triangles),
     "build over the triangles of a mesh (OBJ, STL or PLY with faces), for trace", false},
    {"quality", 0, V(BUILD) | ON_MESH, CHOICE(quality, "QUALITY", qualities),
     "how much work goes into the tree; the answers are the same (default high)", false},
    {"neighbors", 'k', V(NEAREST) | V(BENCH), INT32(k, 1, INT32_MAX), "neighbours of each query (default 1)", false},
    {"radius", 'r', V(NEAREST), REAL(radius), "only neighbours at most this far away, above 0", false},
    {"radius", 'r', V(RADIUS), REAL(radius), "how far away points may be: 0 finds equal points, inf finds all", true},
    {"radius", 'r', V(BENCH), REAL(radius), "time counting and collecting within this radius too", false},
    {"ids", 0, V(RADIUS), PATH(ids), "ids of the points found, row after row, int32", false},
    {"distances", 0, V(NEAREST), PATH(distances),
     "squared distances, [queries][k], float32 (float64 for double points), inf where there are fewer", false},
    {"distances", 0, V(RADIUS), PATH(distances), "their squared distances, float32 (float64 for double points)", false},
    {"count", 0, V(RADIUS), FLAG(count), "only count the points", false},
    {"pairs", 0, V(RADIUS), FLAG(pairs), "without QUERIES: each pair once, in the row of its smaller id", false},
    {"sorted", 0, V(RADIUS), FLAG(sorted), "each row ascending by distance, then id", false},
    {"with-self", 0, ON_SEARCH, FLAG(with_self), "without QUERIES: a point is its own neighbour", false},
    {"verify", 0, ON_SEARCH, FLAG(verify),
     "check the answers against brute force (a sample of the queries above 10^9 distances); needs the points, not a "
     "saved tree",
     false},
    {"input-format", 0, V(VORONOI), CHOICE(input_format, "FORMAT", formats_read),
     "format of SITES (default: by the first bytes, then by suffix)", false},
    {"leaf-size", 0, V(VORONOI), INT32(tree.leaf_size, 1, 1024),
     "points a leaf of the tree should hold (default 32; with --device gl or --style depth 8)", false},
    {"device", 0, V(VORONOI) | ON_VOLUME | ON_MESH, DEVICE_OR_GL,
     "where the work runs; gl is OpenGL ES; N counts the GPUs from 0 (default auto: a CUDA GPU where this build and "
     "machine have one, else the CPU)",
     false},
    {"format", 0, ON_SEARCH, CHOICE(format, "FORMAT", formats_written),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(CONVERT), CHOICE(format, "FORMAT", formats_written_with_meshes),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(ISOSURFACE), CHOICE(format, "FORMAT", formats_of_meshes),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(TRACE) | V(COMPACT), CHOICE(format, "FORMAT", formats_of_hits),
     "format of what is written (default: by suffix)", false},
    {"input-format", 0, ON_MESH, CHOICE(input_format, "FORMAT", formats_of_meshes),
     "format of MESH (default: by the first bytes, then by suffix)", false},
    {"input-format", 0, V(BUILD) | ON_FILES, CHOICE(input_format, "FORMAT", formats_read_with_meshes),
     "format of what is read (default: by the first bytes, then by suffix)", false},
    {"input-format", 0, ON_READ_TWO, CHOICE(input_format, "FORMAT", formats_read),
     "format of what is read, of REFERENCE (unless it is a saved tree) and QUERIES both (default: by the first bytes, "
     "then by suffix)",
     false},
    {"precision", 0, V(INFO) | V(BUILD), CHOICE(precision, "TYPE", precisions),
     "read the coordinates as this type (default: the file's; text as float32 if that keeps its numbers)", false},
    {"precision", 0, ON_SEARCH, CHOICE(precision, "TYPE", precisions),
     "read the coordinates of REFERENCE and QUERIES as this type (default: the file's; text as float32 if that keeps "
     "its numbers)",
     false},
    {"precision", 0, V(CONVERT), CHOICE(precision, "TYPE", precisions),
     "read, and write, the coordinates of points as this type (default: the file's; text as float32 if that keeps its "
     "numbers)",
     false},
    {"precision", 0, V(BENCH), CHOICE(precision, "TYPE", precisions), "of generated points (default float32)", false},
    {"split", 0, ON_TREE, CHOICE(tree.split, "RULE", splits), "how a tree divides space (default median)", false},
    {"axis", 0, ON_TREE, CHOICE(tree.axis, "RULE", axes), "which axis a node divides (default widest)", false},
    {"leaf-size", 0, ON_TREE, INT32(tree.leaf_size, 1, 1024), "points that a leaf should hold (default 32)", false},
    {"drop-duplicates", 0, V(BUILD) | V(BENCH), FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id", false},
    {"drop-duplicates", 0, ON_SEARCH, FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id; without QUERIES the rows of the others are empty", false},
    {"walk", 0, V(NEAREST) | V(BENCH), CHOICE(walk, "WALK", walks),
     "how a search walks the tree; the answers are the same; warp and packet need a GPU (default auto)", false},
    {"ordered", 0, V(NEAREST), FLAG(ordered), "QUERIES lie close to their neighbours in the file: do not order them",
     false},
    {"ordered", 0, V(BENCH), FLAG(ordered), "search the queries in their own order: do not order them", false},
    {"points", 0, V(BENCH), INT64(points, 0, INT32_MAX), "points to generate (default 1000000)", false},
    {"queries", 0, V(BENCH), INT64(queries, 0, INT32_MAX), "queries to generate (default 1000000)", false},
    {"dims", 0, V(BENCH), INT32(dims, 1, SAP_MAX_DIMS), "coordinates of a generated point (default 3)", false},
    {"repeat", 0, V(BENCH), INT32(repeat, 7, 1000000), "times each task is measured, 7 or more (default 7)", false},
    {"seed", 0, ON_SEARCH, INT64(seed, 0, 9007199254740992.0), "chooses the queries that --verify samples (default 1)",
     false},
    {"seed", 0, V(BENCH), INT64(seed, 0, 9007199254740992.0), "of generated points and queries (default 1)", false},
    {"device", 0, ON_DEVICE, DEVICE,
     "where the work runs; N counts the GPUs from 0 (default auto: a GPU where this build and machine have one, else "
     "the CPU)",
     false},
    {"device", 0, ON_FILES, DEVICE,
     "the device that is opened; N counts the GPUs from 0 (default auto: the CPU, since files need no GPU)", false},
    {"threads", 0, ON_ALL, INT32(threads, 1, 1024), "CPU threads to use (default: all)", false},
    {"simd", 0, ON_ANY_DEVICE | V(VORONOI), CHOICE(simd, "WIDTH", simds),
     "vector instructions of the CPU (default auto)", false},
    {"progress", 0, ON_ALL, CHOICE(progress, "WHEN", progresses),
     "a progress bar on standard error (default auto: on a terminal, for work over a second)", false},
    {"json", 0, ON_ALL, FLAG(json), "report what was done as one JSON object on standard output", false},
    {"quiet", 'q', ON_ALL, FLAG(quiet), "only errors on standard error, and no progress bar", false},
    {"verbose", 'v', ON_ALL, FLAG(verbose), "more details on standard error", false},
    {"help", 'h', V(NONE) | ON_ALL, FLAG(help), "print this help and exit", false},
    {"version", 0, V(NONE), FLAG(version), "print version, features and devices and exit", false},
    {"generate", 0, V(NONE), CHOICE(generate, "DOCUMENT", documents), NULL, false},
};
_Static_assert(sizeof sap_cli_option_table / sizeof *sap_cli_option_table <= 64 * SAP_CLI_GIVEN_WORDS,
               "one bit of `given` for each");
const size_t sap_cli_option_count = sizeof sap_cli_option_table / sizeof *sap_cli_option_table;

const sap_cli_verb_text sap_cli_verb_table[SAP_VERB_COUNT] = {
    [SAP_VERB_NONE] = {"", "VERB", 0, 0, "build k-d trees over points and meshes and search them", ""},
    [SAP_VERB_INFO] = {"info", "FILE", 1, 1, "describe a file of points, a mesh or a saved tree",
                       "Prints how many points FILE holds, their dimensions, precision, bounds and duplicates; of a "
                       "mesh (OBJ, STL, PLY with faces) its vertices, triangles and materials; of a saved tree also "
                       "how it was built, its depth and its size."},
    [SAP_VERB_BUILD] = {"build", "POINTS", 1, 1, "build a tree over points, or triangles, and save it",
                        "Builds a k-d tree over POINTS, or with --triangles over a mesh, and saves it, so that later "
                        "searches map it instead of building it again."},
    [SAP_VERB_NEAREST] =
        {"nearest", "REFERENCE [QUERIES]", 1, 2, "find the nearest points of each query",
         "Finds the k points of REFERENCE (points or a saved tree) that are nearest to each of QUERIES. "
         "Neighbours ascend by squared distance, then id; ids count the points of REFERENCE from 0. "
         "Without QUERIES every point of REFERENCE is a query, and is not its own neighbour unless --with-self is "
         "given. "
         "QUERIES are rounded to the precision of REFERENCE if that is float32."},
    [SAP_VERB_RADIUS] = {"radius", "REFERENCE [QUERIES]", 1, 2,
                         "find or count the points within a radius of each query",
                         "Finds the points of REFERENCE (points or a saved tree) within a radius of each of QUERIES. "
                         "Row i of the answer is ids[offsets[i]] up to ids[offsets[i+1]-1]. Without QUERIES every "
                         "point of REFERENCE is a query, and is not its own neighbour unless --with-self is given. "
                         "QUERIES are rounded to the precision of "
                         "REFERENCE if that is float32."},
    [SAP_VERB_VERIFY] = {"verify", "TREE", 1, 1, "check a saved tree completely",
                         "Checks checksum, sizes, permutation, order, boxes and depth of a saved tree. Exit status 3 "
                         "when anything is wrong."},
    [SAP_VERB_CONVERT] =
        {"convert", "FILE", 1, 1, "convert points or a mesh from one format to another",
         "Reads points as PLY, XYZ, CSV, NPY or PCD and writes PLY, XYZ, CSV or NPY; reads meshes as "
         "PLY, OBJ or STL and writes PLY, OBJ or STL. Polygons become triangles. An OBJ with materials "
         "comes with an MTL. Of a mesh the vertices are written as points where the format holds no "
         "meshes; a PLY with faces stays a mesh unless --precision is given."},
    [SAP_VERB_BENCH] =
        {"bench", "[REFERENCE [QUERIES]]", 0, 2, "measure building and searching",
         "Times the build of a tree and searches in it, over generated points (uniform in the unit cube) "
         "or over files; medians after a warm-up. Without QUERIES the points of REFERENCE are the queries."},
    [SAP_VERB_RENDER] =
        {"render", "MESH", 1, 1, "draw a picture of a mesh",
         "Draws MESH (OBJ with MTL, STL or PLY with faces) by tracing rays through a k-d tree over its triangles: "
         "shadows, mirrors, glass, light from the sky. Kd, Ks, Ns, Ke, d, Ni and illum of its materials are used "
         "(mirrors have illum 3, glass has d below 1), or the colours of its vertices. The picture is the same for any "
         "number of threads and on any device."},
    [SAP_VERB_TRACE] = {"trace", "MESH RAYS", 2, 2, "find where rays first meet a mesh",
                        "Finds the first triangle of MESH (OBJ, STL, PLY with faces, or a tree saved by build "
                        "--triangles) that each of RAYS hits. RAYS is a file of numbers (NPY, CSV or text), one ray "
                        "per row: 6 columns are origin and direction, 8 are "
                        "origin, t_min, direction, t_max. The hit lies at origin + t * direction, and at "
                        "(1-u-v) * a + u * b + v * c for the corners a, b and c of the triangle; triangles count from "
                        "0. A miss has triangle -1, t inf, u and v 0."},
    [SAP_VERB_ISOSURFACE] =
        {"isosurface", "VOLUME", 1, 1, "extract the surface of a volume at a level",
         "Writes the surface of VOLUME at a level as a mesh (marching cubes): vertices are shared, and where the "
         "surface stays within the volume it is closed. VOLUME is an NPY array of up to three axes, the last one (the "
         "first one of a Fortran array) being x, or a raw file of samples, x fastest. The mesh is the same for any "
         "number of threads and on any device."},
    [SAP_VERB_COMPACT] =
        {"compact", "VOLUME", 1, 1, "list the samples of a volume that reach a level",
         "Lists the samples of VOLUME that are at least a level, in their order: stream compaction, as the library's "
         "sap_compact does it, on OpenGL by histopyramids. VOLUME is an NPY array of up to three axes or a raw "
         "file of samples, as for isosurface. The list is the same for any number of threads and on any device."},
    [SAP_VERB_VORONOI] =
        {"voronoi", "SITES", 1, 1, "draw which site is nearest to each pixel",
         "Draws the Voronoi cells of SITES, points with two coordinates, or with three, of which a slice is drawn, by "
         "searching a k-d tree from every pixel. The picture shows all sites and a little margin, x to the right and y "
         "up. The ids are the same on every device; the leaves that --style depth shows are counted on the CPU."},
};

const char sap_cli_columns_text[] =
    "Points are read from PLY, XYZ, CSV, NPY and PCD files; '-' is standard input. PLY, PCD and CSV with a line of "
    "names give the columns x, y and z; XYZ, NPY and other CSV give all columns, 1 to 16: the XYZ line '1 2 3 255 0 0' "
    "is a point of 6 dimensions.";
