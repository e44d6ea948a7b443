// A program outside Sapwood's tree: it sees what is installed and nothing else.
#include <sapwood/sapwood.h>
#include <stdio.h>

enum { SIDE = 20, COUNT = SIDE * SIDE };

static void say(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "sapwood: %s: %s\n", sap_status_string(status), sentence);
}

int main(void) {
    float grid[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        grid[i][0] = (float)(i % SIDE);
        grid[i][1] = (float)(i / SIDE);
    }
    static int32_t ids[COUNT][4];
    static float distance2[COUNT][4];
    sap_device_options options = {.log = say};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_status status = sap_device_open(&options, &device);
    if (!status)
        status = sap_tree_build(device, (sap_points){.coords = grid[0], .count = COUNT, .dims = 2}, NULL, &tree);
    if (!status) status = sap_nearest_self(tree, &(sap_search){.k = 4}, ids[0], distance2[0]);

    int inside = 0; // points of the grid that have four neighbours at distance 1
    for (int i = 0; !status && i < COUNT; i++) inside += distance2[i][3] == 1;
    sap_tree_free(tree);
    sap_device_close(device);
    printf("sapwood %s: %d of %d points lie inside the grid\n", sap_version(), inside, COUNT);
    return status || inside != (SIDE - 2) * (SIDE - 2);
}
