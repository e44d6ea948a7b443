/**
 * @file files.h
 * Point files: PLY, XYZ and CSV text, NPY, PCD, LAS. Mesh files: PLY, OBJ with MTL, STL, OFF, glTF. Volumes: NPY and raw samples.
 *
 * Readers work on bytes in memory and trust nothing: every count is checked against the bytes present before memory
 * is asked for, and at most a constant times those bytes is ever allocated. Text is read and written with a '.' as
 * decimal point whatever the locale; its lines end with LF, CR LF or CR, and a Ctrl-Z at its end is not looked at. Each
 * error gives the byte (or the line) and what to do in the device's log.
 *
 * What begins as gzip is unpacked first, all of its members, if Sapwood was built with zlib; places in errors are then
 * those of the unpacked bytes. Memory for them grows as they come, to at most 100 times the packed bytes or 64 MiB,
 * whichever is more: SAP_ERROR_RANGE beyond. So are packed arrays of an NPZ (numpy.savez_compressed). Masks and other
 * bytes that are almost all alike may be packed closer: `unpack_limit` of the options allows as many bytes as it says
 * instead. A raw volume that has just the bytes that it should have is taken as it is.
 */
#ifndef SAPWOOD_FILES_H
#define SAPWOOD_FILES_H

#include "mesh.h"
#include "points.h"
#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/** File formats. */
typedef enum sap_format {
    SAP_FORMAT_AUTO = 0, /**< reading: by the first bytes, then by suffix; writing: by suffix */
    SAP_FORMAT_PLY = 1,  /**< points and meshes: every encoding is read, little endian and (meshes) ascii written */
    SAP_FORMAT_XYZ = 2,  /**< numbers separated by blanks, one point a line; '#' begins a comment; read and written */
    SAP_FORMAT_CSV = 3,  /**< numbers separated by ',', ';' or tabs, perhaps below a line of names; both ways */
    SAP_FORMAT_NPY = 4,  /**< NumPy 1.0 to 3.0, and NPZ: a matrix, or fields x, y, z, of numbers, read; 1.0, written */
    SAP_FORMAT_PCD = 5,  /**< PCL's ascii, binary and binary_compressed, read; points written, binary */
    SAP_FORMAT_OBJ = 6,  /**< meshes: Wavefront's text, with its materials in MTL; both ways */
    SAP_FORMAT_STL = 7,  /**< meshes: binary and ascii, both ways */
    SAP_FORMAT_OFF = 8,  /**< meshes: text, also with colours (COFF), normals (NOFF) and more; both ways */
    SAP_FORMAT_LAS = 9,  /**< scans: LAS 1.0 to 1.4, all point formats; points both ways. Reading, LAZ too */
    SAP_FORMAT_LAZ = 10, /**< LAS compressed by LASzip, where that library is found at run time; points both ways */
    SAP_FORMAT_GLTF = 11 /**< scenes: glTF 2.0 and GLB, read (not by pages and the npm package) */
} sap_format;

/** The format that a path's suffix names (.ply .xyz .txt .pts .asc .xyzn .xyzrgb .csv .tsv .npy .pcd .las .laz .obj .stl
 * .off .gltf .glb, any case, and with .gz behind it), or SAP_FORMAT_AUTO if none. */
SAP_API sap_format sap_format_of(const char* path);

/** What type the numbers of a field have. */
typedef enum sap_field_type {
    SAP_FIELD_U8 = 0,
    SAP_FIELD_I8 = 1,
    SAP_FIELD_U16 = 2,
    SAP_FIELD_I16 = 3,
    SAP_FIELD_U32 = 4,
    SAP_FIELD_I32 = 5,
    SAP_FIELD_U64 = 6,
    SAP_FIELD_I64 = 7,
    SAP_FIELD_F32 = 8,
    SAP_FIELD_F64 = 9
} sap_field_type;

/** A number that each point has beside its coordinates, such as an intensity. */
typedef struct sap_field {
    const char* name;    /**< as in the file, but for names that ::sap_points_write translates */
    sap_field_type type; /**< of a value */
    const void* values;  /**< [count] */
} sap_field;

