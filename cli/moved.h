// Clouds that move: points of three coordinates as floats from an origin near them, and what they have become in the precision
// of their file.
#ifndef SAPWOOD_CLI_MOVED_H
#define SAPWOOD_CLI_MOVED_H

#include "cloud.h"

typedef struct sap_cli_moved {
    sap_cli_cloud cloud;
    double origin[3]; // what floats count from
    float* given;     // [3] of each point of the file
    float* moved;     // [3*count]
    void* written;    // [3*count] the same in the precision of the file
    int64_t count;
} sap_cli_moved;

// The radius and the output that were asked for.
sap_cli_exit sap_cli_moved_check(sap_cli* cli);
// Reads POINTS, and says where floats tell them badly apart. `who` has three coordinates: "points that relax".
sap_cli_exit sap_cli_moved_read(sap_cli* cli, const char* who, sap_cli_moved* m);
// Makes room for `count` points that have moved.
sap_cli_exit sap_cli_moved_room(sap_cli* cli, int64_t count, sap_cli_moved* m);
// Writes the points that have moved, if there is one for each of the file (`keeps`) with what these have beside their
// coordinates.
sap_cli_exit sap_cli_moved_write(sap_cli* cli, bool keeps, const sap_cli_moved* m);
static inline sap_points sap_cli_moved_given(const sap_cli_moved* m) {
    return (sap_points){m->given, m->cloud.reference.points.count, 3, 0};
}
void sap_cli_moved_free(sap_cli_moved* m);

#endif
