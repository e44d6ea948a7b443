// What many distances say together.
#ifndef SAPWOOD_COMPARE_DISTANCE_H
#define SAPWOOD_COMPARE_DISTANCE_H

#include "device/device.h"
#include "sapwood/cloud.h"

// Checks options that may be NULL, and copies them with defaults filled in.
sap_status sap_distance_check(const sap_device* device, const sap_distance_options* given,
                              sap_distance_options* options);
// The same of distances to points.
sap_status sap_distance_check_points(const sap_device* device, const sap_distance_options* given,
                                     sap_distance_options* options);
// A call that is made of many, whose own reports are muted, tells that `done` of `all` is done.
sap_status sap_distance_tell(const sap_device* device, int64_t done, int64_t all);
// Distances beyond the radius become infinite; the rest are summed up in the order of rows. Those from inside a mesh are
// negative; infinite ones do not count.
void sap_distance_sum_up(const sap_distance_options* options, double* distances, int64_t count,
                         sap_distance_info* info);

#endif
