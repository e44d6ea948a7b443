// The table of options.
#include "options.h"

#include <float.h>
#include <math.h>

#define V(verb)   (1u << SAP_VERB_##verb)
#define AT(field) offsetof(sap_cli_options, field)

enum {
    ON_CLOUD = V(RELAX) | V(PROJECT) | V(NORMALS) | V(DENSITY) | V(OUTLIERS) | V(THIN) | V(CLUSTER),
    ON_CLOUD_TREE = V(NORMALS) | V(DENSITY) | V(OUTLIERS) | V(CLUSTER),
    ON_MOTION = V(ALIGN) | V(ASSEMBLE),
    ON_CLOUDS = ON_CLOUD | ON_MOTION, // also of several files
    ON_ALL = ON_CLOUDS | V(DISTANCE) | V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(BOX) | V(CORRELATE) | V(PAIRS) |
             V(VERIFY) | V(CONVERT) | V(BENCH) | V(RENDER) | V(TRACE) | V(CLOSEST) | V(ISOSURFACE) | V(COMPACT) |
             V(VORONOI) | V(PICTURE) | V(SUBDIVIDE),
    ON_DEVICE = V(BUILD) | V(BOX) | V(CORRELATE) | V(PAIRS) | V(VERIFY) | V(BENCH) | V(CLOSEST) | V(DISTANCE),
    ON_FILES = V(INFO) | V(CONVERT),
    ON_READ_TWO = V(DISTANCE) | V(NEAREST) | V(RADIUS) | V(CORRELATE) | V(BENCH),
    ON_TREE = ON_CLOUD_TREE | V(DISTANCE) | V(ALIGN) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(BOX) | V(CORRELATE) |
              V(PAIRS) | V(BENCH),
    ON_SEARCH = V(NEAREST) | V(RADIUS),
    ON_SHARED = V(NEAREST) | V(RADIUS) | V(BOX), // among GPUs, and among processes
    ON_PACKED = ON_CLOUDS | V(DISTANCE) | V(INFO) | V(BUILD) | V(NEAREST) | V(RADIUS) | V(BOX) | V(CORRELATE) |
                V(PAIRS) | V(CONVERT) | V(BENCH) | V(RENDER) | V(TRACE) | V(CLOSEST) | V(ISOSURFACE) | V(COMPACT) |
                V(VORONOI) | V(PICTURE) | V(SUBDIVIDE),
    ON_MESH = V(RENDER) | V(TRACE) | V(CLOSEST),
    ON_PICTURE = V(RENDER) | V(ISOSURFACE),
    ON_VOLUME = V(ISOSURFACE) | V(COMPACT),
    ON_ANY_DEVICE = ON_CLOUDS | ON_DEVICE | ON_SEARCH | ON_MESH | ON_VOLUME
};

static const sap_cli_choice splits[] = {
    {"median", SAP_SPLIT_MEDIAN}, {"sliding-midpoint", SAP_SPLIT_SLIDING_MIDPOINT}, {"vvh", SAP_SPLIT_VVH}, {0}};
static const sap_cli_choice axes[] = {{"widest", SAP_AXIS_WIDEST}, {"cycle", SAP_AXIS_CYCLE}, {0}};
static const sap_cli_choice walks[] = {{"auto", SAP_WALK_AUTO},           {"stack", SAP_WALK_STACK},
                                       {"stackless", SAP_WALK_STACKLESS}, {"warp", SAP_WALK_WARP},
                                       {"packet", SAP_WALK_PACKET},       {0}};
static const sap_cli_choice simds[] = {{"auto", SAP_SIMD_AUTO},
                                       {"portable", SAP_SIMD_PORTABLE},
                                       {"avx2", SAP_SIMD_AVX2},
                                       {"avx512", SAP_SIMD_AVX512},
                                       {0}};
static const sap_cli_choice formats_read[] = {{"ply", SAP_FORMAT_PLY},
                                              {"xyz", SAP_FORMAT_XYZ},
                                              {"csv", SAP_FORMAT_CSV},
                                              {"npy", SAP_FORMAT_NPY},
                                              {"pcd", SAP_FORMAT_PCD},
                                              {"las", SAP_FORMAT_LAS},
                                              {0}};
static const sap_cli_choice formats_read_with_meshes[] = {{"ply", SAP_FORMAT_PLY},
                                                          {"xyz", SAP_FORMAT_XYZ},
                                                          {"csv", SAP_FORMAT_CSV},
                                                          {"npy", SAP_FORMAT_NPY},
                                                          {"pcd", SAP_FORMAT_PCD},
                                                          {"obj", SAP_FORMAT_OBJ},
                                                          {"stl", SAP_FORMAT_STL},
                                                          {"off", SAP_FORMAT_OFF},
                                                          {"las", SAP_FORMAT_LAS},
                                                          {"gltf", SAP_FORMAT_GLTF},
                                                          {0}};
static const sap_cli_choice formats_written_with_meshes[] = {{"npy", SAP_FORMAT_NPY},
                                                             {"csv", SAP_FORMAT_CSV},
                                                             {"ply", SAP_FORMAT_PLY},
                                                             {"xyz", SAP_FORMAT_XYZ},
                                                             {"pcd", SAP_FORMAT_PCD},
                                                             {"las", SAP_FORMAT_LAS},
                                                             {"laz", SAP_FORMAT_LAZ},
                                                             {"obj", SAP_FORMAT_OBJ},
                                                             {"stl", SAP_FORMAT_STL},
                                                             {"off", SAP_FORMAT_OFF},
                                                             {0}};
static const sap_cli_choice formats_of_clouds[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ},
    {"pcd", SAP_FORMAT_PCD}, {"las", SAP_FORMAT_LAS}, {"laz", SAP_FORMAT_LAZ}, {0}};
static const sap_cli_choice formats_of_meshes[] = {
    {"ply", SAP_FORMAT_PLY}, {"obj", SAP_FORMAT_OBJ}, {"stl", SAP_FORMAT_STL}, {"off", SAP_FORMAT_OFF}, {0}};
static const sap_cli_choice formats_of_meshes_read[] = {{"ply", SAP_FORMAT_PLY},   {"obj", SAP_FORMAT_OBJ},
                                                        {"stl", SAP_FORMAT_STL},   {"off", SAP_FORMAT_OFF},
                                                        {"gltf", SAP_FORMAT_GLTF}, {0}};
static const sap_cli_choice voxel_points[] = {
    {"mean", SAP_VOXELS_CENTROID}, {"first", SAP_VOXELS_FIRST}, {"nearest", SAP_VOXELS_NEAREST}, {0}};
static const sap_cli_choice methods[] = {
    {"point", SAP_ALIGN_POINT}, {"plane", SAP_ALIGN_PLANE}, {"generalised", SAP_ALIGN_GENERALISED}, {0}};
static const sap_cli_choice weightings[] = {{"none", SAP_KERNEL_NONE},
                                            {"huber", SAP_KERNEL_HUBER},
                                            {"tukey", SAP_KERNEL_TUKEY},
                                            {"cauchy", SAP_KERNEL_CAUCHY},
                                            {0}};
static const sap_cli_choice orients[] = {{"axis", SAP_ORIENT_NONE}, {"consistent", SAP_ORIENT_CONSISTENT}, {0}};
static const sap_cli_choice voxels[] = {
    {"u8", SAP_VOXEL_U8}, {"i16", SAP_VOXEL_I16}, {"u16", SAP_VOXEL_U16}, {"f32", SAP_VOXEL_F32}, {0}};
