// What points have beside their coordinates: columns of numbers of any plain type.
#ifndef SAPWOOD_FILES_FIELDS_H
#define SAPWOOD_FILES_FIELDS_H

#include "files/cells.h"

enum { SAP_MOST_FIELDS = 1024 };

// A field to be made. Without a name it is called column4, column5, … by its number, which counts columns from 1.
typedef struct sap_field_draft {
    sap_span name;
    int64_t number;
    int64_t part; // of a field of several numbers, NAME_0, NAME_1, …; -1: it is one alone
    sap_column column;
} sap_field_draft;

// A list of drafts. All zero is empty.
typedef struct sap_field_drafts {
    sap_field_draft* list;
    int64_t count;
    size_t allocated;
} sap_field_drafts;

// Appends a draft; errors: SAP_ERROR_UNSUPPORTED (too many), SAP_ERROR_MEMORY.
sap_status sap_field_drafts_add(const sap_source* source, sap_field_drafts* drafts, const sap_field_draft* draft);
void sap_field_drafts_release(const sap_source* source, sap_field_drafts* drafts);

// Gives a point set, which has none yet, room for these fields. Their values are to be stored.
sap_status sap_fields_make(const sap_source* source, const sap_field_drafts* drafts, sap_point_set* set);
// The same, and stores the numbers of the drafts' columns.
sap_status sap_fields_take(const sap_source* source, const sap_field_drafts* drafts, sap_point_set* set);
// Gives a point set a copy of what its LAS is beside the points, with `more` bytes behind that are to be filled.
sap_status sap_fields_keep_las(const sap_source* source, const void* bytes, size_t size, size_t more,
                               sap_point_set* set);

size_t sap_field_bytes(sap_field_type type);
// Which type holds the numbers of a cell.
sap_field_type sap_field_type_of(sap_cell cell);
// The other way round: how the values of a type lie in memory.
sap_cell sap_field_cell(sap_field_type type);

// Stores a number of a text: rounded to the nearest that the type holds.
void sap_field_put(const sap_field* field, int64_t row, const sap_decimal* decimal);
// A whole number that is written without point and exponent.
bool sap_decimal_whole(const sap_decimal* decimal, int64_t* value);

// What a column of a text may be, judged by all of its numbers. All zero is where to begin.
typedef struct sap_text_column {
    bool has_text, has_reals, has_doubles, has_longs;
    int64_t least, most;
} sap_text_column;
void sap_text_column_look(sap_text_column* column, const sap_decimal* decimal);
// The cell of the type that suits a column of this name; `color_most`: the most of all colours, or -1.
sap_cell sap_text_column_cell(const sap_text_column* column, sap_span name, int64_t color_most);
bool sap_is_color(sap_span name);

// A value as it is: whole numbers of any type, or real ones.
typedef struct sap_value {
    char kind; // 'i': `whole`; 'u': `whole` read as unsigned, and above INT64_MAX; 'f': `real`
    int64_t whole;
    double real;
} sap_value;
sap_value sap_field_value(const sap_field* field, int64_t row);
double sap_value_double(const sap_value* value);
const sap_field* sap_field_named(const sap_point_set* set, const char* name);

#endif
