#include "table.h"
#include <stdio.h>
#include <string.h>

// Whether the first field of a line holds nothing but digits, signs and points: then it is no column of names.
static bool begins_with_number(const char* bytes, size_t size) {
    static const char of_numbers[] = "0123456789.+- \"", separators[] = ",;\t\r\n";
    const char* end = bytes + size;
    for (const char *at = bytes, *first = at; at && at < end; first = at) {
        while (at < end && memchr(of_numbers, *at, sizeof of_numbers - 1)) at++;
        if (at > first && (at == end || memchr(separators, *at, sizeof separators - 1))) return true;
        at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (at) at++;
    }
    return false;
}

sap_status page_table_parse(const char* name, const char* bytes, size_t size, sap_point_set** set) {
    if (!page_cpu()) return SAP_ERROR_MEMORY;
    const sap_format format = sap_format_of(name);
    sap_status status = sap_points_parse(page_cpu(), bytes, size, format, 64, set);
    if (status != SAP_ERROR_FORMAT || format != SAP_FORMAT_CSV || begins_with_number(bytes, size)) return status;
    const sap_points_read_options behind_names = {.columns = "2,3"};
    char sentence[PAGE_SENTENCE]; // about the whole table
    snprintf(sentence, sizeof sentence, "%s", page_sentence());
    if (sap_points_parse_with(page_cpu(), bytes, size, format, 64, &behind_names, set) == SAP_OK) return SAP_OK;
    return page_fail(status, "%s", sentence);
}