/** Points that came from a file, or are to be written to one. */
typedef struct sap_point_set {
    int64_t count;            /**< points */
    int32_t dims;             /**< coordinates a point */
    int32_t real_bits;        /**< 32: coords is set; 64: coords_f64 is set */
    const float* coords;      /**< [count*dims] or NULL */
    const double* coords_f64; /**< [count*dims] or NULL */
    const sap_field* fields;  /**< [field_count] what else each point has, in the order of the file, if that was asked
                                 for; else NULL */
    int32_t field_count;      /**< fields */
    size_t las_size;          /**< bytes of `las` */
    const void* las; /**< of a LAS whose fields were asked for: that file without its points (header, projection
                                 and other records), from which ::sap_points_write makes another one; else NULL */
} sap_point_set;

/** Frees a point set that was read. NULL is allowed; one that the caller made is not. */
SAP_API void sap_point_set_free(sap_point_set* set);

/**
 * Reads points from bytes in memory. PLY and PCD give the properties named x, y and z (x and y if there is no z);
 * text and NPY give all columns (1 … 16). CSV with names gives x, y, z where x and y are named, else all columns.
 * The names of a PLY may be in capitals, if none of them is in small letters. An XYZ may begin with a line that is the
 * number of points. Of files named .pts, .asc, .xyzn or .xyzrgb the first three columns are read: normals, colours or
 * an intensity follow. Where an XYZ of more than three columns has no suffix, as on a pipe, or begins with the number of
 * points, a sentence in the log, with SAP_OK, tells that all columns are coordinates.
 *
 * LAS gives x, y and z, in double precision unless 32 bits are wanted: number * scale + offset, each operation rounded. LAZ
 * goes through LASzip (liblaszip), which is looked for when it is needed; without it SAP_ERROR_UNSUPPORTED says what to
 * install. LASzip is trusted with the bytes: it is not Sapwood that checks them. What comes out of it is checked like any
 * LAS, and may become as large as unpack_limit of the options says.
 *
 * Where a PLY or CSV has x, y and z, it also gives c3, c4, … as long as they follow without a gap: so tables that
 * sap_table_write names itself read back whole.
 *
 * The first line of a CSV is one of names if none of its fields is a number. If these are not x and y, a sentence in
 * the log, with SAP_OK, tells that all columns are coordinates. A field of a row that is empty, or NA, N/A or NULL (in
 * any case), is NaN, but in the first row of a file without names. Text without any line of numbers is an error, but for
 * a CSV that names a column x, and for an XYZ that begins with the line "# x y z" (then c3, c4, …; one name a
 * coordinate): these hold 0 points. More rows than an ascii PCD counts are an error; bytes after the last number that
 * the header of a PLY, an NPY or a binary PCD counts are not looked at.
 *
 * Values are not checked to be finite here. O(size) time and memory.
 *
 * real_bits: 0: as in the file; text and integers become float if every one of them stays what it is, else double.
 * 32 or 64: all become that, rounded to the nearest (those of 64 bits by way of a double). For text without a declared
 * type (XYZ, CSV) 0 judges by the digits that are written: a number stays what it is in a float if the nearest float,
 * rounded to as many significant digits as are written (zeros at the end count), has these digits again; one of more
 * than 12 digits only if the nearest double is a float. So 0.1 is read as the float 0.1, which is no longer the double
 * 0.1, and 0.1000000000 or 481234.57 as doubles. Pass 64 to keep doubles: text is then rounded once, to double.
 *
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_FORMAT, SAP_ERROR_RANGE (over 2^31-1 points; real_bits is 32 and a finite
 * number is beyond the range of a float), SAP_ERROR_UNSUPPORTED (a valid file of a kind not read, such as an
 * NPY of objects, or a mesh as OBJ, STL or OFF), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_points_parse(sap_device* device, const void* bytes, size_t size, sap_format format,
                                    int32_t real_bits, sap_point_set** set);

/** Reads a file (path "-": standard input) and parses it. Errors: as sap_points_parse, SAP_ERROR_IO. */
SAP_API sap_status sap_points_read(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                                   sap_point_set** set);

