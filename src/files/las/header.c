// The header of a LAS and the records of variable length.
#include "base/assert.h"
#include "files/las/las.h"
#include <string.h>

uint64_t sap_las_load(const unsigned char* at, size_t bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | at[bytes];
    return value;
}

void sap_las_store(unsigned char* at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

double sap_las_load_double(const unsigned char* at) {
    const uint64_t bits = sap_las_load(at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void sap_las_store_double(unsigned char* at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sap_las_store(at, bits, 8);
}

sap_las_record sap_las_record_next(const sap_source* source, size_t* at) {
    const unsigned char* bytes = source->bytes + *at;
    SAP_ASSERT(*at + SAP_LAS_RECORD_HEADER <= source->size);
    const size_t length = (size_t)sap_las_load(bytes + 20, 2);
    const sap_las_record record = {.user = bytes + 2,
                                   .id = (uint16_t)sap_las_load(bytes + 18, 2),
                                   .first = bytes + SAP_LAS_RECORD_HEADER,
                                   .last = bytes + SAP_LAS_RECORD_HEADER + length,
                                   .at = *at,
                                   .end = *at + SAP_LAS_RECORD_HEADER + length};
    SAP_ASSERT(record.end <= source->size);
    *at = record.end;
    return record;
}

static bool is_of(const sap_las_record* record, const char* user) {
    return !strncmp((const char*)record->user, user, 16);
}

bool sap_las_describes_extra(const sap_las_record* record) { return record->id == 4 && is_of(record, "LASF_Spec"); }
bool sap_las_is_laszip(const sap_las_record* record) { return record->id == 22204 && is_of(record, "laszip encoded"); }

static sap_status check_version(const sap_source* source, sap_las_header* h) {
    const unsigned char* bytes = source->bytes;
    if (source->size >= 4 && memcmp(bytes, "LASF", 4) != 0)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "this is not a LAS file: its first bytes are not 'LASF'");
    if (source->size < SAP_LAS_HEADER_12)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends within its header; it is truncated; get it again");
    h->minor = bytes[SAP_LAS_MINOR];
    if (bytes[SAP_LAS_MINOR - 1] != 1 || h->minor > SAP_LAS_LATEST)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, SAP_LAS_MINOR - 1, "LAS %d.%d is not one of 1.0 to 1.4",
                            (int)bytes[SAP_LAS_MINOR - 1], h->minor);
    return SAP_OK;
}

static sap_status check_sizes(const sap_source* source, sap_las_header* h) {
    const unsigned char* bytes = source->bytes;
    const size_t least = h->minor >= 4 ? SAP_LAS_HEADER_14 : h->minor == 3 ? SAP_LAS_HEADER_13 : SAP_LAS_HEADER_12;
    h->header_size = (size_t)sap_las_load(bytes + SAP_LAS_HEADER_SIZE, 2);
    h->points_at = (size_t)sap_las_load(bytes + SAP_LAS_POINTS_AT, 4);
    h->records = (uint32_t)sap_las_load(bytes + SAP_LAS_RECORDS, 4);
    if (h->header_size < least)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_HEADER_SIZE,
                            "the header says that it has %zu bytes, but LAS 1.%d has %zu; the file is damaged",
                            h->header_size, h->minor, least);
    if (h->points_at < h->header_size || h->points_at > source->size)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_POINTS_AT,
                            "the points are said to begin at byte %zu, but the header ends at %zu and the file at %zu; "
                            "it is truncated or damaged; get it again",
                            h->points_at, h->header_size, source->size);
    return SAP_OK;
}

static sap_status check_records(const sap_source* source, sap_las_header* h) {
    h->records_end = h->header_size;
    for (uint32_t i = 0; i < h->records; i++) {
        const size_t at = h->records_end, left = h->points_at - at;
        const size_t length = left < SAP_LAS_RECORD_HEADER ? 0 : (size_t)sap_las_load(source->bytes + at + 20, 2);
        if (left < SAP_LAS_RECORD_HEADER || length > left - SAP_LAS_RECORD_HEADER)
            return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)at,
                                "record %lu of %lu does not end before the points; the file is damaged",
                                (unsigned long)i + 1, (unsigned long)h->records);
        h->records_end += SAP_LAS_RECORD_HEADER + length;
    }
    return SAP_OK;
}

