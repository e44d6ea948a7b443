// PLY: what its readers of points and meshes share.
#ifndef SAPWOOD_FILES_PLY_H
#define SAPWOOD_FILES_PLY_H

#include "files/cells.h"

typedef struct sap_ply_property {
    sap_cell cell;
    sap_cell count_cell; // of a list's length; kind 0: no list
    sap_span name;
    int32_t axis; // which coordinate of a vertex; else -1
} sap_ply_property;

typedef struct sap_ply_element {
    sap_span name;
    int64_t count;
    int64_t line; // of the header
    size_t first, properties;
    size_t least_bytes; // of a row, when all of its lists are empty
    bool lists;
} sap_ply_element;

typedef struct sap_ply_file {
    const sap_source* source;
    bool ascii, big_endian;
    sap_ply_element* elements;
    sap_ply_property* all_properties;
    size_t element_count, property_count, allocated;
    const sap_ply_element *vertex, *face; // the first with faces in it, or without any if none has
    bool strips;                          // `face` is an element of triangle strips
    bool mesh; // x, y and z are wanted, and red, green and blue as coordinates 3 to 5 if they are there
    int32_t dims;
    sap_lines lines;       // behind the header: where the data begin
    sap_lines at_faces;    // where the faces begin, in a text
    size_t faces_start;    // the same in a binary file
    sap_lines at_vertices; // and of the vertices
    size_t vertices_start;
} sap_ply_file;

// Reads the header. Closing is allowed after failures too.
sap_status sap_ply_open(sap_ply_file* ply, const sap_source* source);
void sap_ply_close(sap_ply_file* ply);

// Reads the vertices, walks all other elements, and finds out where the faces are. The rows of binary files are all
// there then; those of text are so many lines.
sap_status sap_ply_points(sap_ply_file* ply, sap_point_set** set);

// Gives points that were read so the properties of the vertices that are no coordinates.
sap_status sap_ply_fields(const sap_ply_file* ply, sap_point_set* set);

// Takes one number from the line of a row.
sap_status sap_ply_number(const sap_ply_file* ply, const sap_lines* lines, sap_span* line, sap_decimal* decimal,
                          sap_span* word);
// Takes the length of a list, which `word` and `decimal` are.
sap_status sap_ply_length(const sap_ply_file* ply, const sap_lines* lines, sap_span word, const sap_decimal* decimal,
                          int64_t* length);
// What is left of the line of a row must be nothing.
sap_status sap_ply_row_end(const sap_ply_file* ply, const sap_lines* lines, sap_span line);

#endif
