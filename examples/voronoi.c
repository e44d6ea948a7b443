// Which of three sites is nearest to each place of a little picture: in shaders of OpenGL ES where there are any, else
// on the CPU. The ids are the same.
#include <sapwood/sapwood.h>
#include <stdio.h>

enum { WIDTH = 48, HEIGHT = 16 };

int main(void) {
    static const float sites[3][2] = {{1.0f, 1.0f}, {4.5f, 2.5f}, {2.0f, 3.0f}};
    // The first column and row lie at the upper left; y grows upwards.
    const sap_grid grid = {
        .width = WIDTH, .height = HEIGHT, .origin = {0, 4}, .right = {6.0 / WIDTH, 0}, .down = {0, -4.0 / HEIGHT}};
    int32_t ids[HEIGHT][WIDTH];
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_status status = sap_device_open(&(sap_device_options){.processor = SAP_GL}, &device);
    if (status == SAP_ERROR_NO_DEVICE) status = sap_device_open(NULL, &device);
    if (!status) status = sap_tree_build(device, (sap_points){sites[0], 3, 2, 0}, NULL, &tree);
    if (!status) status = sap_nearest_grid(tree, grid, &(sap_search){.k = 1}, ids[0], NULL);
    for (int y = 0; y < HEIGHT && !status; y++) {
        for (int x = 0; x < WIDTH; x++) putchar(".o#"[ids[y][x]]);
        putchar('\n');
    }
    if (status) fprintf(stderr, "%s\n", sap_status_string(status));
    sap_tree_free(tree);
    sap_device_close(device);
    return status != SAP_OK;
}
