// The picture of the scene Cloud on the page's thread: points as discs that lie as their normals say, some at a time, then
// normals and pairs as lines.
#include "cloud_fields.h"
#include "space.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

extern const char sap_glsl_cloud_vertex[];
extern const char sap_glsl_cloud[];

enum { POINTS, NORMALS, PAIRS, PASSES };
enum { MOST_NORMALS = 6000 }; // that are drawn

static struct {
    GLuint program[PASSES], arrays[PASSES], buffer[2]; // buffers in the order of cloud_buffer
    page_space space;
    int64_t points, still, ends; // ends of pairs
    int64_t next;                // point to be drawn
    double spacing;
    double disc; // radius in spacings
    int colors;
    bool dark;
} scene;

static bool start(void) {
    static const char* const defines[PASSES] = {"#define SAP_PASS 0\n", "#define SAP_PASS 1\n", "#define SAP_PASS 2\n"};
    if (scene.program[PAIRS]) return true;
    for (int i = 0; i < PASSES; i++) {
        scene.program[i] = page_program(sap_glsl_cloud_vertex, sap_glsl_cloud, defines[i]);
        if (!scene.program[i]) return false;
    }
    glGenVertexArrays(PASSES, scene.arrays);
    glGenBuffers(2, scene.buffer);
    return true;
}

// A point's numbers go with each vertex, or with each instance.
static void describe_vertices(GLuint arrays, bool instances) {
    static const struct {
        GLint numbers;
        size_t at;
    } parts[3] = {{3, CLOUD_VERTEX_X}, {3, CLOUD_VERTEX_NORMAL_X}, {1, CLOUD_VERTEX_VALUE}};
    glBindVertexArray(arrays);
    for (GLuint i = 0; i < 3; i++) {
        glEnableVertexAttribArray(i);
        glVertexAttribPointer(i, parts[i].numbers, GL_FLOAT, GL_FALSE, CLOUD_VERTEX_FIELDS * 4,
                              (const void*)(parts[i].at * 4));
        glVertexAttribDivisor(i, instances);
    }
}

// Takes the answer of a job of the worker into the context (cloud_state, cloud_buffer).
PAGE_EXPORT sap_status job_cloud_put(page_job* job) {
    const double* number = job->number;
    if (!page_gl()) return page_fail(SAP_ERROR_NO_DEVICE, "There is no graphics context.");
    if (!start()) return SAP_ERROR_UNSUPPORTED;
    scene.points = (int64_t)number[CLOUD_STATE_POINTS];
    scene.still = (int64_t)number[CLOUD_STATE_STILL];
    scene.spacing = number[CLOUD_STATE_SPACING];
    scene.ends = job->in_bytes[CLOUD_BUFFER_PAIRS] / 12;
    for (int a = 0; a < 3; a++) {
        scene.space.from[a] = (float)number[CLOUD_STATE_LOWER_X + a];
        scene.space.to[a] = (float)number[CLOUD_STATE_UPPER_X + a];
    }
    glBindVertexArray(0);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_ARRAY_BUFFER, scene.buffer[i]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)job->in_bytes[i], job->in[i], GL_DYNAMIC_DRAW);
    }
    glBindVertexArray(scene.arrays[PAIRS]);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, scene.buffer[CLOUD_BUFFER_VERTICES]);
    describe_vertices(scene.arrays[POINTS], false);
    describe_vertices(scene.arrays[NORMALS], true);
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    return glGetError() == GL_OUT_OF_MEMORY
               ? page_fail(SAP_ERROR_DEVICE_MEMORY, "The GPU has no memory for %lld points.", (long long)scene.points)
               : SAP_OK;
}

// Few points are as far apart as the scan is long, and would be discs that hide one another.
static double drawn_spacing(void) {
    double side = 0;
    for (int a = 0; a < 3; a++) side = fmax(side, (double)(scene.space.to[a] - scene.space.from[a]));
    return fmin(scene.spacing, 0.08 * side);
}
static bool are_few(void) { return drawn_spacing() < scene.spacing; }