// Records behind the points, of LAS 1.4.
static sap_status check_late_records(const sap_source* source, sap_las_header* h) {
    if (h->minor < 4) return SAP_OK;
    const uint64_t first = sap_las_load(source->bytes + SAP_LAS_LATE_AT, 8);
    h->late_records = (uint32_t)sap_las_load(source->bytes + SAP_LAS_LATE_RECORDS, 4);
    if (!h->late_records) return SAP_OK;
    if (first < h->points_at || first > source->size)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_LATE_AT,
                            "records are said to begin at byte %llu, but the points begin at %zu and the file ends at "
                            "%zu; it is truncated or damaged; get it again",
                            (unsigned long long)first, h->points_at, source->size);
    h->late_at = h->late_end = (size_t)first;
    for (uint32_t i = 0; i < h->late_records; i++) {
        const size_t at = h->late_end, left = source->size - at;
        const uint64_t length = left < SAP_LAS_LATE_HEADER ? 0 : sap_las_load(source->bytes + at + 20, 8);
        if (left < SAP_LAS_LATE_HEADER || length > left - SAP_LAS_LATE_HEADER)
            return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)at,
                                "the file ends within record %lu of %lu behind the points; it is truncated; get it "
                                "again",
                                (unsigned long)i + 1, (unsigned long)h->late_records);
        h->late_end += SAP_LAS_LATE_HEADER + (size_t)length;
    }
    return SAP_OK;
}

static sap_status check_format(const sap_source* source, sap_las_header* h) {
    const int packed_bits = 0xc0, format = source->bytes[SAP_LAS_FORMAT];
    h->packed = format & packed_bits;
    h->format = format & ~packed_bits;
    h->record_size = (size_t)sap_las_load(source->bytes + SAP_LAS_RECORD_SIZE, 2);
    if (h->format > SAP_LAS_LAST_FORMAT)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, SAP_LAS_FORMAT, "point format %d is not one of 0 to %d",
                            h->format, SAP_LAS_LAST_FORMAT);
    if (h->record_size < sap_las_format_size(h->format))
        return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_RECORD_SIZE,
                            "points of format %d have %zu bytes, but the header says %zu; the file is damaged",
                            h->format, sap_las_format_size(h->format), h->record_size);
    for (int a = 0; a < 3; a++) {
        h->scale[a] = sap_las_load_double(source->bytes + SAP_LAS_SCALE + 8 * a);
        h->offset[a] = sap_las_load_double(source->bytes + SAP_LAS_OFFSET + 8 * a);
        if (!isfinite(h->scale[a]) || h->scale[a] == 0)
            return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_SCALE + 8 * a,
                                "the scale of %c is %g; the header is damaged", "xyz"[a], h -> scale[a]);
        if (!isfinite(h->offset[a]))
            return sap_bad_byte(source, SAP_ERROR_FORMAT, SAP_LAS_OFFSET + 8 * a,
                                "the offset of %c is %g; the header is damaged", "xyz"[a], h -> offset[a]);
    }
    return SAP_OK;
}

static sap_status check_count(const sap_source* source, sap_las_header* h) {
    uint64_t count = sap_las_load(source->bytes + SAP_LAS_COUNT, 4);
    const uint64_t wide = h->minor >= 4 ? sap_las_load(source->bytes + SAP_LAS_COUNT_64, 8) : 0;
    if (wide) count = wide;
    const size_t rows = (source->size - h->points_at) / h->record_size;
    if (!h->packed && count > rows)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)source->size,
                            "the file ends before point %llu of %llu; it is truncated; get it again",
                            (unsigned long long)rows + 1, (unsigned long long)count);
    if (count > INT32_MAX && !source->part)
        return sap_bad_byte(source, SAP_ERROR_RANGE, -1, "%llu points are more than the 2147483647 that ids can number",
                            (unsigned long long)count);
    h->count = (int64_t)count;
    if (h->minor >= 3) h->waves_at = sap_las_load(source->bytes + SAP_LAS_WAVES_AT, 8);
    return SAP_OK;
}

sap_status sap_las_header_read(const sap_source* source, sap_las_header* header) {
    *header = (sap_las_header){.minor = 0};
    sap_status status = check_version(source, header);
    if (status == SAP_OK) status = check_sizes(source, header);
    if (status == SAP_OK) status = check_format(source, header);
    if (status == SAP_OK) status = check_records(source, header);
    if (status == SAP_OK) status = check_late_records(source, header);
    return status == SAP_OK ? check_count(source, header) : status;
}
