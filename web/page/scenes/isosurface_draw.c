// The picture of the scene Isosurface: a mesh with depth, some triangles at a time. And surfaces that the GPU makes.
#include "isosurface.h"
#include "space.h"
#include <math.h>
#include <string.h>

extern const char sap_glsl_isosurface_vertex[];
extern const char sap_glsl_isosurface[];

enum { POSITIONS, NORMALS, TRIANGLES, BOX, BUFFERS };

static struct {
    GLuint buffer[BUFFERS], arrays[2]; // arrays: of the mesh, of the box
    GLuint program, lines;
    int64_t vertices, triangles, next; // drawn so far
    page_space space;
    sap_isosurface* made; // by the GPU, in host memory
} scene;

// ---- The mesh

static void attribute(GLuint index, GLuint buffer) {
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glEnableVertexAttribArray(index);
    glVertexAttribPointer(index, 3, GL_FLOAT, GL_FALSE, 0, NULL);
}

static void make_box(const float size[3]) {
    static const int8_t corners[24] = {0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7};
    float ends[24][3];
    for (int i = 0; i < 24; i++)
        for (int a = 0; a < 3; a++) ends[i][a] = corners[i] >> a & 1 ? size[a] : 0;
    for (int a = 0; a < 3; a++) {
        scene.space.from[a] = 0;
        scene.space.to[a] = size[a];
    }
    glBindVertexArray(scene.arrays[1]);
    attribute(0, scene.buffer[BOX]);
    glBufferData(GL_ARRAY_BUFFER, sizeof ends, ends, GL_STATIC_DRAW);
    glBindVertexArray(0);
}

static bool start(void) {
    if (scene.program) return true;
    scene.program = page_program(sap_glsl_isosurface_vertex, sap_glsl_isosurface, "#define SAP_PASS 0\n");
    scene.lines = page_program(sap_glsl_isosurface_vertex, sap_glsl_isosurface, "#define SAP_PASS 1\n");
    glGenVertexArrays(2, scene.arrays);
    glGenBuffers(BUFFERS, scene.buffer);
    return scene.program && scene.lines;
}

// Puts a mesh into the context. The arrays may be freed afterwards. The volume ends at x, y, z.
PAGE_EXPORT sap_status isosurface_mesh(const float* positions, const float* normals, const int32_t* triangles,
                                       double vertices, double triangle_count, double x, double y, double z) {
    if (!start()) return SAP_ERROR_UNSUPPORTED;
    scene.vertices = (int64_t)vertices;
    scene.triangles = (int64_t)triangle_count;
    scene.next = 0;
    make_box((float[3]){(float)x, (float)y, (float)z});
    glBindVertexArray(scene.arrays[0]);
    const void* data[2] = {positions, normals};
    for (GLuint i = POSITIONS; i <= NORMALS; i++) {
        attribute(i, scene.buffer[i]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(12 * scene.vertices), data[i], GL_DYNAMIC_DRAW);
    }
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, scene.buffer[TRIANGLES]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(12 * scene.triangles), triangles, GL_DYNAMIC_DRAW);
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return glGetError() == GL_OUT_OF_MEMORY
               ? page_fail(SAP_ERROR_DEVICE_MEMORY, "The GPU has no memory for %lld triangles.",
                           (long long)triangle_count)
               : SAP_OK;
}

// The surface of the held volume, made by the GPU (isosurface_made), which stays until the next call; NULL on failure.
PAGE_EXPORT double* isosurface_on_gpu(double level, int low_inside) {
    static double answer[ISOSURFACE_MADE_FIELDS];
    sap_isosurface_free(scene.made);
    scene.made = NULL;
    if (isosurface_extract(page_gl(), level, low_inside != 0, &scene.made) != SAP_OK) return NULL;
    const sap_mesh* mesh = &scene.made->mesh;
    answer[ISOSURFACE_MADE_POSITIONS] = (double)(uintptr_t)mesh->vertices;
    answer[ISOSURFACE_MADE_NORMALS] = (double)(uintptr_t)scene.made->normals;
    answer[ISOSURFACE_MADE_TRIANGLES] = (double)(uintptr_t)mesh->triangles;
    answer[ISOSURFACE_MADE_VERTEX_COUNT] = (double)mesh->vertex_count;
    answer[ISOSURFACE_MADE_TRIANGLE_COUNT] = (double)mesh->triangle_count;
    return answer;
}

// ---- Drawing

static void use(GLuint program, bool facets, int colors) {
    float size = 0;
    for (int i = 0; i < 3; i++) size = fmaxf(size, scene.space.to[i]);
    glUseProgram(program);
    glUniformMatrix4fv(page_uniform(program, "project"), 1, GL_FALSE, scene.space.project);
    glUniform3fv(page_uniform(program, "eye"), 1, scene.space.eye);
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    glUniform3fv(page_uniform(program, "ink"), 1, page_colors[PAGE_COLOR_INK]);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[PAGE_COLOR_ACCENT]);
    glUniform3f(page_uniform(program, "middle"), 0.5f * scene.space.to[0], 0.5f * scene.space.to[1],
                0.5f * scene.space.to[2]);
    glUniform1f(page_uniform(program, "size"), size);
    glUniform1i(page_uniform(program, "facets"), facets);
    glUniform1i(page_uniform(program, "colors"), colors);
}

// Begins a picture, multisampled if it is to be fine.
PAGE_EXPORT void isosurface_begin(int width, int height, double yaw, double pitch, double zoom, double shift_x,
                                  double shift_y, int box, int fine) {
    const page_view view = {yaw, pitch, zoom, shift_x, shift_y};
    scene.next = 0;
    if (!start() || !page_space_begin(&scene.space, width, height, &view, fine != 0) || !box) return;
    page_space_enter(&scene.space);
    use(scene.lines, false, 0);
    glBindVertexArray(scene.arrays[1]);
    glDrawArrays(GL_LINES, 0, 24);
    page_space_leave();
}

// Draws so many triangles more, in colours 0 of the body, 1 of normals; how many are left. When there are none
// the canvas gets the picture.
PAGE_EXPORT double isosurface_frame(double share, int facets, int colors) {
    if (!scene.program || !scene.space.copy) return 0;
    int64_t count = scene.triangles - scene.next;
    if (count > (int64_t)share) count = (int64_t)share;
    page_space_enter(&scene.space);
    use(scene.program, facets != 0, colors);
    glBindVertexArray(scene.arrays[0]);
    if (count)
        glDrawElements(GL_TRIANGLES, (GLsizei)(3 * count), GL_UNSIGNED_INT, (const void*)(uintptr_t)(12 * scene.next));
    page_space_leave();
    scene.next += count;
    if (scene.next < scene.triangles) return (double)(scene.triangles - scene.next);
    page_space_show(&scene.space);
    return 0;
}

// Where the picture is seen from (space_camera).
PAGE_EXPORT double* isosurface_seen(void) { return page_space_camera(&scene.space); }

// Frees what the context holds, also after it was lost.
PAGE_EXPORT void isosurface_stop(void) {
    sap_isosurface_free(scene.made);
    page_space_free(&scene.space);
    glDeleteVertexArrays(2, scene.arrays);
    glDeleteBuffers(BUFFERS, scene.buffer);
    glDeleteProgram(scene.program);
    glDeleteProgram(scene.lines);
    memset(&scene, 0, sizeof scene);
}