/** How to read points. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_points_read_options {
    const char* columns; /**< which columns are the coordinates, in their order, with commas between: names, or numbers
                             from 1, such as "lon,lat" or "2,3"; NULL: as ::sap_points_parse says. Columns of an XYZ and
                             of a plain NPY have no names */
    const char* member;  /**< which array of an NPZ; NULL: points, xyz or coords, whichever is there, or the only one */
    double float_error;  /**< real_bits 0, and text without a declared type: points become double also if rounding to
                             float moves a coordinate by more than this fraction of the extent, such as 2^-20; 0: the
                             digits alone decide. Points around 481234.6 that lie in one room need it */
    double extent;       /**< the extent: the size of what the points are compared with; 0: the largest side of their
                             own bounds */
    int64_t unpack_limit; /**< bytes that packed ones may become; 0: 100 times as many, or 64 MiB if that is more */
    bool with_fields;     /**< the set also gets all that the file has beside the coordinates: see below */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_points_read_options;

/**
 * ::sap_points_parse with options.
 *
 * **Fields** (with_fields) are the columns that are no coordinates, with the types that the file declares; halves become
 * floats, bools bytes. In text a column of whole numbers is int32 or int64 (colours up to 255: uint8), others are float or
 * double by the rule of real_bits 0. Columns without names are called column4, column5, …, those of .xyzrgb, .xyzn and .pts
 * by what they are. PCD's rgb and rgba are taken apart into red, green, blue (and alpha), its normal_x, normal_y and normal_z
 * are called nx, ny and nz; a field of several numbers becomes NAME_0, NAME_1, …. LAS gives intensity, return_number,
 * number_of_returns, scan_direction, edge_of_flight_line, classification, synthetic, key_point, withheld, scan_angle_rank,
 * user_data, point_source_id, and what else its point format has: overlap, scanner_channel, scan_angle, gps_time, red,
 * green, blue, nir, wave_packet, wave_offset, wave_size, wave_location, wave_dx, wave_dy, wave_dz; then its extra bytes,
 * those with a scale as doubles, those that nothing describes as extra_0, extra_1, …. Fields of one name become NAME,
 * NAME_2, …. What is no plain number (lists, text) is left out, and a sentence in the log, with SAP_OK, says so.
 *
 * Errors: as there; SAP_ERROR_ARGUMENT also for columns or a member that the
 * file has not; SAP_ERROR_UNSUPPORTED also for more than 1,024 fields.
 */
SAP_API sap_status sap_points_parse_with(sap_device* device, const void* bytes, size_t size, sap_format format,
                                         int32_t real_bits, const sap_points_read_options* options,
                                         sap_point_set** set);

/** ::sap_points_read with options. Errors: as there; SAP_ERROR_ARGUMENT also for columns or a member that the
 * file has not. */
SAP_API sap_status sap_points_read_with(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                                        const sap_points_read_options* options, sap_point_set** set);

/**
 * Reads one of `parts` parts of a file, counted from 0: of `all` rows all / parts, one more in the first all % parts. So
 * ranks (cluster.h) read one file together. *first is the part's first row and *all the rows of the file; each may be
 * NULL. The file is mapped where it can be, and only the part's pages are touched, if rows lie behind one another: NPY,
 * PLY that is binary and whose vertices have no lists, PCD that is binary, LAS. All of them together may have more than 2^31-1
 * rows. real_bits 0 judges integers by this part alone, so parts may differ: the largest is that of the file.
 *
 * Errors: as ::sap_points_read_with; SAP_ERROR_ARGUMENT (a part that is none); SAP_ERROR_UNSUPPORTED (other formats, such as
 * text, LAZ, and what is packed, which are read from their start; options.with_fields).
 */
SAP_API sap_status sap_points_read_part(sap_device* device, const char* path, sap_format format, int32_t real_bits,
                                        const sap_points_read_options* options, int32_t part, int32_t parts,
                                        int64_t* first, int64_t* all, sap_point_set** set);

/** What a table of numbers holds. */
typedef enum sap_number { SAP_INT32 = 0, SAP_INT64 = 1, SAP_FLOAT32 = 2, SAP_FLOAT64 = 3 } sap_number;

/** A row-major table in memory, to be written. */
typedef struct sap_table {
    const void* values;       /**< [rows*columns] */
    int64_t rows;             /**< at least 0 */
    int64_t columns;          /**< at least 1; 0: a one-dimensional array of `rows` values (NPY shape (rows,)) */
    sap_number number;        /**< the type of a value */
    const char* const* names; /**< column names for CSV and PLY; NULL: x, y, z, then c3, c4, … */
} sap_table;

