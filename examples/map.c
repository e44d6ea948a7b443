// A map around a vehicle: scans come in, what is too far away goes, and each scan asks first what is known already.
#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>

enum { SCANS = 50, POINTS = 2000 };
static const double REACH = 20; // metres

// A scan of two walls, from `at` on the road between them.
static void scan_walls(double at, float (*points)[3]) {
    for (int i = 0; i < POINTS; i++) {
        const double along = at + REACH * sin(0.7 * i), height = 1.5 + 1.5 * sin(0.3 * i);
        points[i][0] = (float)along;
        points[i][1] = i % 2 ? 5 : -5;
        points[i][2] = (float)height;
    }
}

static sap_status drive(sap_set* map, double at, int* fresh) {
    static float points[POINTS][3], distance2[POINTS];
    static int32_t ids[POINTS];
    const sap_points scan = {points[0], POINTS, 3, 0};
    const double lower[3] = {at - REACH, -INFINITY, -INFINITY}, upper[3] = {at + REACH, INFINITY, INFINITY};
    scan_walls(at, points);
    sap_status status = sap_set_nearest(map, scan, &(sap_search){.k = 1, .radius = 0.1}, ids, distance2);
    *fresh = 0;
    for (int i = 0; i < POINTS && !status; i++) *fresh += ids[i] < 0; // nothing known within 10 cm
    if (!status) status = sap_set_insert(map, scan, NULL, NULL);
    if (!status) status = sap_set_keep_box(map, lower, upper, NULL);
    return status;
}

int main(void) {
    sap_device* device = NULL;
    sap_set* map = NULL;
    sap_set_info info = {0};
    int fresh = 0, first = 0;
    sap_status status = sap_device_open(NULL, &device);
    if (!status) status = sap_set_create(device, 3, &(sap_set_options){.background = true}, &map);
    for (int i = 0; i < SCANS && !status; i++) {
        status = drive(map, 0.5 * i, &fresh);
        if (i == 0) first = fresh;
    }
    if (!status) status = sap_set_describe(map, &info);
    if (!status)
        printf("of %d points, %d are in the map; new were %d of the first scan and %d of the last\n", (int)info.next_id,
               (int)info.count, first, fresh);
    sap_set_free(map);
    sap_device_close(device);
    return status != SAP_OK;
}