static const sap_cli_choice orders[] = {{"zyx", SAP_ORDER_ZYX}, {"xyz", SAP_ORDER_XYZ}, {0}};
static const sap_cli_choice formats_of_hits[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"xyz", SAP_FORMAT_XYZ}, {0}};
static const sap_cli_choice tones[] = {
    {"clamp", SAP_TONE_CLAMP}, {"reinhard", SAP_TONE_REINHARD}, {"filmic", SAP_TONE_FILMIC}, {0}};
static const sap_cli_choice filters[] = {
    {"constant", SAP_PHOTON_CONSTANT}, {"cone", SAP_PHOTON_CONE}, {"epanechnikov", SAP_PHOTON_EPANECHNIKOV}, {0}};
static const sap_cli_choice qualities[] = {{"high", SAP_QUALITY_HIGH}, {"fast", SAP_QUALITY_FAST}, {0}};
static const sap_cli_choice costs[] = {{"surface", SAP_COST_SURFACE}, {"voxels", SAP_COST_VOXELS}, {0}};
static const sap_cli_choice formats_written[] = {
    {"npy", SAP_FORMAT_NPY}, {"csv", SAP_FORMAT_CSV}, {"ply", SAP_FORMAT_PLY}, {"xyz", SAP_FORMAT_XYZ}, {0}};
static const sap_cli_choice precisions[] = {{"float32", 32}, {"float64", 64}, {0}};
static const sap_cli_choice progresses[] = {
    {"auto", SAP_PROGRESS_AUTO}, {"always", SAP_PROGRESS_ALWAYS}, {"never", SAP_PROGRESS_NEVER}, {0}};
static const sap_cli_choice mpis[] = {
    {"auto", SAP_MPI_AUTO}, {"always", SAP_MPI_ALWAYS}, {"never", SAP_MPI_NEVER}, {0}};
static const sap_cli_choice spreads[] = {
    {"auto", SAP_SPREAD_AUTO}, {"split", SAP_SPREAD_SPLIT}, {"copied", SAP_SPREAD_COPIED}, {0}};
static const sap_cli_choice styles[] = {{"cells", SAP_STYLE_CELLS},
                                        {"distances", SAP_STYLE_DISTANCES},
                                        {"edges", SAP_STYLE_EDGES},
                                        {"depth", SAP_STYLE_DEPTH},
                                        {0}};
static const sap_cli_choice documents[] = {
    {"man", SAP_MAN}, {"bash", SAP_BASH}, {"zsh", SAP_ZSH}, {"fish", SAP_FISH}, {0}};