/**
 * Writes a table (path "-": standard output). A file replaces an older one only when it is complete. Text holds the
 * shortest decimals that read back to the same value. PLY makes a vertex of each row. XYZ writes a table without rows
 * as the line "# x y z" (then c3, c4, …), which reads back as 0 points; CSV does so if a column is named x. Names in
 * PLY and CSV may not repeat.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED (PCD, LAS and meshes; no format known; a path that ends with .gz),
 * SAP_ERROR_IO, SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_table_write(sap_device* device, const char* path, sap_format format, sap_table table);

/**
 * Writes some rows of a table of `all` rows into an NPY file: `table` from row `first` on, each in its place, and the
 * header with row 0, or where there are no rows. When all rows have been written, in any order, by any number of threads
 * and processes, the file is the one that ::sap_table_write makes, if it was empty or absent before: it is made if it
 * is absent, and never cut. Rename it over an older one when it is complete.
 *
 * Processes of several machines need a file system on which bytes that one of them writes are never overwritten by what
 * another one has cached: local ones, Lustre, GPFS, BeeGFS, CephFS are; NFS is not where two parts meet in a page.
 *
 * Errors: SAP_ERROR_ARGUMENT (as there; rows beyond `all`), SAP_ERROR_IO, SAP_ERROR_RANGE (a file that is too long).
 */
SAP_API sap_status sap_table_write_part(sap_device* device, const char* path, sap_table table, int64_t first,
                                        int64_t all);

/** How to write points. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_points_write_options {
    double scale; /**< LAS: coordinates become multiples of it; 0: as the file they came from, or else the finest
                             power of ten for the bounds */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_points_write_options;

/**
 * Writes points with all of their fields (path "-": standard output). A file replaces an older one only when it is
 * complete. The set may be one that was read, or the caller's.
 *
 * **PLY** (binary, little endian), **CSV** and **NPY** (a structured array, or without fields a matrix) have x, y, z (then c3,
 * c4, …) and the fields under their names; **XYZ** has the same columns without names, or, of a set without
 * points, the line "# x y z c3 …", a name for each of them. PLY has no integers of 64 bits:
 * they go as 32, or as doubles if these hold them all. Blanks in names become '_' in PLY and PCD.
 * **PCD** (binary) has at most x, y and z; red, green and blue of 8 bits become rgb, with alpha rgba, and nx, ny and nz
 * become normal_x, normal_y and normal_z.
 *
 * **LAS** has points of one to three coordinates (missing ones are 0), all finite. Those that came from a LAS get its
 * version, point format, scale, offset and records again; bounds and counts are made anew. Others become LAS 1.2, or 1.4
 * where their fields need it, with the point format that has room for their fields. What the format has no place for, or
 * could not hold exactly, is kept as extra bytes under its own name (the log is told), which readers call NAME_2 where
 * the format has a NAME. Colours of 8 bits become those of 16, times 257; they go into the format all or none. Where no
 * field says otherwise, each point is the first return of one.
 * **LAZ** is LAS that LASzip compresses.
 *
 * Errors: SAP_ERROR_ARGUMENT (also: a name that is empty or repeats), SAP_ERROR_NOT_FINITE and SAP_ERROR_RANGE (LAS: a
 * coordinate that is not finite, or beyond 2^31 steps of the scale; names the point), SAP_ERROR_UNSUPPORTED (meshes; no
 * format known; a path that ends with .gz; more coordinates than the format has; no LASzip), SAP_ERROR_IO,
 * SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_points_write(sap_device* device, const char* path, sap_format format,
                                    const sap_point_set* points, const sap_points_write_options* options);

/** How a surface reflects light: a material of an MTL file. What the file leaves out has the value given here. */
typedef struct sap_material {
    const char* name;  /**< as in the file; UTF-8 if the file is */
    float diffuse[3];  /**< Kd: red, green, blue; 0.8 each */
    float specular[3]; /**< Ks; 0 each */
    float emission[3]; /**< Ke; 0 each */
    float shininess;   /**< Ns: the exponent of Phong's highlight; 1 */
    float opacity;     /**< d, or 1 - Tr: 0 is clear, 1 is opaque; 1 */
    float refraction;  /**< Ni: the index of refraction; 1 */
    int32_t illum;     /**< illum: the number of the illumination model; 2 */
    /** What is clear takes of light: exp(-absorption * distance) of it is left after a distance inside. From Tf, what a
     *  unit of length leaves, unless that is all zero; 0 each. Pictures in shaders show none. */
    float absorption[3];
} sap_material;

