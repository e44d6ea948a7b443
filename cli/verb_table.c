// The table of verbs.
#include "options.h"

const sap_cli_verb_text sap_cli_verb_table[SAP_VERB_COUNT] = {
    [SAP_VERB_NONE] = {"", "VERB", 0, 0, "build k-d trees over points and meshes and search them", ""},
    [SAP_VERB_INFO] =
        {"info", "FILE", 1, 1, "describe a file of points, a mesh or a saved tree",
         "Prints how many points FILE holds, their dimensions, precision, bounds and duplicates; of a "
         "mesh (OBJ, STL, OFF, glTF, PLY with faces) its vertices, triangles and materials; of a saved tree also "
         "how it was built, its depth, how many points or triangles its leaves hold, and its size; of a tree over "
         "triangles what a ray is expected to cost (surface area heuristic)."},
    [SAP_VERB_BUILD] = {"build", "POINTS", 1, 1, "build a tree over points, or triangles, and save it",
                        "Builds a k-d tree over POINTS, or with --triangles over a mesh, and saves it, so that later "
                        "searches map it instead of building it again."},
    [SAP_VERB_NEAREST] =
        {"nearest", "REFERENCE [QUERIES]", 1, 2, "find the nearest points of each query",
         "Finds the k points of REFERENCE (points or a saved tree) that are nearest to each of QUERIES. "
         "Neighbours ascend by squared distance, then id; ids count the points of REFERENCE from 0. "
         "Without QUERIES every point of REFERENCE is a query, and is not its own neighbour unless --with-self is "
         "given. "
         "An own point among QUERIES is found like any other, and comes first: leave QUERIES out, or ask for one "
         "neighbour more. "
         "If REFERENCE is float32, QUERIES of float64 are rounded to it, unless that moves a coordinate by more than "
         "2^-20 of the largest side of REFERENCE's bounds: then both are searched as float64. A saved tree stays what "
         "it is. "
         "Where mpirun starts several processes, they share the work: each reads a part of both files and holds a part "
         "of the tree, and all write one file, the one that a single process writes; so do radius and box."},
    [SAP_VERB_RADIUS] =
        {"radius", "REFERENCE [QUERIES]", 1, 2, "find or count the points within a radius of each query",
         "Finds the points of REFERENCE (points or a saved tree) within a radius of each of QUERIES. "
         "Row i of the answer is ids[offsets[i]] up to ids[offsets[i+1]-1]. Without QUERIES every "
         "point of REFERENCE is a query, and is not its own neighbour unless --with-self is given; "
         "--radii, --metric, --weights, --mask and --box need QUERIES. An own point among QUERIES is found like any "
         "other. If REFERENCE is float32, QUERIES of float64 are rounded to it, unless that moves a coordinate by more "
         "than "
         "2^-20 of the largest side of REFERENCE's bounds: then both are searched as float64. A saved tree stays what "
         "it is. "
         "Where mpirun starts several processes, they share the work, as with nearest."},
    [SAP_VERB_BOX] =
        {"box", "REFERENCE [BOXES]", 1, 2, "count or find the points in boxes",
         "Counts the points of REFERENCE (points or a saved tree) that lie in each of BOXES, or in the one box from "
         "--lower to --upper; with --ids it finds them, too. Sides belong to a box. BOXES is a file of numbers (NPY, "
         "CSV "
         "or text), one box a row: its lower corner, then its upper one, so that boxes about points of three "
         "coordinates have six columns, and points have 8 coordinates at most. A box with a NaN, or one that is inside "
         "out, holds no point. Corners are rounded to the precision of the points. Row i of --ids is "
         "ids[offsets[i]] up to ids[offsets[i+1]-1]; ids count the points of REFERENCE from 0. "
         "Where mpirun starts several processes, they share the work, as with nearest."},
    [SAP_VERB_CORRELATE] =
        {"correlate", "REFERENCE [QUERIES]", 1, 2, "count the pairs of points within each of many radii",
         "Counts the pairs of a point of QUERIES and a point of REFERENCE (points or a saved tree) that lie within "
         "each radius of one another, whole subtrees at a time: the counts of two-point correlation functions. Without "
         "QUERIES the points of REFERENCE are paired with themselves: both (i, j) and (j, i) count, and each point "
         "with itself. If REFERENCE is float32, QUERIES of float64 are rounded to it, unless that moves a coordinate "
         "by more than 2^-20 of the largest side of REFERENCE's bounds: then both are float64. A saved tree stays what "
         "it is."},
    [SAP_VERB_PAIRS] =
        {"pairs", "REFERENCE", 1, 1, "list or count the pairs of points within a radius",
         "Lists all pairs of the points of REFERENCE (points or a saved tree) that lie within a radius of one another: "
         "their ids i and j, which count the points from 0, and their squared distance. A point is no pair with "
         "itself. correlate counts the pairs within many radii, and those of two files."},
    [SAP_VERB_NORMALS] =
        {"normals", "POINTS", 1, 1, "find normals and curvature",
         "Writes POINTS, of three coordinates, with the normal of the surface at each, and its curvature: the share of "
         "the least of the three variances of the neighbours in their sum, 0 for a plane. Where a point has fewer than "
         "three neighbours, or all of them lie on a line, the normal is 0 0 0. What POINTS have beside "
         "their coordinates is kept. Results are the same bits for any number of threads."},
    [SAP_VERB_DENSITY] =
        {"density", "POINTS", 1, 1, "find how dense points lie",
         "Writes POINTS with the density about each: how many others lie within --radius, or how far away the k-th "
         "nearest other is, or with --kernel an estimate of the points in a unit of volume. What "
         "POINTS have beside their coordinates is kept."},
    [SAP_VERB_OUTLIERS] =
        {"outliers", "POINTS", 1, 1, "leave out points that lie alone",
         "Writes the points of POINTS that are no outliers: those whose mean distance to their k nearest others is not "
         "far above that of all points, or, with --radius, those with enough others within it. What POINTS have "
         "beside their coordinates is kept."},
    [SAP_VERB_THIN] =
        {"thin", "POINTS", 1, 1, "thin points by a grid or by their distances",
         "Writes one point for each cell of a grid that has points: their mean, the first, or the one nearest to the "
         "middle of the cell. Or points far from one another: --farthest or --disks. What POINTS have beside their "
         "coordinates is kept; beside a mean, the means of real numbers, colours and intensities, and what else the "
         "first of its points has."},
    [SAP_VERB_CLUSTER] =
        {"cluster", "POINTS", 1, 1, "find clusters of points",
         "Writes POINTS with the number of the cluster of each: points within --radius of one another are in one "
         "cluster, and so are all that are joined by others (friends of friends). With --fewest only points in dense "
         "places join others, and the rest belong to the nearest of these within the radius (DBSCAN). Clusters count "
         "from 0 in the order in which their first core points stand in the file. What POINTS have beside their "
         "coordinates is kept."},
    [SAP_VERB_DISTANCE] =
        {"distance", "REFERENCE QUERIES", 2, 2, "find how far points are from others or from a mesh",
         "Writes QUERIES with the distance of each to the nearest point of REFERENCE: of points, of a saved tree, or, "
         "if "
         "REFERENCE is a mesh, to the nearest point of its triangles. --json reports what the distances say together: "
         "their mean, root mean square and greatest; with --both the Hausdorff and chamfer distances of two clouds. If "
         "one of the two files of points needs float64, both are searched as float64. What QUERIES have beside their "
         "coordinates is kept."},
    [SAP_VERB_RELAX] =
        {"relax", "POINTS", 1, 1, "spread points evenly over the surface that they sample",
         "Writes POINTS, of three coordinates, after they have repelled each other along the surface that they lie on: "
         "in each step a tree is built anew, and each point moves in the plane of its neighbours; every second time "
         "it is put on the plane of the nearest point given, near edges no farther out than half the range. With "
         "--more the surface is sampled more densely. Points move as floats, float64 ones from their medians; refused "
         "are those "
         "that floats tell badly apart. What POINTS have beside their coordinates is kept, unless points are added, "
         "which have nothing else. Results are the same bits for any number of threads."},
    [SAP_VERB_PROJECT] =
        {"project", "POINTS", 1, 1, "put a few points on the surface that a noisy scan samples",
         "Writes a part of POINTS, of three coordinates, after they have moved onto the surface that POINTS sample "
         "with "
         "noise and outliers: in each step a point goes to the mean of those of the file around it, and away from "
         "the other points that move, so that these lie evenly (weighted locally optimal projection). Outliers "
         "that have no others within the radius stay where they are: outliers takes them out before. Results are the "
         "same bits for any number of threads."},
    [SAP_VERB_ALIGN] =
        {"align", "SOURCE TARGET", 2, 2, "move a cloud of points onto another or onto a mesh",
         "Finds the turn and shift that take SOURCE, points of three coordinates, onto TARGET: points, a saved tree of "
         "such, or a mesh. From where they lie each point is paired with the nearest of TARGET, the motion that suits "
         "the pairs best is made, and so on until nothing moves (iterative closest points). Where SOURCE lies "
         "elsewhere, --global finds a start by the shapes of both. Writes SOURCE where it has come, with all that its "
         "points have beside their coordinates; normals (nx, ny, nz) turn with them. Where clouds overlap in part, "
         "--find-overlap or --overlap leave the rest out. The result is the same bits for any number of threads. Exit "
         "status 1 if no pair counts, or --global finds nothing; 4 if --global finds several motions that fit as "
         "well, as where SOURCE is a ball, a flat piece or a box: one of them is written if the shapes speak for it, "
         "and --start chooses among them."},
    [SAP_VERB_ASSEMBLE] =
        {"assemble", "CLOUD CLOUD...", 2, SAP_CLI_MOST_OPERANDS, "move many clouds of points so that all fit together",
         "Aligns every two of the clouds, points of three coordinates, as align does it, then finds the motions of all "
         "that suit the pairs best; a pair that disagrees with more others counts little. Clouds that hang together by "
         "pairs come to where the first of them lies. Where they lie anywhere, --global finds out how by the shapes of "
         "every two. In the options SOURCE is the later of two clouds, TARGET the other. Writes the clouds where they "
         "have come, with all that their points "
         "have beside their coordinates; normals (nx, ny, nz) turn with them. The result is the same bits for any "
         "number of threads. Exit status 1 if no two overlap."},
    [SAP_VERB_VERIFY] = {"verify", "TREE", 1, 1, "check a saved tree completely",
                         "Checks checksum, sizes, permutation, order, boxes and depth of a saved tree. Exit status 3 "
                         "when anything is wrong."},
    [SAP_VERB_CONVERT] =
        {"convert", "FILE", 1, 1, "convert points or a mesh from one format to another",
         "Reads points as PLY, XYZ, CSV, NPY, NPZ, PCD, LAS or LAZ and writes PLY, XYZ, CSV (with tabs if it is named "
         ".tsv), NPY, PCD, LAS or LAZ, with all that points have beside their coordinates (LAZ needs LASzip, which is "
         "looked for when the program runs); reads meshes as "
         "PLY, OBJ, STL, OFF or glTF and writes PLY, OBJ, STL or OFF. Polygons become triangles. An OBJ with materials "
         "comes with an MTL. Of a mesh the vertices are written as points where the format holds no "
         "meshes; a PLY with faces stays a mesh unless --precision or --columns is given. What gzip has packed is "
         "read, "
         "but not written."},
    [SAP_VERB_BENCH] =
        {"bench", "[REFERENCE [QUERIES]]", 0, 2, "measure building and searching",
         "Times the build of a tree and searches in it, over generated points (uniform in the unit cube) "
         "or over files; medians after a warm-up. Without QUERIES the points of REFERENCE are the queries."},
    [SAP_VERB_RENDER] =
        {"render", "MESH", 1, 1, "draw a picture of a mesh",
         "Draws MESH (OBJ with MTL, glTF, STL, OFF or PLY with faces, also packed by gzip) by tracing rays through a "
         "k-d tree over its triangles: "
         "shadows, mirrors, glass, light from the sky. Kd, Ks, Ns, Ke, d, Ni and illum of its materials are used "
         "(mirrors have illum 3, glass has d below 1), or the colours of its vertices. The picture is the same for any "
         "number of threads and on any device. A mesh that several nodes of a glTF share is kept once, and rays are "
         "moved to where it stands, unless --frames, --orbit, --heat or --photons are given."},
    [SAP_VERB_TRACE] =
        {"trace", "MESH RAYS", 2, 2, "find where rays meet a mesh",
         "Finds the first triangle of MESH (OBJ, STL, OFF, glTF, PLY with faces, or a tree saved by build "
         "--triangles) that each of RAYS hits. RAYS is a file of numbers (NPY, NPZ, CSV, also with tabs, "
         "or text), one ray per row: 6 columns are origin and direction, 8 are "
         "origin, t_min, direction, t_max, in the coordinates of MESH as its file has them. Both may be "
         "packed by gzip. The hit lies at origin + t * direction, and at "
         "(1-u-v) * a + u * b + v * c for the corners a, b and c of the triangle; triangles count from "
         "0. A miss has triangle -1, t inf, u and v 0. --all lists all hits, --occluded says only whether there is "
         "one."},
    [SAP_VERB_CLOSEST] =
        {"closest", "MESH QUERIES", 2, 2, "find the point of a mesh that is nearest to each query",
         "Finds the point on the triangles of MESH (OBJ, STL, OFF, glTF, PLY with faces, or a tree saved by build "
         "--triangles) that is nearest to each of QUERIES, points of three coordinates, how far it is, and its "
         "triangle; of several at the same distance the triangle with the smallest number. Triangles count from 0. "
         "Queries that are not finite have triangle -1 and distance inf."},
    [SAP_VERB_ISOSURFACE] =
        {"isosurface", "VOLUME", 1, 1, "extract the surface of a volume at a level",
         "Writes the surface of VOLUME at a level as a mesh (marching cubes): vertices are shared, and where the "
         "surface stays within the volume it is closed. VOLUME is an NPY or NPZ array of up to three axes, of which "
         "the last "
         "one is x, whatever the order in memory, or a raw file of samples, x fastest; --order names the axes of "
         "others. It may be packed by gzip. The mesh is the same for any "
         "number of threads and on any device."},
    [SAP_VERB_SUBDIVIDE] =
        {"subdivide", "MESH", 1, 1, "make a mesh smoother, of more triangles",
         "Refines MESH (OBJ, STL, OFF, glTF or PLY with faces) by Loop subdivision: each triangle becomes four, and "
         "vertices "
         "move, so that the surface nears a smooth one. Borders become smooth curves; so do creases. Colours of "
         "vertices are refined, too; materials are kept. An edge may have two triangles at most, which face alike, and "
         "a triangle three different vertices. It runs on the CPU; the result is the same bits for any number of "
         "threads."},
    [SAP_VERB_COMPACT] =
        {"compact", "VOLUME", 1, 1, "list the samples of a volume that reach a level",
         "Lists the samples of VOLUME that are at least a level, in their order: stream compaction, as the library's "
         "sap_compact does it, on OpenGL by histopyramids. VOLUME is an NPY or NPZ array of up to three axes or a "
         "raw file of samples, also packed by gzip, as for isosurface. The list is the same for any number of threads "
         "and on any device."},
    [SAP_VERB_VORONOI] =
        {"voronoi", "SITES", 1, 1, "draw which site is nearest to each pixel",
         "Draws the Voronoi cells of SITES, points with two coordinates, or with three, of which a slice is drawn, by "
         "searching a k-d tree from every pixel. The picture shows all sites and a little margin, x to the right and y "
         "up. The ids are the same on every device; the leaves that --style depth shows are counted on the CPU."},
    [SAP_VERB_PICTURE] =
        {"picture", "POINTS", 1, 1, "draw a picture of points",
         "Draws POINTS, of three coordinates, as discs that face the camera, in their own colours or in those that a "
         "field stands for. What lies behind its surroundings is darker, so that shapes are seen without normals. The "
         "scale of colours ends where all but a hundredth of the values do; cluster, classification and kind have a "
         "colour for each number. Points that are not finite are left out. The picture is the same for any number of "
         "threads."},
};

const char sap_cli_columns_text[] =
    "Points are read from PLY, XYZ, CSV (also with tabs, .tsv), NPY, NPZ, PCD, LAS and, where LASzip is, LAZ files, "
    "also "
    "packed by gzip; '-' is "
    "standard input. PLY, PCD, LAS and CSV with a line of names give the columns x, y and z; XYZ, NPY and other CSV "
    "give "
    "all "
    "columns, 1 to 16: the XYZ line '1 2 3 255 0 0' is a point of 6 dimensions, but in files named .pts, .asc, .xyzn "
    "or "
    ".xyzrgb one of 3. A pipe has no name that says so: --columns 1,2,3 does. --columns chooses others.";
