// Whether points that were read as floats are to be doubles, since they lie close together.
#ifndef SAPWOOD_FILES_PRECISE_H
#define SAPWOOD_FILES_PRECISE_H

#include "files/source.h"

// Takes out of options, which may be NULL, the member, the limit of what is packed, and how far rounding may move
// points. Errors: SAP_ERROR_ARGUMENT.
sap_status sap_reading_take(const sap_points_read_options* options, sap_source* source);

// Reads text anew, as doubles, if the floats that were made of it are too far from what it says. The set is the
// caller's in any case.
sap_status sap_precise_set(const sap_source* source, sap_reader read, sap_point_set** set);

#endif
