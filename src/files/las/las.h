// LAS: what reading and writing share. All numbers are little endian, and at no particular address.
#ifndef SAPWOOD_FILES_LAS_H
#define SAPWOOD_FILES_LAS_H

#include "files/fields.h"
#include "files/read.h"

// Where things stand in the header.
enum {
    SAP_LAS_ENCODING = 6,
    SAP_LAS_MINOR = 25,
    SAP_LAS_SYSTEM = 26,
    SAP_LAS_SOFTWARE = 58,
    SAP_LAS_HEADER_SIZE = 94,
    SAP_LAS_POINTS_AT = 96,
    SAP_LAS_RECORDS = 100,
    SAP_LAS_FORMAT = 104,
    SAP_LAS_RECORD_SIZE = 105,
    SAP_LAS_COUNT = 107,
    SAP_LAS_RETURNS = 111, // 5 counts
    SAP_LAS_SCALE = 131,   // 3 doubles
    SAP_LAS_OFFSET = 155,
    SAP_LAS_BOUNDS = 179, // max x, min x, max y, …
    SAP_LAS_HEADER_12 = 227,
    SAP_LAS_WAVES_AT = 227, // 1.3
    SAP_LAS_HEADER_13 = 235,
    SAP_LAS_LATE_AT = 235, // 1.4: the records behind the points
    SAP_LAS_LATE_RECORDS = 243,
    SAP_LAS_COUNT_64 = 247,
    SAP_LAS_RETURNS_64 = 255, // 15 counts
    SAP_LAS_HEADER_14 = 375,
    SAP_LAS_RECORD_HEADER = 54,
    SAP_LAS_LATE_HEADER = 60,  // of records behind the points
    SAP_LAS_EXTRA_BYTES = 192, // a description
    SAP_LAS_LATEST = 4,
    SAP_LAS_LAST_FORMAT = 10
};

typedef struct sap_las_header {
    int minor, format;
    bool packed; // by LASzip
    size_t header_size, points_at, record_size;
    uint32_t records;
    size_t records_end; // of those ahead of the points
    int64_t count;
    double scale[3], offset[3];
    size_t late_at, late_end; // records behind the points; equal: none
    uint32_t late_records;
    uint64_t waves_at;
} sap_las_header;

// A record of variable length.
typedef struct sap_las_record {
    const unsigned char* user; // 16 characters, zeros at the end
    uint16_t id;
    const unsigned char *first, *last; // what it holds
    size_t at, end;                    // all of it
} sap_las_record;

uint64_t sap_las_load(const unsigned char* at, size_t bytes);
void sap_las_store(unsigned char* at, uint64_t value, size_t bytes);
double sap_las_load_double(const unsigned char* at);
void sap_las_store_double(unsigned char* at, double value);

// Reads and checks everything but the points; that these are all there only if nothing has packed them.
sap_status sap_las_header_read(const sap_source* source, sap_las_header* header);
// The record that begins at *at, which moves on. The header has been checked.
sap_las_record sap_las_record_next(const sap_source* source, size_t* at);
// Whether it describes extra bytes; whether it is LASzip's.
bool sap_las_describes_extra(const sap_las_record* record);
bool sap_las_is_laszip(const sap_las_record* record);

// A number in the record of a point.
typedef struct sap_las_item {
    char name[40];
    sap_cell cell;
    size_t offset;
    int shift, bits; // within a byte; bits 0: all of the cell
    bool scaled;     // the value is number * scale + move
    double scale, move;
    const unsigned char* description; // of extra bytes; NULL: none, or not of extra bytes
} sap_las_item;

typedef struct sap_las_items {
    sap_las_item* list; // x, y and z first
    int64_t count;
    size_t allocated;
} sap_las_items;

size_t sap_las_format_size(int format);
// All items of a point format, without extra bytes.
sap_status sap_las_items_of_format(const sap_source* source, const sap_las_header* header, sap_las_items* items);
// Adds the extra bytes of a header's records: those described, then, if wanted, the rest.
sap_status sap_las_items_extra(const sap_source* source, const sap_las_header* header, bool rest, sap_las_items* items);
sap_status sap_las_items_add(const sap_source* source, sap_las_items* items, const sap_las_item* item);
void sap_las_items_release(const sap_source* source, sap_las_items* items);
// Which type the values of an item have, once they are scaled.
sap_field_type sap_las_item_type(const sap_las_item* item);

// ---- laszip.c
// Makes LAS of LAZ: bytes that are to be released. Errors: SAP_ERROR_UNSUPPORTED (no LASzip), SAP_ERROR_FORMAT,
// SAP_ERROR_RANGE, SAP_ERROR_MEMORY.
sap_status sap_laszip_unpack(const sap_source* source, const sap_las_header* header, sap_file_bytes* las);
// Whether LASzip can be used; a sentence says what to do if not.
sap_status sap_laszip_check(const sap_device* device);
// Makes LAZ of the file of this path, in bytes that are to be released.
sap_status sap_laszip_pack(const sap_source* source, sap_file_bytes* laz);

// ---- write_las.c
// Writes points. The caller has checked them but for what LAS has no room for.
sap_status sap_las_write(sap_device* device, const char* path, bool packed, const sap_point_set* set, double scale);

#endif
