// cgltf's functions, compiled here once.
#include "files/text.h"
#include <string.h>

// As atof, with a '.' as decimal point whatever the locale is.
static double number_of(const char* text) {
    sap_decimal decimal;
    return sap_decimal_scan(text, text + strlen(text), &decimal) ? sap_decimal_double(&decimal) : 0;
}

#define CGLTF_ATOF(text) number_of(text)
#define CGLTF_IMPLEMENTATION
#include "files/gltf/names.h"
