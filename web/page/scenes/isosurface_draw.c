// The picture of the scene Isosurface: a mesh with depth, some triangles at a time, in a multisampled framebuffer; what
// is finished is copied to the canvas. And surfaces that the GPU makes.
#include "isosurface.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char sap_glsl_isosurface_vertex[];
extern const char sap_glsl_isosurface[];

enum { POSITIONS, NORMALS, TRIANGLES, BOX, BUFFERS };

static struct {
    GLuint buffer[BUFFERS], arrays[2]; // arrays: of the mesh, of the box
    GLuint program, lines, copy;
    GLuint framebuffer, resolved;            // multisampled; and what it becomes
    GLuint color, depth, texture, one_depth; // of them
    int32_t width, height;                   // of the framebuffers
    int64_t vertices, triangles, next;       // drawn so far
    float from[3], to[3];                    // corners of the volume
    float project[16], eye[3];               // of the picture that is being drawn
    bool fine;                               // that picture is multisampled
    sap_isosurface* made;                    // by the GPU, in host memory
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
        scene.from[a] = 0;
        scene.to[a] = size[a];
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
    scene.copy = page_program(NULL, sap_glsl_isosurface, "#define SAP_PASS 2\n");
    glGenVertexArrays(2, scene.arrays);
    glGenBuffers(BUFFERS, scene.buffer);
    return scene.program && scene.lines && scene.copy;
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
               ? page_fail(SAP_ERROR_DEVICE_MEMORY, "The GPU has no memory for %.0f triangles.", triangle_count)
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

// ---- Where one looks from

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// A perspective of 32 degrees about the middle of the volume, z up; angles in radians. At zoom 1 the volume fits.
static void look(float yaw, float pitch, float zoom, float shift_x, float shift_y) {
    float middle[3], radius = 0;
    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5f * (scene.from[i] + scene.to[i]);
        radius += 0.25f * (scene.to[i] - scene.from[i]) * (scene.to[i] - scene.from[i]);
    }
    radius = sqrtf(radius);
    const float aspect = (float)scene.width / (float)scene.height, tangent = 0.28675f;
    const float fit = tangent * fminf(1, aspect), distance = 0.72f * radius / (zoom * fit) + 0.3f * radius;
    const float cp = cosf(pitch), sp = sinf(pitch), cy = cosf(yaw), sy = sinf(yaw);
    const float back[3] = {cp * cy, cp * sy, sp}, right[3] = {-sy, cy, 0}, up[3] = {-sp * cy, -sp * sy, cp};
    for (int i = 0; i < 3; i++) {
        middle[i] -= radius * (shift_x * right[i] + shift_y * up[i]);
        scene.eye[i] = middle[i] + distance * back[i];
    }
    const float far = distance + 2.2f * radius, near = fmaxf(0.02f * radius, distance - 2.2f * radius);
    const float* const axes[3] = {right, up, back};
    float view[3][4];
    for (int r = 0; r < 3; r++) {
        memcpy(view[r], axes[r], 3 * sizeof(float));
        view[r][3] = -dot(axes[r], scene.eye);
    }
    for (int c = 0; c < 4; c++) {
        float depth = view[2][c];
        scene.project[4 * c] = view[0][c] / (tangent * aspect);
        scene.project[4 * c + 1] = view[1][c] / tangent;
        scene.project[4 * c + 2] = (far + near) / (near - far) * depth + (c == 3 ? 2 * far * near / (near - far) : 0);
        scene.project[4 * c + 3] = -depth;
    }
}

// ---- Drawing

static void free_targets(void) {
    const GLuint framebuffers[2] = {scene.framebuffer, scene.resolved},
                 renderbuffers[3] = {scene.color, scene.depth, scene.one_depth};
    glDeleteFramebuffers(2, framebuffers);
    glDeleteRenderbuffers(3, renderbuffers);
    glDeleteTextures(1, &scene.texture);
    scene.framebuffer = scene.resolved = scene.color = scene.depth = scene.texture = scene.one_depth = 0;
    scene.width = scene.height = 0;
}

static void make_targets(int32_t width, int32_t height) {
    if (scene.width == width && scene.height == height) return;
    free_targets();
    scene.width = width;
    scene.height = height;
    glGenFramebuffers(1, &scene.framebuffer);
    glGenFramebuffers(1, &scene.resolved);
    glGenRenderbuffers(1, &scene.color);
    glGenRenderbuffers(1, &scene.depth);
    glGenRenderbuffers(1, &scene.one_depth);
    glGenTextures(1, &scene.texture);
    GLint most = 1;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    const GLsizei samples = most < 4 ? most : 4;
    glBindRenderbuffer(GL_RENDERBUFFER, scene.color);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, scene.depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, scene.one_depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, scene.texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, scene.framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, scene.color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, scene.depth);
    glBindFramebuffer(GL_FRAMEBUFFER, scene.resolved);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, scene.texture, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, scene.one_depth);
}