static void use(int pass, double size) {
    const GLuint program = scene.program[pass];
    const page_space* s = &scene.space;
    double middle = 0;
    for (int a = 0; a < 3; a++)
        middle += (double)s->turn[6 + a] * ((double)s->eye[a] - 0.5 * (double)s->from[a] - 0.5 * (double)s->to[a]);
    glUseProgram(program);
    glUniformMatrix4fv(page_uniform(program, "project"), 1, GL_FALSE, s->project);
    glUniform3fv(page_uniform(program, "eye"), 1, s->eye);
    glUniformMatrix3fv(page_uniform(program, "turn"), 1, GL_TRUE, s->turn);
    glUniform2fv(page_uniform(program, "depths"), 1, s->depths);
    glUniform1f(page_uniform(program, "size"), (float)size);
    glUniform1f(page_uniform(program, "pixels"), (float)s->height / s->tangent);
    glUniform1f(page_uniform(program, "middle"), (float)middle);
    glUniform1i(page_uniform(program, "first"), (GLint)scene.still);
    glUniform1i(page_uniform(program, "every"), (GLint)(scene.points / MOST_NORMALS + 1));
    glUniform1i(page_uniform(program, "colors"), scene.colors);
    glUniform1f(page_uniform(program, "dark"), scene.dark ? 1 : 0);
    glUniform1f(page_uniform(program, "least"), s->fine ? 0.1f : 0.5f);
    // The inside of a body shows between its points; a few points are none.
    glUniform1f(page_uniform(program, "inside"), are_few() ? 0 : 0.72f);
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    glUniform3fv(page_uniform(program, "ink"), 1, page_colors[PAGE_COLOR_INK]);
    glUniform3fv(page_uniform(program, "accent"), 1, page_colors[PAGE_COLOR_ACCENT]);
    glBindVertexArray(scene.arrays[pass]);
}

// How points look: a disc's radius in spacings, a cloud_color, whether the paper is dark.
PAGE_EXPORT void cloud_show(double disc, int colors, int dark) {
    scene.disc = disc;
    scene.colors = colors;
    scene.dark = dark != 0;
}

// Begins a picture, multisampled if it is to be fine.
PAGE_EXPORT void cloud_begin(int width, int height, double yaw, double pitch, double zoom, double shift_x,
                             double shift_y, int fine) {
    const page_view view = {yaw, pitch, are_few() ? 0.7 * zoom : zoom, shift_x, shift_y}; // corners hold some of a few
    scene.next = 0;
    if (start()) (void)page_space_begin(&scene.space, width, height, &view, fine != 0);
}

// Draws so many points more; how many are left. When there are none the lines follow, and the canvas gets the picture.
PAGE_EXPORT double cloud_frame(double share, int normals, int pairs) {
    if (!scene.program[PAIRS] || !scene.space.copy) return 0;
    int64_t count = scene.points - scene.next;
    if (count > (int64_t)share) count = (int64_t)share;
    page_space_enter(&scene.space);
    use(POINTS, scene.disc * drawn_spacing());
    if (scene.space.fine) glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    if (count) glDrawArrays(GL_POINTS, (GLint)scene.next, (GLsizei)count);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    scene.next += count;
    if (scene.next == scene.points) {
        use(NORMALS, 1.6 * drawn_spacing());
        if (normals) glDrawArraysInstanced(GL_LINES, 0, 2, (GLsizei)scene.points);
        use(PAIRS, 0);
        if (pairs && scene.ends) glDrawArrays(GL_LINES, 0, (GLsizei)scene.ends);
    }
    page_space_leave();
    if (scene.next < scene.points) return (double)(scene.points - scene.next);
    page_space_show(&scene.space);
    return 0;
}

// Where the picture is seen from (space_camera).
PAGE_EXPORT double* cloud_seen(void) { return page_space_camera(&scene.space); }

// Frees what the context holds, also after it was lost.
PAGE_EXPORT void cloud_stop(void) {
    page_space_free(&scene.space);
    glDeleteVertexArrays(PASSES, scene.arrays);
    glDeleteBuffers(2, scene.buffer);
    for (int i = 0; i < PASSES; i++) glDeleteProgram(scene.program[i]);
    memset(&scene, 0, sizeof scene);
}