/** A mesh as files hold it: read from one, or to be written. */
typedef struct sap_mesh_file {
    sap_mesh mesh;                 /**< vertices and triangles */
    const float* colors;           /**< [3*vertex_count] red, green, blue of each vertex, 0 … 1; NULL: none */
    const int32_t* material_ids;   /**< [triangle_count] which of `materials`, -1: none; NULL: none has any */
    const sap_material* materials; /**< [material_count]; may be NULL when there are none */
    int32_t material_count;        /**< materials in the table, used or not */
    const float* normals;          /**< [3*vertex_count] to be written with the vertices; NULL: none. Not read */
    double origin[3];              /**< what the vertices are relative to: in the file they stand at origin + vertex */
    uint64_t reserved[4];          /**< for later versions: zero */
} sap_mesh_file;

/** How to read a mesh. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_mesh_read_options {
    bool keep_apart;       /**< STL: each triangle keeps three vertices of its own. Default: corners equal in every bit
                              (-0 being 0) are one vertex */
    const void* materials; /**< OBJ: the bytes of an MTL file, taken instead of those that the OBJ names; NULL: none */
    size_t materials_size; /**< how many bytes these are */
    int64_t unpack_limit;  /**< bytes that packed ones, or instances of a glTF, may become; 0: 100 times as many as
                              there are, or 64 MiB if that is more */
    double origin[3];      /**< subtracted from the coordinates, in double, before these become floats */
    bool find_origin;      /**< choose an origin, a round number near the middle, if floats would move vertices too far
                              for their bounds without one. `origin` must be zero then */
    uint64_t reserved[4];  /**< for later versions: zero */
} sap_mesh_read_options;

/** Frees a mesh that was read. NULL is allowed; one that the caller made is not. */
SAP_API void sap_mesh_file_free(sap_mesh_file* file);

/**
 * Reads a mesh from bytes in memory: PLY, OBJ, STL, OFF or glTF. A PLY without faces, and any other file without triangles,
 * is a mesh without triangles. Vertices keep their order; triangles keep that of their faces.
 *
 * **Polygons.** A face of n corners becomes n - 2 triangles with its orientation: a fan around its first corner if it
 * is convex, else ears are clipped (Meisters 1975) in the plane that it mostly lies in. The same corners always give
 * the same triangles. A polygon that cuts itself, or takes far more steps to clip than it has corners, is finished
 * without a look at its shape. A face of fewer than 3 corners is an error in OBJ; in PLY it is left out, and a sentence
 * in the log, with SAP_OK, says how many were.
 *
 * **PLY** gives x, y, z, and red, green, blue (integers stand for 0 … 1) of the element vertex, and the list
 * vertex_indices (or vertex_index) of the element face, or of tristrips: triangle strips, -1 between them. If both have
 * rows, the first counts; the log tells of other elements with such a list, which are an error (SAP_ERROR_UNSUPPORTED)
 * where there are neither faces nor strips. All else is skipped.
 *
 * **OBJ** gives `v` (x, y, z; a fourth of 4 or 7 numbers is a weight that is not looked at, the last three of 6 or 7
 * are a colour), `f` and `usemtl`; names of groups and objects, smoothing, texture coordinates, normals, lines and
 * curves are skipped. A face may name only vertices that stand before it. Materials come from the libraries that
 * `mtllib` names, looked up in the OBJ's folder (for standard input, the current one): those of the libraries in their
 * order (of one name the first counts), then those that no library has, with default values. A library that cannot be
 * read is a sentence in the log with SAP_OK, not an error. ::sap_mesh_parse looks up no files.
 *
 * **STL** gives the triangles of all of its solids; normals and attributes are skipped.
 *
 * **OFF** gives vertices, their colours where it is a COFF (0 … 1; if all parts of all colours are whole numbers, in
 * steps of 1/255, unless none is above 1 and the alpha is 1) and faces; those of fewer than 3 corners are left out as in
 * PLY. All else is skipped; if that is alpha of colours that are not opaque, a sentence in the log, with SAP_OK, says so.
 *
 * **glTF** 2.0, as JSON or GLB, gives the triangles (also of strips and fans) of its scene, of the first one if it names
 * none, with each node's mesh where the node is at rest, morphed and skinned: see ::sap_animation. Buffers are in the file,
 * in data: URIs, or files in its folder or below it; ::sap_mesh_parse looks up no files. A triangle keeps its side also
 * where a node mirrors it. Materials: the base colour c, metallic m and roughness r become Kd = c(1 - m(1 - r)) and
 * Ks = c m(1 - r), with illum 3 where that is not 0; transmission becomes 1 - d with Ni of KHR_materials_ior (1.5); alpha
 * becomes d where it blends or cuts; emission, times its strength, Ke; attenuationColor and attenuationDistance of
 * KHR_materials_volume, unless its thickness is 0, absorption. Where vertices have colours these take the place of
 * an opaque material that neither mirrors nor shines. Textures, points, lines, cameras and lights are not read; the log
 * tells of the first three. Errors: SAP_ERROR_UNSUPPORTED also for what Draco or meshopt has packed, for other extensions
 * that the file requires, EXT_mesh_gpu_instancing, and for buffers elsewhere; SAP_ERROR_IO for buffers that cannot be read;
 * SAP_ERROR_FORMAT for JSON of more than 256 arrays and objects within each other, and for nodes with more than 1024 ancestors.
 *
 * **Precision.** Vertices are floats, rounded once. If that moves a coordinate by more than 2^-20 of the largest side of
 * the bounds, as it does at 481234.57, 5431234.12, a sentence in the log, with SAP_OK, says how far, and which origin
 * would keep them. With an origin (of the options, or found), vertices are the coordinates less that origin; trees over
 * them, and rays and points to ask these for, are relative to it too.
 *
 * Values are not checked to be finite here. O(size) time and memory.
 *
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_FORMAT, SAP_ERROR_RANGE (a face names a vertex that is not there; a finite
 * number is beyond the range of a float; over 2^31-1 vertices or triangles), SAP_ERROR_UNSUPPORTED (a format that holds
 * no meshes), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_mesh_parse(sap_device* device, const void* bytes, size_t size, sap_format format,
                                  const sap_mesh_read_options* options, sap_mesh_file** file);

/** Reads a file (path "-": standard input) and parses it. Errors: as sap_mesh_parse, SAP_ERROR_IO. */
SAP_API sap_status sap_mesh_read(sap_device* device, const char* path, sap_format format,
                                 const sap_mesh_read_options* options, sap_mesh_file** file);

