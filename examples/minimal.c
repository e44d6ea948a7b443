#include <sapwood/sapwood.h>
#include <stdio.h>

int main(void) {
    float points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, query[3] = {0.2f, 1.5f, 0.1f}, distance2[2];
    int32_t ids[2];
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_status status = sap_device_open(NULL, &device);
    if (!status) status = sap_tree_build(device, (sap_points){points[0], 4, 3, 0}, NULL, &tree);
    if (!status) status = sap_nearest(tree, (sap_points){query, 1, 3, 0}, &(sap_search){.k = 2}, ids, distance2);
    if (!status) printf("nearest: point %d, squared distance %g\n", ids[0], (double)distance2[0]);
    sap_tree_free(tree);
    sap_device_close(device);
    return status != SAP_OK;
}