#define FLAG(field)                SAP_KIND_FLAG, AT(field), 0, 0, NULL, NULL
#define PATH(field)                SAP_KIND_FILE, AT(field), 0, 0, "FILE", NULL
#define TEXT(field, name)          SAP_KIND_TEXT, AT(field), 0, 0, name, NULL
#define INT32(field, low, high)    SAP_KIND_INT32, AT(field), low, high, "N", NULL
#define INT64(field, low, high)    SAP_KIND_INT64, AT(field), low, high, "N", NULL
#define REAL(field)                SAP_KIND_REAL, AT(field), 0, HUGE_VAL, "R", NULL
#define REAL_IN(field, low, high)  SAP_KIND_REAL, AT(field), low, high, "R", NULL
#define SIZE(field)                SAP_KIND_SIZE, AT(field), 1, 65536, "WxH", NULL
#define RANGE(field, name)         SAP_KIND_RANGE, AT(field), 0, 0, name, NULL
#define VECTOR(field, name)        SAP_KIND_VECTOR, AT(field), 0, 0, name, NULL
#define CORNER(field)              SAP_KIND_CORNER, AT(field), 0, 0, "X,Y,Z", NULL
#define BOX(field)                 SAP_KIND_BOX, AT(field), 0, 0, "X,Y,Z,X,Y,Z", NULL
#define PLACE(field)               SAP_KIND_PLACE, AT(field), 0, 0, "X,Y,Z", NULL
#define COLUMNS(field)             SAP_KIND_COLUMNS, AT(field), 0, 0, "X,Y,Z", NULL
#define BYTES(field)               SAP_KIND_BYTES, AT(field), 0, 0, "BYTES", NULL
#define ORIGIN                     SAP_KIND_ORIGIN, AT(origin), 0, 0, "auto|X,Y,Z", NULL
#define EXTENT(field)              SAP_KIND_EXTENT, AT(field), 0, 0, "X0,Y0,X1,Y1", NULL
#define RADII(field)               SAP_KIND_RADII, AT(field), 0, 0, "R,R,...", NULL
#define SIDES(field)               SAP_KIND_SIDES, AT(field), 0, 0, "X,Y,Z", NULL
#define LIGHT(numbers, name)       SAP_KIND_LIGHT, AT(lights), numbers, 0, name, NULL
#define DEVICE                     SAP_KIND_DEVICE, AT(processor), 0, 0, "auto|cpu|cuda[:N]", NULL
#define DEVICE_OR_GL               SAP_KIND_DEVICE, AT(processor), 0, 1, "auto|cpu|cuda[:N]|gl", NULL
#define DEVICES                    SAP_KIND_DEVICES, AT(devices), 0, 0, "N,N,...", NULL
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
    {"output", 'o', V(BOX), PATH(output),
     "how many points each box holds, int64[boxes], or with --ids where its row begins, int64[boxes+1]; '-' is "
     "standard output (NPY unless --format says otherwise); with no output named and no --json the counts go to "
     "standard output as text",
     false},
    {"output", 'o', V(CORRELATE), PATH(output),
     "how many pairs lie within each radius, int64, or with weights their sums, float64; '-' is standard output (NPY "
     "unless --format says otherwise); without -o and --json they go to standard output as text, one line per radius",
     false},
    {"output", 'o', V(PAIRS), PATH(output),
     "the pairs, ascending by i, then j: NPY holds a structured array of the fields i, j (int32) and distance2 "
     "(float32, "
     "float64 for double points); CSV and text hold these three columns; with --count how many there are (int64); '-' "
     "is standard output (NPY unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"output", 'o', V(NORMALS), PATH(output),
     "the points with their normals nx, ny, nz and their curvature (float32) in further columns; '-' is standard "
     "output "
     "(NPY unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"output", 'o', V(DENSITY), PATH(output),
     "the points with a further column (float64): count, distance or density; '-' is standard output (NPY unless "
     "--format says otherwise); without -o and --json as text on standard output",
     false},
    {"output", 'o', V(OUTLIERS), PATH(output),
     "the points that are no outliers; '-' is standard output (NPY unless --format says otherwise); without -o and "
     "--json as text on standard output",
     false},
    {"neighbors", 'k', V(NORMALS), INT32(k, 1, INT32_MAX),
     "a normal is made of so many nearest points, the point itself among them (default: 16, or with --radius all)",
     false},
    {"radius", 'r', V(NORMALS), REAL(radius), "only of points at most this far away, above 0", false},
    {"orient", 0, V(NORMALS), CHOICE(orient, "HOW", orients),
     "which way normals point: axis: their largest coordinate is positive; consistent: as those beside them, along a "
     "minimum spanning tree, the highest one up (default axis)",
     false},
    {"view", 0, V(NORMALS), PLACE(view), "normals point towards this place", false},
    {"shapes", 0, V(NORMALS), FLAG(shapes), "two more columns, planarity and linearity (float32)", false},
    {"neighbors", 'k', V(DENSITY), INT32(k, 1, INT32_MAX), "the distance to the k-th nearest other point", false},
    {"radius", 'r', V(DENSITY), REAL(radius), "how many other points lie within this distance, above 0", false},
    {"kernel", 0, V(DENSITY), FLAG(kernel),
     "with --radius: an estimate of the points in a unit of volume, in which near ones count more", false},
    {"surface", 0, V(DENSITY), FLAG(surface),
     "with --kernel: points lie on a surface (in three dimensions; in two on a curve): points in a unit of area",
     false},
    {"neighbors", 'k', V(OUTLIERS), INT32(k, 1, INT32_MAX),
     "the mean distance to so many nearest other points decides (default 20); with --radius so many others must be "
     "within it (default 1)",
     false},
    {"ratio", 0, V(OUTLIERS), REAL(ratio),
     "outliers are those whose mean distance is above the mean of all by more than so many standard deviations, "
     "above 0 (default 2)",
     false},
    {"radius", 'r', V(OUTLIERS), REAL(radius), "outliers are those with too few others within this distance, above 0",
     false},
    {"invert", 0, V(OUTLIERS), FLAG(invert), "write the outliers instead", false},
    {"output", 'o', V(THIN), PATH(output),
     "the points that are left: of a grid in the order of their cells; '-' is standard output (NPY unless --format "
     "says "
     "otherwise); without -o and --json as text on standard output",
     false},
    {"output", 'o', V(CLUSTER), PATH(output),
     "the points with the number of their cluster (int32, -1: in none) in a further column; '-' is standard output "
     "(NPY "
     "unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"cell-size", 's', V(THIN), REAL(cell_size), "one point for each cell of this side, above 0; cells begin at 0",
     false},
    {"farthest", 0, V(THIN), INT64(farthest, 1, INT32_MAX),
     "so many points, each the one farthest from those before it, in the order in which they are chosen; the first of "
     "POINTS is the first",
     false},
    {"disks", 0, V(THIN), REAL(disks),
     "points of which none lies within this distance of another, and every other point does of one of them", false},
    {"seed", 0, V(THIN), INT64(seed, 0, 9007199254740992.0), "with --disks: another choice of points (default 1)",
     false},
    {"point", 0, V(THIN), CHOICE(chosen, "WHICH", voxel_points),
     "what stands for the points of a cell: their mean, the first of them in the file, or the one nearest to the "
     "middle "
     "of the cell (default mean)",
     false},
    {"fewest", 0, V(THIN), INT32(fewest, 1, INT32_MAX), "leave out cells with fewer points (default 1)", false},
    {"counts", 0, V(THIN), FLAG(counts_too),
     "of a grid: two more columns (int32): count, how many points the cell has, and id, the row of the point, or of "
     "the first of "
     "those that have this mean",
     false},
    {"radius", 'r', V(CLUSTER), REAL(radius), "points at most so far apart are in one cluster", true},
    {"fewest", 0, V(CLUSTER), INT32(fewest, 1, INT32_MAX),
     "DBSCAN: only points with so many within the radius, themselves among them, join others (default 1: all do)",
     false},
    {"least", 0, V(CLUSTER), INT64(least, 1, INT32_MAX), "leave out clusters of fewer points (default 1)", false},
    {"output", 'o', V(ALIGN), PATH(output),
     "the points of SOURCE where they have come; '-' is standard output (NPY unless --format says otherwise); without "
     "-o, --transform and --json as text on standard output",
     false},
    {"transform", 0, V(ALIGN), PATH(transform),
     "the matrix that takes SOURCE onto TARGET: four rows of a turn, a shift, and 0 0 0 1 (float64)", false},
    {"output", 'o', V(ASSEMBLE), SAP_KIND_FILE, AT(output), 0, 0, "PATTERN", NULL,
     "each cloud where it has come, in the file that this names: {} stands for the name of its own file without folder "
     "and suffix, {n} for its number, counted from 0, as in 'moved/{}.ply'",
     false},
    {"transform", 0, V(ASSEMBLE), PATH(transform),
     "the matrices that move the clouds, one below the other: of each, four rows of a turn, a shift, and 0 0 0 1 "
     "(float64); without -o, --transform and --json as text on standard output",
     false},
    {"start", 0, V(ASSEMBLE), PATH(start),
     "where the clouds are at first: a file of such matrices (default: where their coordinates say)", false},
    {"global", 0, V(ASSEMBLE), FLAG(global),
     "find out how each two lie on each other first, whatever their turn and however far away they are, by the shapes "
     "of both; then, without --max-distance and --overlap, align them with --find-overlap",
     false},
    {"least-overlap", 0, V(ASSEMBLE), REAL_IN(least_overlap, DBL_MIN, 1),
     "two clouds overlap if so large a part of the points of the later one counts; all of them do unless "
     "--max-distance or --overlap leave some out, or --find-overlap, which --global turns on and which leaves three "
     "tenths "
     "at least (default 0.1)",
     false},
    {"start", 0, V(ALIGN), PATH(start),
     "where SOURCE is at first: a file of such a matrix (default: where its coordinates say)", false},
    {"global", 0, V(ALIGN), FLAG(global),
     "find out where SOURCE lies on TARGET first, whatever its turn and however far away it is, by the shapes of both; "
     "then, without --max-distance and --overlap, align it with --find-overlap",
     false},
    {"method", 0, ON_MOTION, CHOICE(method, "HOW", methods),
     "what becomes small: distances between points; distances to the tangent planes of TARGET; or distances between "
     "tangent planes of both, which takes the fewest steps (default point)",
     false},
    {"max-distance", 0, ON_MOTION, REAL_IN(max_distance, DBL_MIN, HUGE_VAL),
     "points farther from TARGET do not count (default: all do)", false},
    {"overlap", 0, ON_MOTION, REAL_IN(overlap, DBL_MIN, 1),
     "only this part of the points of SOURCE counts, those nearest to TARGET (default 1)", false},
    {"find-overlap", 0, ON_MOTION, FLAG(find_overlap),
     "find out which part that is, three tenths at least: not for clouds that have less in common", false},
    {"max-angle", 0, ON_MOTION, REAL_IN(max_angle, DBL_MIN, 90),
     "points whose normals make a greater angle, in degrees, do not count (default: all do)", false},
    {"one-to-one", 0, ON_MOTION, FLAG(one_to_one), "of points with one nearest point only the nearest counts", false},
    {"weights", 0, ON_MOTION, CHOICE(weighting, "HOW", weightings),
     "points that fit badly count less (default none: all count alike)", false},
    {"scale", 0, ON_MOTION, REAL_IN(scale, DBL_MIN, HUGE_VAL),
     "with --weights: the distance from which on they do (default: found from the median)", false},
    {"levels", 0, ON_MOTION, INT32(levels, 1, 8),
     "begin with every 4^(N-1)-th point, then take four times as many, until all count; 8 at most (default 1)", false},
    {"iterations", 0, ON_MOTION, INT32(iterations, 1, 1000000), "steps on each level at most (default 100)", false},
    {"tolerance", 0, ON_MOTION, REAL_IN(tolerance, DBL_MIN, 1),
     "stop when a step moves SOURCE by no more than this part of its size (default 1e-6)", false},
    {"kinds", 0, V(CLUSTER), FLAG(kinds),
     "one more column, kind (uint8): 2 for points that join others, 1 for points at the border, which do not, 0 for "
     "points in no cluster",
     false},
    {"output", 'o', V(RELAX), PATH(output),
     "the points where they have moved to, in their order, then those that were added; '-' is standard output (NPY "
     "unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"neighbors", 'k', V(RELAX), INT32(k, 1, INT32_MAX),
     "so many nearest points push, the point itself among them (default: 16, or with --radius all)", false},
    {"radius", 'r', V(RELAX), REAL(radius),
     "how far forces reach, above 0 (default: for each point to the last of its neighbours, which keeps dense places "
     "dense)",
     false},
    {"steps", 0, V(RELAX), INT32(steps, 1, 1000000), "how often all points move (default 20)", false},
    {"more", 0, V(RELAX), INT64(more, 0, INT32_MAX),
     "add so many points first, beside those that lie most alone; 8 times those of the file at most (default 0)",
     false},
    {"free", 0, V(RELAX), FLAG(is_free),
     "do not put points back, in the end, on the surface that those of the file sample", false},
    {"output", 'o', V(PROJECT), PATH(output),
     "the points that were projected; '-' is standard output (NPY unless --format says otherwise); without -o and "
     "--json "
     "as text on standard output",
     false},
    {"count", 0, V(PROJECT), INT64(made, 1, INT32_MAX),
     "so many points, at most those of the file (default: one for every 20, rounded up)", false},
    {"radius", 'r', V(PROJECT), REAL(radius),
     "how far points reach, above 0: much farther than the noise goes, but less far than details are wide (default: 8 "
     "mean spacings of the points of the file)",
     false},
    {"steps", 0, V(PROJECT), INT32(steps, 1, 1000000), "how often all points move (default 35)", false},
    {"push", 0, V(PROJECT), REAL_IN(push, DBL_MIN, 0.5),
     "how much points keep off each other, above 0, 0.5 at most (default 0.45)", false},
    {"tolerance", 0, V(PROJECT), REAL_IN(tolerance, DBL_MIN, 1),
     "stop when a step moves points by less than this part of the radius (default: do all steps)", false},
    {"by-density", 0, V(PROJECT), FLAG(by_density),
     "points of the file weigh the less the more of them lie nearby: for scans that are dense in parts", false},
    {"median", 0, V(PROJECT), FLAG(to_median),
     "go to the median of the points nearby, which stays on curved surfaces with a wide radius, instead of to their "
     "mean, "
     "which takes out more noise with a narrow one",
     false},
    {"output", 'o', V(DISTANCE), PATH(output),
     "QUERIES with their distance (float64) in a further column, inf where there is none; '-' is standard output (NPY "
     "unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"both", 0, V(DISTANCE), FLAG(both),
     "of points: also how far those of REFERENCE are from QUERIES, and the Hausdorff and chamfer distances, in the "
     "report",
     false},
    {"signed", 0, V(DISTANCE), FLAG(is_signed),
     "of a closed mesh: distances of points inside are negative; inside is from where a ray crosses the mesh an odd "
     "number of times",
     false},
    {"radius", 'r', V(DISTANCE), REAL(radius), "points that lie farther off have no distance and do not count", false},
    {"quantile", 0, V(DISTANCE), REAL_IN(quantile, 0, 1),
     "report the distance that this part of the points does not exceed, such as 0.95", false},
    {"radius", 'r', V(PAIRS), REAL(radius), "how far apart points may be: 0 finds equal points, inf finds all", true},
    {"full", 0, V(PAIRS), FLAG(full), "each pair in both directions, (i, j) and (j, i); without it i is below j",
     false},
    {"count", 0, V(PAIRS), FLAG(count), "only count the pairs", false},
    {"limit", 0, V(PAIRS), INT64(limit, 0, 9007199254740992.0),
     "refuse to list more pairs than this; they are counted before (default: as many as fit into half of the machine's "
     "memory)",
     false},
    {"radii", 'r', V(CORRELATE), RADII(many_radii), "the radii, ascending, at most 64 of them", true},
    {"bins", 0, V(CORRELATE), FLAG(bins), "only pairs within a radius, but not within the one before", false},
    {"weights", 0, V(CORRELATE), PATH(point_weights),
     "a file of one number for each point of REFERENCE: a pair counts as the product of its weights", false},
    {"query-weights", 0, V(CORRELATE), PATH(query_weights), "the same for QUERIES", false},
    {"jackknife", 0, V(CORRELATE), INT32(jackknife, 2, 4096),
     "standard errors: divide space into N blocks of equally many points of REFERENCE, and count without each; -o and "
     "standard output then have two columns, count and error (float64)",
     false},
    {"cells", 0, V(CORRELATE), PATH(cells),
     "with --jackknife: the blocks hold equally many of these points instead, as is needed where pairs of data and of "
     "random points are to have the same blocks",
     false},
    {"blocks", 0, V(CORRELATE), PATH(blocks),
     "with --jackknife: a file for the counts without each block, one row a block and one column a radius (float64)",
     false},
    {"output", 'o', V(CONVERT), PATH(output),
     "the file to write; '-' is standard output (NPY unless --format says otherwise); without it points as text on "
     "standard output",
     false},
    {"output", 'o', V(RENDER), PATH(output),
     "the picture, .png (if this build has zlib), .ppm, or the light itself, linear floats: .pfm, .exr (if this build "
     "has OpenEXR); with --orbit each has its number before the suffix; '-' is standard output, as PPM",
     true},
    {"output", 'o', V(TRACE), PATH(output),
     "the hits, one for each ray: NPY holds a structured array of the fields t, u, v (float32) and triangle (int32); "
     "CSV and text hold these four columns; '-' is standard output (NPY unless --format says otherwise); without -o "
     "and "
     "--json as text on standard output",
     false},
    {"all", 0, V(TRACE), FLAG(all),
     "all hits of each ray, ascending by t, then triangle: a row for each hit, which begins with the number of its ray "
     "(int64), from 0",
     false},
    {"hits", 0, V(TRACE), INT32(hits, 1, INT32_MAX), "with --all: only the first N hits of each ray", false},
    {"occluded", 0, V(TRACE), FLAG(occluded), "only whether each ray hits something: 1 or 0 (uint8)", false},
    {"output", 'o', V(CLOSEST), PATH(output),
     "the nearest points, one for each query: NPY holds a structured array of the fields x, y, z, distance (float32) "
     "and triangle (int32), with an origin x, y and z as float64; CSV and text hold these five columns; '-' is "
     "standard output (NPY unless --format says otherwise); without -o and --json as text on standard output",
     false},
    {"inside", 0, V(CLOSEST), FLAG(inside),
     "distances of queries inside the mesh are negative; it has to be closed: inside is from where a ray crosses it an "
     "odd number of times",
     false},
    {"output", 'o', V(ISOSURFACE), PATH(output),
     "the mesh, .ply (with normals), .obj, .stl or .off; '-' is standard output (PLY unless --format says otherwise)",
     false},
    {"output", 'o', V(SUBDIVIDE), PATH(output),
     "the mesh, .ply (with normals), .obj, .stl or .off; '-' is standard output (PLY unless --format says otherwise)",
     true},
    {"levels", 0, V(SUBDIVIDE), INT32(levels, 0, SAP_SUBDIVISION_MOST),
     "how often each triangle becomes four (default 1)", false},
    {"limit", 0, V(SUBDIVIDE), FLAG(to_limit), "put vertices where endless subdivision would", false},
    {"creases", 0, V(SUBDIVIDE), REAL_IN(creases, 0, 180),
     "edges stay sharp where triangles meet at a greater angle, in degrees: 0 in a plane (default: none)", false},
    {"keep-tips", 0, V(SUBDIVIDE), FLAG(keep_tips), "vertices of a border with one triangle stay where they are",
     false},
    {"size", 0, ON_VOLUME, SIDES(sides), "samples along x, y and z; raw files need it", false},
    {"order", 0, ON_VOLUME, CHOICE(order, "ORDER", orders),
     "what the axes of the array are, the first one first: array[z][y][x] or array[x][y][z] (default zyx); of raw "
     "samples xyz means that z is the fastest",
     false},
    {"type", 0, ON_VOLUME, CHOICE(voxel, "TYPE", voxels), "of raw samples (default f32); not used for NPY and NPZ",
     false},
    {"level", 0, V(ISOSURFACE), REAL_IN(level, -FLT_MAX, FLT_MAX), "samples of at least this value are inside", true},
    {"level", 0, V(COMPACT), REAL_IN(level, -FLT_MAX, FLT_MAX), "samples of at least this value are kept", true},
    {"output", 'o', V(COMPACT), PATH(output),
     "the numbers of the samples that are kept, int64, x being the fastest; '-' is standard output (NPY unless "
     "--format says otherwise)",
     false},
    {"picture", 0, V(COMPACT), PATH(picture),
     "a picture, .png (if this build has zlib) or .ppm: the samples that are kept, in the colours of their places, "
     "scattered over the slices and compacted; beside them the levels of the histopyramid that leads from one to the "
     "other",
     false},
    {"spacing", 0, V(ISOSURFACE), VECTOR(spacing, "X,Y,Z"), "from one sample to the next (default 1,1,1)", false},
    {"skip", 0, ON_VOLUME, INT64(skip, 0, 9007199254740992.0),
     "bytes of a raw file ahead of the first sample: 352 of most NIfTI files (default 0); not used for NPY and NPZ",
     false},
    {"big-endian", 0, ON_VOLUME, FLAG(big_endian),
     "raw samples have their highest byte first; not used for NPY and NPZ", false},
    {"low-inside", 0, V(ISOSURFACE), FLAG(low_inside), "fronts and normals face higher values", false},
    {"render", 0, V(ISOSURFACE), PATH(picture), "a picture of the surface, .png (if this build has zlib) or .ppm",
     false},
    {"picture-size", 0, V(ISOSURFACE), SIZE(size), "its width and height in pixels (default 800x500)", false},
    {"output", 'o', V(VORONOI), PATH(output),
     "the picture, .png (if this build has zlib) or .ppm; '-' is standard output, as PPM", true},
    {"style", 0, V(VORONOI), CHOICE(style, "STYLE", styles),
     "cells in colours with their sites; how far the nearest site is; the edges of cells; or how deep the search goes: "
     "leaves of the tree that each pixel's search visits (default cells)",
     false},
    {"extent", 0, V(VORONOI), EXTENT(extent),
     "the part of the plane that the picture shows, from its lower left to its upper right corner; pixels are oblong "
     "if their sides do not fit (default: all sites with a margin, in square pixels)",
     false},
    {"slice", 0, V(VORONOI), REAL_IN(slice, -FLT_MAX, FLT_MAX),
     "of sites with three coordinates: the z of the slice (default: the middle)", false},
    {"distances", 0, V(VORONOI), PATH(distances), "squared distances to the nearest site, float32[height][width]",
     false},
    {"ids", 0, V(VORONOI), PATH(ids), "ids of the nearest sites, int32[height][width]", false},
    {"output", 'o', V(PICTURE), PATH(output),
     "the picture, by suffix: .png (where this build has zlib) or .ppm; '-' is standard output, PPM", true},
    {"color", 0, V(PICTURE), TEXT(color, "FIELD"),
     "what colours show: rgb, height, x, y, z, or a field of the file by its name (default: rgb if the points have "
     "red, "
     "green and blue, else height)",
     false},
    {"point-size", 0, V(PICTURE), REAL(point_size),
     "how wide discs are, in the units of the coordinates, above 0 (default: so that neighbours overlap)", false},
    {"eye", 0, V(PICTURE), PLACE(eye),
     "position of the camera (default: one from which it sees all points, a little from above)", false},
    {"at", 0, V(PICTURE), PLACE(at), "what it looks at (default: the middle of the points)", false},
    {"up", 0, V(PICTURE), VECTOR(up, "X,Y,Z"), "which way is up in the picture (default 0,0,1)", false},
    {"fov", 0, V(PICTURE), REAL_IN(fov, 1, 179), "degrees from the lower edge of the picture to the upper (default 35)",
     false},
    {"background", 0, V(PICTURE), VECTOR(background, "R,G,B"), "colour behind the points, 0 to 1 each (default 1,1,1)",
     false},
    {"size", 0, V(RENDER) | V(VORONOI) | V(PICTURE), SIZE(size),
     "width and height of the picture in pixels (default 800x500)", false},
    {"eye", 0, ON_PICTURE, PLACE(eye),
     "position of the camera (default: one from which it sees the whole mesh, a little from above)", false},
    {"at", 0, ON_PICTURE, PLACE(at), "what it looks at (default: the middle of the mesh)", false},
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
    {"photons", 0, V(RENDER), INT64(photons, 1, INT32_MAX),
     "send out this many photons, from lamps, shining faces and the sky, and light the picture by what they bring to "
     "surfaces: light that was scattered before, and caustics",
     false},
    {"caustics", 0, V(RENDER), INT64(caustics, 1, INT32_MAX),
     "photons to send out for caustics: what mirrors and glass throw (default as --photons)", false},
    {"gather", 0, V(RENDER), FLAG(gather),
     "look photons up one bounce further on, where rays from the surface end: slower, without stains", false},
    {"next-event", 0, V(RENDER), FLAG(next_event),
     "send rays to faces that shine (Ke), too: less noise where they are small", false},
    {"passes", 0, V(RENDER), INT32(passes, 1, 65536),
     "the mean of this many pictures, each of so many --samples, and with its own photons (default 1)", false},
    {"until-error", 0, V(RENDER), REAL(until_error),
     "stop after fewer passes, once the noise that is left is at most this part of the mean brightness: 0.02, say "
     "(above 0)",
     false},
    {"tone", 0, V(RENDER), CHOICE(tone, "TONE", tones),
     "how light brighter than white is drawn: clamp, or the curves reinhard and filmic (default clamp)", false},
    {"progressive", 0, V(RENDER), FLAG(progressive), "from pass to pass count only nearer photons: sharper caustics",
     false},
    {"neighbors", 'k', V(RENDER), INT32(k, 1, INT32_MAX), "photons that count at a place (default 50)", false},
    {"radius", 'r', V(RENDER), REAL(radius),
     "only photons at most this far away, above 0; without --neighbors all of them", false},
    {"filter", 0, V(RENDER), CHOICE(filter, "FILTER", filters),
     "how much photons count by their distance (default epanechnikov)", false},
    {"seed", 0, V(RENDER), INT64(seed, 0, UINT32_MAX), "chooses other photons (default 1)", false},
    {"photon-cloud", 0, V(RENDER), PATH(photon_cloud),
     "write the photons of the first pass where they hit surfaces, with normals, colours and kinds, as a cloud, for "
     "sapwood picture",
     false},
    {"flat", 0, V(RENDER), FLAG(flat), "show each triangle as it is: no smoothed normals", false},
    {"heat", 0, V(RENDER), FLAG(heat), "draw how many nodes of the tree each ray visits", false},
    {"orbit", 0, V(RENDER), INT32(orbit, 1, 9999),
     "this many pictures from around the mesh, which twists in a wave; the tree is built anew for each; prints the "
     "milliseconds that building the tree, tracing rays and shading took",
     false},
    {"frames", 0, V(RENDER), RANGE(frames, "FIRST:END"),
     "a picture of each frame from FIRST to the one before END, of a glTF that moves, or of meshes in numbered files: "
     "MESH is frame_%04d.obj, say; the tree is built anew for each; where -o has no %04d in it, the number comes "
     "before "
     "its suffix; prints the milliseconds that moving or reading the mesh, building, tracing and shading took",
     false},
    {"refit", 0, V(RENDER), REAL_IN(refit, DBL_MIN, HUGE_VAL),
     "of pictures that move, fit the tree to the mesh instead of building it anew, unless rays are expected to cost "
     "more "
     "than R times as much as after the last build; prints how many times, too",
     false},
    {"fps", 0, V(RENDER), REAL_IN(fps, DBL_MIN, HUGE_VAL), "frames in a second of a glTF (default 30)", false},
    {"clip", 0, V(RENDER), TEXT(clip, "CLIP"),
     "which animation of a glTF, by its name or, from 0, its number (default 0)", false},
    {"triangles", 0, V(BUILD), FLAG(triangles),
     "build over the triangles of a mesh (OBJ, STL, OFF, glTF or PLY with faces), for trace and closest", false},
    {"quality", 0, V(BUILD) | ON_MESH, CHOICE(quality, "QUALITY", qualities),
     "how much work goes into the tree; the answers are the same (default high)", false},
    {"cost", 0, V(BUILD) | ON_MESH, CHOICE(cost, "COST", costs),
     "what makes a plane of the tree cheap: surface suits rays, voxels points near the mesh; the answers are the same "
     "(default surface)",
     false},
    {"reach", 0, V(BUILD) | ON_MESH, REAL_IN(reach, 0, FLT_MAX),
     "with --cost voxels: how far from the mesh points usually lie (default an eighth of a percent of its diagonal)",
     false},
    {"neighbors", 'k', V(NEAREST) | V(BENCH), INT32(k, 1, INT32_MAX), "neighbours of each query (default 1)", false},
    {"radius", 'r', V(NEAREST), REAL(radius), "only neighbours at most this far away, above 0", false},
    {"radius", 'r', V(RADIUS), REAL(radius), "how far away points may be: 0 finds equal points, inf finds all", false},
    {"radius", 'r', V(BENCH), REAL(radius), "time counting and collecting within this radius too", false},
    {"lower", 0, V(BOX), CORNER(lower), "without BOXES: the lower corner of the box; -inf is open", false},
    {"upper", 0, V(BOX), CORNER(upper), "without BOXES: its upper corner; inf is open", false},
    {"ids", 0, V(BOX), PATH(ids), "ids of the points in the boxes, row after row, int32", false},
    {"radii", 0, V(RADIUS), PATH(radii), "instead of --radius one for each query: a file of one number a row", false},
    {"metric", 0, ON_SEARCH, TEXT(metric, "METRIC"),
     "how distances are measured: l2, l1, linf, or p from 1 to 1000: the sum of the p-th powers of the lengths along "
     "the axes; what is written are those sums, and for l1 and linf the distances themselves (default l2)",
     false},
    {"weights", 0, ON_SEARCH, TEXT(weights, "W,W,..."),
     "a factor for each axis's term of the distance, not negative; 0 leaves the axis out", false},
    {"mask", 0, ON_SEARCH, PATH(mask),
     "only points that it names may be found: a file of one number a point, 0 for those that may not", false},
    {"box", 0, ON_SEARCH, BOX(box),
     "only points in this box may be found: its lower corner, then its upper one. Sides belong to the box and may be "
     "-inf or inf; the numbers are rounded to the precision of the points",
     false},
    {"eps", 0, V(NEAREST), REAL(eps), "each neighbour may be up to 1 + R times as far away as the true one (default 0)",
     false},
    {"ids", 0, V(RADIUS), PATH(ids), "ids of the points found, row after row, int32", false},
    {"distances", 0, V(NEAREST), PATH(distances),
     "squared distances, [queries][k], float32 (float64 for double points), inf where there are fewer", false},
    {"distances", 0, V(RADIUS), PATH(distances), "their squared distances, float32 (float64 for double points)", false},
    {"limit", 0, V(RADIUS), INT64(limit, 0, 9007199254740992.0),
     "refuse to collect more points than this (default: as many as fit into half of the machine's memory). They are "
     "counted before, so that nothing is collected in vain, but for a saved tree without QUERIES: there they are "
     "counted only when they are collected, and what --limit refuses then has been in memory",
     false},
    {"limit", 0, V(BOX), INT64(limit, 0, 9007199254740992.0),
     "refuse to collect more points than this (default: as many as half of the machine's memory holds)", false},
    {"count", 0, V(RADIUS), FLAG(count), "only count the points", false},
    {"pairs", 0, V(RADIUS), FLAG(pairs), "without QUERIES: each pair once, in the row of its smaller id", false},
    {"sorted", 0, V(RADIUS), FLAG(sorted), "each row ascending by distance, then id", false},
    {"sorted", 0, V(BOX), FLAG(sorted), "each row ascending by id", false},
    {"with-self", 0, ON_SEARCH, FLAG(with_self), "without QUERIES: a point is its own neighbour", false},
    {"verify", 0, ON_SEARCH, FLAG(verify),
     "check the answers against brute force (a sample of the queries above 10^9 distances); needs the points, not a "
     "saved tree",
     false},
    {"input-format", 0, V(VORONOI), CHOICE(input_format, "FORMAT", formats_read),
     "format of SITES (default: by the first bytes, then by suffix); npy is NPZ too, csv also what tabs separate "
     "(.tsv)",
     false},
    {"leaf-size", 0, V(VORONOI), INT32(tree.leaf_size, 1, 1024),
     "points a leaf of the tree should hold (default 32; with --device gl or --style depth 8)", false},
    {"device", 0, ON_SEARCH, DEVICE_OR_GL,
     "where the work runs; gl is OpenGL ES, for float points of 2 or 3 coordinates and with QUERIES; N "
     "counts the GPUs from 0 (default auto: a CUDA GPU where this build and machine have one, else the CPU)",
     false},
    {"device", 0, V(VORONOI) | ON_VOLUME | V(RENDER) | V(TRACE), DEVICE_OR_GL,
     "where the work runs; gl is OpenGL ES; N counts the GPUs from 0 (default auto: a CUDA GPU where this build and "
     "machine have one, else the CPU)",
     false},
    {"format", 0, ON_SEARCH | V(BOX) | V(CORRELATE), CHOICE(format, "FORMAT", formats_written),
     "format of what is written (default: by suffix)", false},
    {"format", 0, ON_CLOUDS | V(DISTANCE), CHOICE(format, "FORMAT", formats_of_clouds),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(CONVERT), CHOICE(format, "FORMAT", formats_written_with_meshes),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(ISOSURFACE) | V(SUBDIVIDE), CHOICE(format, "FORMAT", formats_of_meshes),
     "format of what is written (default: by suffix)", false},
    {"format", 0, V(PAIRS) | V(TRACE) | V(CLOSEST) | V(COMPACT), CHOICE(format, "FORMAT", formats_of_hits),
     "format of what is written (default: by suffix)", false},
    {"input-format", 0, ON_MESH | V(SUBDIVIDE), CHOICE(input_format, "FORMAT", formats_of_meshes_read),
     "format of MESH (default: by the first bytes, then by suffix)", false},
    {"input-format", 0, V(BUILD) | ON_FILES, CHOICE(input_format, "FORMAT", formats_read_with_meshes),
     "format of what is read (default: by the first bytes, then by suffix); npy is NPZ too, csv also what tabs "
     "separate (.tsv)",
     false},
    {"input-format", 0, ON_CLOUD | V(PICTURE), CHOICE(input_format, "FORMAT", formats_read),
     "format of POINTS (default: by the first bytes, then by suffix); npy is NPZ too, csv also what tabs separate "
     "(.tsv)",
     false},
    {"input-format", 0, V(ALIGN), CHOICE(input_format, "FORMAT", formats_read),
     "format of SOURCE and TARGET (default: by the first bytes, then by suffix); npy is NPZ too, csv also what tabs "
     "separate (.tsv)",
     false},
    {"input-format", 0, V(ASSEMBLE), CHOICE(input_format, "FORMAT", formats_read),
     "format of the clouds (default: by the first bytes, then by suffix); npy is NPZ too, csv also what tabs separate "
     "(.tsv)",
     false},
    {"input-format", 0, V(BOX) | V(PAIRS), CHOICE(input_format, "FORMAT", formats_read),
     "format of REFERENCE, unless it is a saved tree (default: by the first bytes, then by suffix); npy is NPZ too, "
     "csv "
     "also what tabs separate (.tsv)",
     false},
    {"input-format", 0, V(DISTANCE), CHOICE(input_format, "FORMAT", formats_read_with_meshes),
     "format of REFERENCE, unless it is a saved tree, and of QUERIES, unless --query-format says another (default: by "
     "the first bytes, then by suffix); npy is NPZ too, csv also what tabs separate (.tsv)",
     false},
    {"input-format", 0, ON_READ_TWO & ~V(DISTANCE), CHOICE(input_format, "FORMAT", formats_read),
     "format of REFERENCE, unless it is a saved tree, and of QUERIES, unless --query-format says another (default: by "
     "the first bytes, then by suffix); npy is NPZ too, csv also what tabs separate (.tsv)",
     false},
    {"query-format", 0, ON_READ_TWO, CHOICE(query_format, "FORMAT", formats_read),
     "format of QUERIES (default: that of --input-format)", false},
    {"member", 0, ON_CLOUDS | V(INFO) | V(BUILD) | V(BOX) | V(PAIRS) | V(CONVERT) | V(VORONOI) | V(PICTURE),
     TEXT(member, "NAME"), "which array of an NPZ (default: points, xyz or coords, or the only one)", false},
    {"member", 0, ON_VOLUME, TEXT(member, "NAME"), "which array of an NPZ (default: volume, or the only one)", false},
    {"member", 0, ON_READ_TWO, TEXT(member, "NAME"),
     "which array of an NPZ (default: points, xyz or coords, or the only one), of REFERENCE and, if they are an NPZ "
     "file, of QUERIES",
     false},
    {"member", 0, V(TRACE), TEXT(member, "NAME"),
     "which array of an NPZ the rays are (default: points, xyz or coords, or the only one)", false},
    {"member", 0, V(CLOSEST), TEXT(member, "NAME"),
     "which array of an NPZ the queries are (default: points, xyz or coords, or the only one)", false},
    {"query-member", 0, ON_READ_TWO, TEXT(query_member, "NAME"),
     "which array of an NPZ the queries are (default: that of --member)", false},
    {"columns", 0, V(CONVERT), COLUMNS(columns),
     "which columns of points are their coordinates: names of the file's columns, or numbers from 1 (default: x, y and "
     "z where columns have names, else all); only these are written then",
     false},
    {"columns", 0, ON_CLOUDS | V(INFO) | V(BUILD) | V(BOX) | V(PAIRS) | V(VORONOI) | V(PICTURE), COLUMNS(columns),
     "which columns of points are their coordinates: names of the file's columns, or numbers from 1 (default: x, y and "
     "z where columns have names, else all)",
     false},
    {"columns", 0, ON_READ_TWO, COLUMNS(columns),
     "which columns of points are their coordinates, in REFERENCE and in QUERIES: names of the file's columns, or "
     "numbers from 1 (default: x, y and z where columns have names, else all)",
     false},
    {"query-columns", 0, ON_READ_TWO, COLUMNS(query_columns),
     "which columns of QUERIES are coordinates (default: those of --columns)", false},
    {"columns", 0, V(TRACE), COLUMNS(columns),
     "which columns of RAYS are the 6 or 8 numbers of a ray: names, or numbers from 1 (default: all)", false},
    {"columns", 0, V(CLOSEST), COLUMNS(columns),
     "which columns of QUERIES are their coordinates: names, or numbers from 1 (default: x, y and z where columns have "
     "names, else all)",
     false},
    {"unpack-limit", 0, ON_PACKED, BYTES(unpack_limit),
     "bytes, such as 4G, that what gzip or NPZ has packed may become (default: 100 times as many as the packed ones, "
     "or "
     "64M if that is more)",
     false},
    {"origin", 0, V(INFO) | V(CONVERT) | V(SUBDIVIDE), ORIGIN,
     "of a mesh: subtract this point, in double, from coordinates before they become floats, which keeps them where "
     "they are far from 0, as in UTM. What is shown and written are the coordinates of the file (default auto: one "
     "near the "
     "middle of the mesh if floats would move vertices too far, else 0,0,0)",
     false},
    {"origin", 0, V(BUILD), ORIGIN,
     "of a mesh: subtract this point, in double, from coordinates before they become floats, which keeps them where "
     "they are far from 0, as in UTM; auto: one near the middle of the mesh if floats would move vertices too far, "
     "else "
     "0,0,0. The saved tree does not keep it: give it to trace and closest again (default 0,0,0)",
     false},
    {"origin", 0, V(TRACE), ORIGIN,
     "subtract this point, in double, from the coordinates of MESH and from the origins of RAYS before they become "
     "floats, which keeps them where they are far from 0, as in UTM; of a saved tree the one that it was built with "
     "(default "
     "auto: one near the middle of MESH if floats would move vertices too far, else 0,0,0; of a saved tree 0,0,0)",
     false},
    {"origin", 0, V(CLOSEST), ORIGIN,
     "subtract this point, in double, from the coordinates of MESH and QUERIES before they become floats, which keeps "
     "them where they are far from 0, as in UTM; of a saved tree the one that it was built with. Answers are in the "
     "coordinates of the files (default auto: one near the middle of MESH if floats would move vertices too far, else "
     "0,0,0; of a saved tree 0,0,0)",
     false},
    {"origin", 0, V(DISTANCE), ORIGIN,
     "of a mesh: subtract this point, in double, from the coordinates of REFERENCE and QUERIES before they become "
     "floats, which keeps them where they are far from 0, as in UTM; of a saved tree the one that it was built with "
     "(default auto: one near the middle of the mesh if floats would move vertices too far, else 0,0,0; of a saved "
     "tree "
     "0,0,0)",
     false},
    {"origin", 0, V(ALIGN), ORIGIN,
     "of a mesh: subtract this point, in double, from the coordinates of SOURCE and TARGET before they become floats, "
     "which keeps them where they are far from 0, as in UTM; of a saved tree the one that it was built with (default "
     "auto: one near the middle of the mesh if floats would move vertices too far, else 0,0,0; of a saved tree 0,0,0)",
     false},
    {"origin", 0, V(RENDER), ORIGIN,
     "subtract this point, in double, from the coordinates of MESH, and from those of the camera and lights, before "
     "they become floats, which keeps them where they are far from 0, as in UTM (default auto: one near the middle of "
     "MESH "
     "if "
     "floats would move vertices too far, else 0,0,0)",
     false},
    {"precision", 0, ON_CLOUD | V(ASSEMBLE) | V(INFO) | V(BUILD) | V(BOX) | V(PAIRS),
     CHOICE(precision, "TYPE", precisions),
     "read the coordinates as this type (default: the file's; text as float32 if that keeps its numbers and moves none "
     "by more than 2^-20 of the largest side of their bounds)",
     false},
    {"precision", 0, V(ALIGN), CHOICE(precision, "TYPE", precisions),
     "read the coordinates of SOURCE and TARGET as this type (default: what they need)", false},
    {"precision", 0, ON_SEARCH | V(CORRELATE) | V(DISTANCE), CHOICE(precision, "TYPE", precisions),
     "read the coordinates of REFERENCE and QUERIES as this type (default: what they need)", false},
    {"precision", 0, V(CONVERT), CHOICE(precision, "TYPE", precisions),
     "read, and write, the coordinates of points as this type (default: the file's; text as float32 if that keeps its "
     "numbers and moves none by more than 2^-20 of the largest side of their bounds)",
     false},
    {"precision", 0, V(BENCH), CHOICE(precision, "TYPE", precisions), "of generated points (default float32)", false},
    {"split", 0, ON_TREE, CHOICE(tree.split, "RULE", splits), "how a tree divides space (default median)", false},
    {"query-radius", 0, ON_TREE, REAL(tree.query_radius),
     "with --split vvh: how far searches usually look, their radius or the distance of the k-th neighbour (default 0)",
     false},
    {"axis", 0, ON_TREE, CHOICE(tree.axis, "RULE", axes), "which axis a node divides (default widest)", false},
    {"leaf-size", 0, ON_TREE, INT32(tree.leaf_size, 1, 1024), "points that a leaf should hold (default 32)", false},
    {"period", 0, V(DENSITY) | V(OUTLIERS) | V(CLUSTER) | V(DISTANCE), TEXT(period, "L,L,..."),
     "the period of each axis, 0 for none: coordinates are wrapped into it, and the nearest image of a point counts",
     false},
    {"period", 0, V(BUILD) | ON_SEARCH | V(BOX) | V(CORRELATE) | V(PAIRS), TEXT(period, "L,L,..."),
     "the period of each axis, 0 for none: coordinates are wrapped into it, and the nearest image of a point counts. A "
     "saved tree keeps it",
     false},
    {"drop-duplicates", 0, V(BUILD) | V(BENCH) | V(BOX) | V(CORRELATE) | V(PAIRS), FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id", false},
    {"drop-duplicates", 0, ON_SEARCH, FLAG(tree.drop_duplicates),
     "of equal points keep the one with the smallest id; without QUERIES the rows of the others are empty", false},
    {"drop-nonfinite", 0, ON_SEARCH, FLAG(tree.drop_nonfinite),
     "leave out points of REFERENCE that are NaN or infinite; ids stay rows of the file; without QUERIES the rows of "
     "such points are empty",
     false},
    {"drop-nonfinite", 0, V(NORMALS), FLAG(tree.drop_nonfinite),
     "points that are NaN or infinite are nobody's neighbours and have no normal", false},
    {"drop-nonfinite", 0, V(DENSITY), FLAG(tree.drop_nonfinite),
     "points that are NaN or infinite are nobody's neighbours and have the density 0 (distance: inf)", false},
    {"drop-nonfinite", 0, V(THIN), FLAG(tree.drop_nonfinite), "leave out points that are NaN or infinite", false},
    {"drop-nonfinite", 0, V(CLUSTER), FLAG(tree.drop_nonfinite), "points that are NaN or infinite are in no cluster",
     false},
    {"drop-nonfinite", 0, V(ALIGN), FLAG(tree.drop_nonfinite),
     "points that are NaN or infinite do not count; those of SOURCE are written as NaN", false},
    {"drop-nonfinite", 0, V(ASSEMBLE), FLAG(tree.drop_nonfinite),
     "points that are NaN or infinite do not count; they are written as NaN", false},
    {"drop-nonfinite", 0, V(OUTLIERS), FLAG(tree.drop_nonfinite), "points that are NaN or infinite are outliers",
     false},
    {"drop-nonfinite", 0, V(DISTANCE), FLAG(tree.drop_nonfinite),
     "leave out points of REFERENCE, and with --both of QUERIES, that are NaN or infinite", false},
    {"drop-nonfinite", 0, V(BOX) | V(PAIRS), FLAG(tree.drop_nonfinite),
     "leave out points of REFERENCE that are NaN or infinite; ids stay rows of the file", false},
    {"drop-nonfinite", 0, V(BUILD) | V(BENCH), FLAG(tree.drop_nonfinite),
     "leave out points that are NaN or infinite; ids stay rows of the file", false},
    {"drop-nonfinite", 0, V(VORONOI) | V(CONVERT) | V(RELAX) | V(PROJECT), FLAG(drop_nonfinite),
     "leave out points that are NaN or infinite", false},
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
    {"devices", 0, ON_SHARED, DEVICES,
     "several CUDA GPUs that share the work, by their numbers, such as 0,1; what is written is what one GPU writes",
     false},
    {"spread", 0, V(NEAREST) | V(RADIUS), CHOICE(spread, "HOW", spreads),
     "what each of --devices holds: split: a part of one tree; copied: the whole tree, for a part of the queries "
     "(default auto: copied where the points take at most 1 GiB or only a whole tree will do, else split)",
     false},
    {"spread", 0, V(BOX), CHOICE(spread, "HOW", spreads),
     "what each of --devices holds: split: a part of one tree; copied: the whole tree, for a part of the boxes "
     "(default auto: copied where BOXES are given and either the points take at most 1 GiB or only a whole tree will "
     "do, else split)",
     false},
    {"threads", 0, ON_ALL, INT32(threads, 1, 1024), "CPU threads to use (default: all)", false},
    {"simd", 0, ON_ANY_DEVICE | V(VORONOI), CHOICE(simd, "WIDTH", simds),
     "vector instructions of the CPU (default auto)", false},
    {"progress", 0, ON_ALL, CHOICE(progress, "WHEN", progresses),
     "a progress bar on standard error (default auto: on a terminal, for work over a second)", false},
    {"json", 0, ON_ALL, FLAG(json), "report what was done as one JSON object on standard output", false},
    {"quiet", 'q', ON_ALL, FLAG(quiet), "only errors on standard error, and no progress bar", false},
    {"verbose", 'v', ON_ALL, FLAG(verbose), "more details on standard error", false},
    {"mpi", 0, ON_ALL, CHOICE(mpi, "WHEN", mpis),
     "whether processes that mpirun started work as one (default auto: if they are several)", false},
    {"help", 'h', V(NONE) | ON_ALL, FLAG(help), "print this help and exit", false},
    {"version", 0, V(NONE), FLAG(version), "print version, features and devices and exit", false},
    {"generate", 0, V(NONE), CHOICE(generate, "DOCUMENT", documents), NULL, false},
};
_Static_assert(sizeof sap_cli_option_table / sizeof *sap_cli_option_table <= 64 * SAP_CLI_GIVEN_WORDS,
               "one bit of `given` for each");
const size_t sap_cli_option_count = sizeof sap_cli_option_table / sizeof *sap_cli_option_table;
