#include "nifti.h"
#include "volume_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the header has what, in bytes; numbers are of 16 bits, or floats of 32.
enum { HEADER = 348, AXES = 40, TYPE = 70, OFFSET = 108, SLOPE = 112, SHIFT = 116, MAGIC = 344, FIRST = 352 };

typedef struct nifti {
    const unsigned char* bytes;
    bool big_endian;
} nifti;

static int number_at(const nifti* n, int at) {
    const int low = n->bytes[at + n->big_endian], high = n->bytes[at + !n->big_endian];
    return (int16_t)(high << 8 | low);
}

static float float_at(const nifti* n, int at) {
    uint32_t bits = 0;
    float value;
    for (int i = 0; i < 4; i++) bits = bits << 8 | n->bytes[at + (n->big_endian ? i : 3 - i)];
    memcpy(&value, &bits, sizeof value);
    return value;
}

// NPY's name for a type of samples, without the order of its bytes; NULL: none that a surface can be made of.
static const char* type_of(int code) {
    static const struct {
        int code;
        const char* name;
    } known[] = {{2, "u1"},   {4, "i2"},   {8, "i4"},   {16, "f4"},   {64, "f8"},
                 {256, "i1"}, {512, "u2"}, {768, "u4"}, {1024, "i8"}, {1280, "u8"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code) return known[i].name;
    return NULL;
}

static sap_status check(const nifti* n, size_t size) {
    const unsigned char* bytes = n->bytes;
    static const unsigned char second[2][4] = {{540 & 255, 540 >> 8, 0, 0}, {0, 0, 540 >> 8, 540 & 255}};
    if (size >= 4 && (!memcmp(bytes, second[0], 4) || !memcmp(bytes, second[1], 4)))
        return page_fail(SAP_ERROR_UNSUPPORTED, "This is NIfTI-2; the page reads NIfTI-1.");
    if (size < FIRST)
        return page_fail(SAP_ERROR_FORMAT, "It has %zu bytes, and NIfTI-1 has %d ahead of its samples.", size, FIRST);
    if (number_at(n, n->big_endian ? 2 : 0) != HEADER ||
        memcmp(bytes + MAGIC, n->bytes[MAGIC + 1] == 'i' ? "ni1" : "n+1", 4))
        return page_fail(SAP_ERROR_FORMAT, "It does not begin like NIfTI-1, with a header of %d bytes.", HEADER);
    if (bytes[MAGIC + 1] == 'i')
        return page_fail(SAP_ERROR_UNSUPPORTED,
                         "This NIfTI header has its samples in another file (.img); save both as one .nii.");
    return SAP_OK;
}

// Writes a header of NPY right ahead of the samples, and tells where it begins.
static sap_status put_header(const nifti* n, unsigned char* bytes, size_t size, size_t* from) {
    enum { ROOM = 128, NAMED = 10 }; // of a header of NPY; its first bytes
    const int axes = number_at(n, AXES), code = number_at(n, TYPE);
    const char* type = type_of(code);
    if (axes < 3 || axes > 7)
        return page_fail(SAP_ERROR_FORMAT, "Its header (byte %d) says %d axes; a volume has three.", AXES, axes);
    for (int i = 1; i <= 3; i++)
        if (number_at(n, AXES + 2 * i) < 1)
            return page_fail(SAP_ERROR_FORMAT, "Its header (byte %d) says %d samples along axis %d.", AXES + 2 * i,
                             number_at(n, AXES + 2 * i), i);
    if (!type)
        return page_fail(SAP_ERROR_UNSUPPORTED, "Its samples are of type %d (byte %d), which is not a single number.",
                         code, TYPE);
    const float offset = float_at(n, OFFSET);
    if (!(offset >= 0) || (double)offset > (double)size)
        return page_fail(SAP_ERROR_FORMAT, "Its header (byte %d) says that samples begin at byte %g of %zu.", OFFSET,
                         (double)offset, size);
    const size_t at = offset > FIRST ? (size_t)offset : FIRST;
    double needed = type[1] - '0';
    for (int i = 1; i <= 3; i++) needed *= number_at(n, AXES + 2 * i);
    if (needed > (double)(size - at))
        return page_fail(SAP_ERROR_FORMAT, "Its samples are %lld bytes from byte %zu on, but it has only %zu there.",
                         (long long)needed, at, size - at);
    *from = at - ROOM;
    char* text = (char*)bytes + *from;
    memcpy(text, "\x93NUMPY\x01\0\x76\0", NAMED);
    const int length = snprintf(
        text + NAMED, ROOM - NAMED, "{'descr': '%c%s', 'fortran_order': True, 'shape': (%d, %d, %d), }",
        n->big_endian ? '>' : '<', type, number_at(n, AXES + 2), number_at(n, AXES + 4), number_at(n, AXES + 6));
    memset(text + NAMED + length, ' ', (size_t)(ROOM - NAMED - length));
    text[ROOM - 1] = '\n';
    return SAP_OK;
}

// Puts floats in the place of samples: value * slope + shift.
static sap_status scale(double slope, double shift, sap_volume_file** file) {
    const sap_volume volume = (*file)->volume;
    const size_t count = page_volume_count(&volume);
    sap_volume_read_options options = {.type = SAP_VOXEL_F32};
    float* values = malloc(count * sizeof *values);
    if (!values) return page_fail(SAP_ERROR_MEMORY, "There is no memory here for %zu samples.", count);
    for (size_t i = 0; i < count; i++) values[i] = (float)(page_volume_value(&volume, i) * slope + shift);
    memcpy(options.size, volume.size, sizeof options.size);
    sap_volume_file_free(*file);
    *file = NULL;
    sap_status status = sap_volume_parse(page_cpu(), values, count * sizeof *values, &options, file);
    free(values);
    return status;
}

sap_status page_nifti_parse(void* bytes, size_t size, sap_volume_file** file) {
    const nifti n = {bytes, size >= 4 && ((unsigned char*)bytes)[0] == 0};
    const sap_volume_read_options x_first = {.order = SAP_ORDER_XYZ};
    size_t from = 0;
    *file = NULL;
    sap_status status = check(&n, size);
    const double slope = status == SAP_OK ? (double)float_at(&n, SLOPE) : 0;
    const double shift = status == SAP_OK ? (double)float_at(&n, SHIFT) : 0;
    if (status == SAP_OK) status = put_header(&n, bytes, size, &from);
    if (status == SAP_OK)
        status = sap_volume_parse(page_cpu(), (unsigned char*)bytes + from, size - from, &x_first, file);
    // A slope of 0 means that values are not scaled.
    const bool scales = slope != 0 && isfinite(slope) && isfinite(shift) && !(slope == 1 && shift == 0);
    if (status == SAP_OK && scales) status = scale(slope, shift, file);
    return status;
}