/** Some of a file's triangles, which are a mesh of their own. */
typedef struct sap_mesh_piece {
    int64_t first_triangle; /**< of file->mesh */
    int64_t triangle_count; /**< how many they are */
    float lower[3];         /**< the box of its corners, as the file has them; +infinity without any */
    float upper[3];         /**< -infinity without any */
} sap_mesh_piece;

/** A piece somewhere in the world. */
typedef struct sap_piece_place {
    int32_t piece;       /**< its number among those of the file */
    float transform[12]; /**< from the piece to the world, as in sap_instance */
} sap_piece_place;

/** Meshes and where they stand: what several nodes of a glTF share is there once. */
typedef struct sap_mesh_places {
    const sap_mesh_file* file;     /**< the pieces one after another, each relative to itself */
    const sap_mesh_piece* pieces;  /**< [piece_count] at least one; together all of the file's triangles, in order */
    const sap_piece_place* places; /**< [place_count] at least one */
    int64_t place_count;           /**< how many stand somewhere */
    int32_t piece_count;           /**< how many there are */
    uint64_t reserved[4];          /**< for later versions: zero */
} sap_mesh_places;

/**
 * Reads a mesh as ::sap_mesh_parse does, but for glTF: where at least two nodes have the same mesh, of 16 triangles or
 * more, its vertices are there once, as the file has them, and each node is a place. All else that the scene shows is
 * one piece, which stands where it is: meshes that one node has, small ones, those that are morphed or skinned, and nodes
 * whose transform has no inverse worth the name. A node that mirrors its mesh shares with others that do. Transforms
 * are worked out in double and rounded once. So triangles come in another order than ::sap_mesh_parse gives them, and
 * what is shared takes no room of options.unpack_limit.
 *
 * Any other file, also one that is packed, is one piece in one place, and so is a scene that lies where floats are too
 * coarse for it (see *Precision* there), or that is read with an origin: transforms know of none. Errors: as
 * ::sap_mesh_parse. On failure *places is untouched.
 */
SAP_API sap_status sap_mesh_places_parse(sap_device* device, const void* bytes, size_t size, sap_format format,
                                         const sap_mesh_read_options* options, sap_mesh_places** places);
