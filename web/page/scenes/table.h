// Tables of points that the library's readers do not take as they are.
#ifndef SAPWOOD_PAGE_TABLE_H
#define SAPWOOD_PAGE_TABLE_H

#include "../page.h"

// Reads points from a file of this name (sap_points_parse). Of a table whose first column holds names the two behind it
// are read.
sap_status page_table_parse(const char* name, const char* bytes, size_t size, sap_point_set** set);

#endif