static GLuint target(void) { return scene.fine ? scene.framebuffer : scene.resolved; }

static void use(GLuint program, bool facets, int colors) {
    float size = 0;
    for (int i = 0; i < 3; i++) size = fmaxf(size, scene.to[i]);
    glUseProgram(program);
    glUniformMatrix4fv(page_uniform(program, "project"), 1, GL_FALSE, scene.project);
    glUniform3fv(page_uniform(program, "eye"), 1, scene.eye);
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    glUniform3fv(page_uniform(program, "ink"), 1, page_colors[PAGE_COLOR_INK]);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[PAGE_COLOR_ACCENT]);
    glUniform3f(page_uniform(program, "middle"), 0.5f * scene.to[0], 0.5f * scene.to[1], 0.5f * scene.to[2]);
    glUniform1f(page_uniform(program, "size"), size);
    glUniform1i(page_uniform(program, "facets"), facets);
    glUniform1i(page_uniform(program, "colors"), colors);
}

static void begin(bool box) {
    glBindFramebuffer(GL_FRAMEBUFFER, target());
    glViewport(0, 0, scene.width, scene.height);
    glEnable(GL_DEPTH_TEST);
    glDepthMask(GL_TRUE);
    glDepthFunc(GL_LESS);
    glClearColor(page_colors[PAGE_COLOR_PAPER][0], page_colors[PAGE_COLOR_PAPER][1], page_colors[PAGE_COLOR_PAPER][2],
                 1);
    glClearDepthf(1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    if (!box) return;
    use(scene.lines, false, 0);
    glBindVertexArray(scene.arrays[1]);
    glDrawArrays(GL_LINES, 0, 24);
}

static void show(void) {
    if (scene.fine) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, scene.framebuffer);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, scene.resolved);
        glBlitFramebuffer(0, 0, scene.width, scene.height, 0, 0, scene.width, scene.height, GL_COLOR_BUFFER_BIT,
                          GL_NEAREST);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    page_texture(scene.copy, "picture", 0, 0, scene.texture);
    page_rectangle(scene.copy, (int32_t[4]){0, 0, scene.width, scene.height});
}

// Begins a picture, multisampled if it is to be fine.
PAGE_EXPORT void isosurface_begin(int width, int height, double yaw, double pitch, double zoom, double shift_x,
                                  double shift_y, int box, int fine) {
    if (!start()) return;
    make_targets(width, height);
    look((float)yaw, (float)pitch, (float)zoom, (float)shift_x, (float)shift_y);
    scene.next = 0;
    scene.fine = fine != 0;
    glDisable(GL_BLEND);
    begin(box != 0);
    glBindVertexArray(0);
    glDisable(GL_DEPTH_TEST);
}

// Draws so many triangles more, in colours 0 of the body, 1 of normals; how many are left. When there are none
// the canvas gets the picture.
PAGE_EXPORT double isosurface_frame(double share, int facets, int colors) {
    if (!scene.program || !scene.framebuffer) return 0;
    int64_t count = scene.triangles - scene.next;
    if (count > (int64_t)share) count = (int64_t)share;
    glBindFramebuffer(GL_FRAMEBUFFER, target());
    glViewport(0, 0, scene.width, scene.height);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
    use(scene.program, facets != 0, colors);
    glBindVertexArray(scene.arrays[0]);
    if (count)
        glDrawElements(GL_TRIANGLES, (GLsizei)(3 * count), GL_UNSIGNED_INT, (const void*)(uintptr_t)(12 * scene.next));
    glBindVertexArray(0);
    glDisable(GL_DEPTH_TEST);
    scene.next += count;
    if (scene.next < scene.triangles) {
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        return (double)(scene.triangles - scene.next);
    }
    show();
    return 0;
}

// Frees what the context holds, also after it was lost.
PAGE_EXPORT void isosurface_stop(void) {
    sap_isosurface_free(scene.made);
    free_targets();
    glDeleteVertexArrays(2, scene.arrays);
    glDeleteBuffers(BUFFERS, scene.buffer);
    glDeleteProgram(scene.program);
    glDeleteProgram(scene.lines);
    glDeleteProgram(scene.copy);
    memset(&scene, 0, sizeof scene);
}