/** Reads a file (path "-": standard input) and parses it. Errors: as there, SAP_ERROR_IO. */
SAP_API sap_status sap_mesh_places_read(sap_device* device, const char* path, sap_format format,
                                        const sap_mesh_read_options* options, sap_mesh_places** places);
/** Frees what was read. NULL is allowed. */
SAP_API void sap_mesh_places_free(sap_mesh_places* places);

/** A piece as a mesh, of which a tree is built: its vertices are those of the whole file. No triangles for a piece that is
 *  not there. */
SAP_API sap_mesh sap_mesh_piece_of(const sap_mesh_places* places, int32_t piece);

/**
 * The box of all triangles, each corner moved by its place's transform in double and rounded once: lower[3] is
 * +infinity and upper[3] -infinity without any. At most O(triangles of all places); places whose piece's box, moved,
 * lies in what is found already take no time. Errors: SAP_ERROR_ARGUMENT (a NULL; a place of a piece that is not there).
 */
SAP_API sap_status sap_mesh_places_bounds(const sap_mesh_places* places, float lower[3], float upper[3]);

/** One of the ways in which a scene moves: an animation of a glTF. */
typedef struct sap_clip {
    const char* name; /**< as in the file; "" if it has none */
    double seconds;   /**< when its last key is; 0: it has none */
} sap_clip;

/**
 * A scene of glTF 2.0, whose nodes, joints and morph targets may move. The triangles stay the same, vertices move: a tree
 * is built anew for each moment.
 */
typedef struct sap_animation {
    const sap_mesh_file* file; /**< the scene at rest, as ::sap_mesh_read gives it */
    const sap_clip* clips;     /**< [clip_count] in the order of the file */
    int32_t clip_count;        /**< 0: nothing moves */
    uint64_t reserved[4];      /**< for later versions: zero */
} sap_animation;

/**
 * Reads a glTF or GLB from bytes in memory, and how it moves. O(size) time and memory, but for instances: what these
 * become is bounded by options.unpack_limit. Errors: as ::sap_mesh_parse, which says what is read;
 * SAP_ERROR_FORMAT (times that do not ascend; a skin, or keys, whose numbers do not match). On failure *animation is
 * untouched.
 */
SAP_API sap_status sap_animation_parse(sap_device* device, const void* bytes, size_t size,
                                       const sap_mesh_read_options* options, sap_animation** animation);
/** Reads a file (path "-": standard input) and parses it. Errors: as there, SAP_ERROR_IO. */
SAP_API sap_status sap_animation_read(sap_device* device, const char* path, const sap_mesh_read_options* options,
                                      sap_animation** animation);
/** Frees a scene. NULL is allowed. */
SAP_API void sap_animation_free(sap_animation* animation);

/**
 * Where the vertices are, in the order of file->mesh, `seconds` into a clip (-1: at rest): vertices[3*vertex_count], in
 * host memory, relative to file->origin. Before the first key of a channel and after its last it stays as it is there.
 *
 * Steps, lines and cubic splines as glTF defines them; rotations go the shorter way along a great circle (Shoemake 1985).
 * Nodes are placed in double. A vertex of a node is rounded once; one with joints is moved by ::sap_mesh_skin, linearly, up
 * to 8 joints each, whose weights are made to sum to 1 first. Morph targets move vertices before that, in single precision.
 * The same bits for any number of threads and on any device.
 *
 * O(vertices * (joints + targets) + nodes + channels * log keys). Memory, during the call: 24 words a node, 12 a joint, 3 a
 * morphed vertex. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, and those of ::sap_mesh_skin.
 */
SAP_API sap_status sap_animation_pose(const sap_animation* animation, int32_t clip, double seconds, float* vertices);

/** How to write a mesh. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_mesh_write_options {
    bool text;            /**< PLY and STL: ascii instead of binary (little endian) */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_mesh_write_options;

/**
 * The place of a vertex in the file: origin + vertex, as the decimal number of the fewest places after the point that
 * gives the vertex again if the origin is subtracted, so that it is the number of the file if that is not finer than
 * floats around the origin are; where there is none of up to 15 digits, the double. Without an origin: the vertex.
 */
SAP_API void sap_mesh_file_place(const sap_mesh_file* file, int64_t vertex, double place[3]);

/**
 * Writes a mesh as PLY, OBJ, STL or OFF (path "-": standard output). A file replaces an older one only when it is
 * complete. Text holds the shortest decimals that read back to the same value. What a format cannot hold is left out:
 * PLY keeps vertices, triangles, normals and colours (rounded to multiples of 1/255), OBJ keeps everything but normals,
 * OFF keeps vertices, triangles and colours (rounded too), STL keeps triangles alone, so that vertices without any are
 * lost. Vertices with an origin are written where they stand (::sap_mesh_file_place), in PLY as doubles; binary STL has
 * only floats for them, and a sentence in the log, with SAP_OK, says so.
 *
 * If there are materials, an OBJ comes with an MTL beside it, NAME.mtl for NAME.obj; what is no file, such as
 * standard output, gets the names alone.
 * Errors: SAP_ERROR_ARGUMENT (also: an origin that is not finite; a material name that is empty or holds a line end, or
 * has a blank at an end), SAP_ERROR_RANGE (a triangle names a vertex or a material that is not there),
 * SAP_ERROR_UNSUPPORTED (a format that holds no meshes; no format known; a path that ends with .gz), SAP_ERROR_IO,
 * SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_mesh_write(sap_device* device, const char* path, sap_format format, const sap_mesh_file* file,
                                  const sap_mesh_write_options* options);

/** What the axes of an array are, the first one first: array[z][y][x] or array[x][y][z]. */
typedef enum sap_axis_order { SAP_ORDER_ZYX = 0, SAP_ORDER_XYZ = 1 } sap_axis_order;

/** How to read a volume. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_volume_read_options {
    int64_t size[3];      /**< samples along x, y, z; a raw file does not say, an NPY must then have this size */
    sap_voxel type;       /**< of raw samples */
    bool big_endian;      /**< raw samples have their highest byte first */
    int64_t skip;         /**< bytes of a raw file ahead of the first sample: 352 of most NIfTI files */
    float spacing[3];     /**< from one sample to the next; 0: 1 */
    sap_axis_order order; /**< what the array's axes are; of raw samples SAP_ORDER_XYZ means that z is the fastest */
    const char* member;   /**< which array of an NPZ; NULL: volume, or the only one */
    int64_t unpack_limit; /**< bytes that packed ones may become; 0: 100 times as many, or 64 MiB if that is more */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_volume_read_options;

/** A volume that came from a file. */
typedef struct sap_volume_file {
    sap_volume volume; /**< in host memory */
} sap_volume_file;

/** Frees a volume that was read. NULL is allowed. */
SAP_API void sap_volume_file_free(sap_volume_file* file);

/**
 * Reads a volume from bytes in memory: NPY or an array of an NPZ if they begin as one, else raw samples, x fastest
 * unless options.order says otherwise.
 *
 * **NPY** is an array of up to three axes, as NumPy has it, array[z][y][x]: x is the last axis, of a shape (z, y, x),
 * (y, x) or (x,), also if fortran_order is True. With SAP_ORDER_XYZ x is the first. Samples that do not lie in the file
 * with x as the fastest are put in that order. Numbers of 8 bits (unsigned), 16 bits and
 * float32 stay what they are, bools become 8 bits, all others become floats, rounded to the nearest (those of 64 bits
 * by way of a double).
 *
 * **Raw** files must be just as long as options.skip and the samples together.
 *
 * Values are not checked to be finite here. O(size) time and memory.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, an unknown type or order, a negative size or skip; a raw file without
 * options.size), SAP_ERROR_FORMAT (what should be there and what is there differ: the log names both), SAP_ERROR_RANGE
 * (a side of more than 2^31-1 samples; a finite number is beyond the range of a float), SAP_ERROR_UNSUPPORTED (an NPY
 * of other than plain numbers or of more axes), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_volume_parse(sap_device* device, const void* bytes, size_t size,
                                    const sap_volume_read_options* options, sap_volume_file** file);

/**
 * Reads a file (path "-": standard input) and parses it. Samples that can be used as they lie in the file are mapped:
 * it must not shrink before the volume is freed. Errors: as sap_volume_parse, SAP_ERROR_IO.
 */
SAP_API sap_status sap_volume_read(sap_device* device, const char* path, const sap_volume_read_options* options,
                                   sap_volume_file** file);

#ifdef __cplusplus
}
#endif
#endif
