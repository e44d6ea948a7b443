// The picture of the scene Photons on the page's thread: the room, or the light that the worker has found; photons as discs,
// some at a time; their last flights, and the lamp.
#include "photons.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

extern const char sap_glsl_photons_vertex[];
extern const char sap_glsl_photons[];

enum { ROOM, DOTS, FLIGHTS, LAMP, LIGHT, PASSES };
enum { PARTS = 64, ROOM_CORNERS = 36 };

// Photons that came with one answer of the worker, those of the global map first.
typedef struct part {
    GLuint buffer;
    int64_t global, count;
} part;

// The light of a picture's cells.
typedef struct layer {
    GLuint texture;
    int32_t wide, high, step;
    int32_t done; // rows
} layer;

static struct {
    GLuint program[PASSES], arrays[PASSES], buffer[3]; // buffers: vertices and triangles of the mesh, flights
    page_space space;
    int64_t corners; // of all triangles
    part parts[PARTS];
    int32_t part_count;
    GLsizei flight_ends;
    layer layers[2]; // complete; and a finer one of which rows come
    float lamp[4];   // middle and side
    int64_t next;    // dot to be drawn
    double size, exposure, flight;
    int tint, maps, show;
} scene;

static bool start(void) {
    char defines[32] = "#define SAP_PASS 0\n";
    if (scene.program[LIGHT]) return true;
    for (int i = 0; i < PASSES; i++) {
        defines[17] = (char)('0' + i);
        scene.program[i] = page_program(i == LIGHT ? NULL : sap_glsl_photons_vertex, sap_glsl_photons, defines);
        if (!scene.program[i]) return false;
    }
    glGenVertexArrays(PASSES, scene.arrays);
    glGenBuffers(3, scene.buffer);
    for (int i = 0; i < 2; i++) {
        glGenTextures(1, &scene.layers[i].texture);
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D, scene.layers[i].texture);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    }
    return true;
}

static sap_status is_there(void) {
    if (!page_gl()) return page_fail(SAP_ERROR_NO_DEVICE, "There is no graphics context.");
    return start() ? SAP_OK : SAP_ERROR_UNSUPPORTED;
}

static sap_status has_memory(void) {
    return glGetError() == GL_OUT_OF_MEMORY ? page_fail(SAP_ERROR_DEVICE_MEMORY, "The GPU has no memory for this.")
                                            : SAP_OK;
}

// Photons are gone, and with them the light.
PAGE_EXPORT void photons_clear(void) {
    for (int i = 0; i < scene.part_count; i++) glDeleteBuffers(1, &scene.parts[i].buffer);
    scene.part_count = 0;
    scene.flight_ends = 0;
    scene.layers[0].wide = scene.layers[1].wide = 0;
}

// Takes a room into the context (photons_made, photons_mesh).
PAGE_EXPORT sap_status job_photons_put_room(page_job* job) {
    const sap_status status = is_there();
    if (status != SAP_OK) return status;
    photons_clear();
    scene.corners = job->in_bytes[PHOTONS_MESH_TRIANGLES] / 4;
    for (int i = 0; i < 4; i++) scene.lamp[i] = (float)job->number[PHOTONS_MADE_LAMP_X + i];
    photons_frame_room(&scene.space);
    glBindVertexArray(scene.arrays[ROOM]);
    glBindBuffer(GL_ARRAY_BUFFER, scene.buffer[0]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)job->in_bytes[PHOTONS_MESH_VERTICES], job->in[PHOTONS_MESH_VERTICES],
                 GL_STATIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, scene.buffer[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)job->in_bytes[PHOTONS_MESH_TRIANGLES],
                 job->in[PHOTONS_MESH_TRIANGLES], GL_STATIC_DRAW);
    glBindVertexArray(0);
    return has_memory();
}

static void describe_dots(GLuint arrays, GLuint buffer) {
    const GLsizei stride = PHOTONS_DOT_FIELDS * 4;
    glBindVertexArray(arrays);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    for (GLuint i = 0; i < 3; i++) glEnableVertexAttribArray(i);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, NULL);
    glVertexAttribPointer(1, 4, GL_BYTE, GL_TRUE, stride, (const void*)(size_t)(PHOTONS_DOT_NORMAL * 4));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, stride, (const void*)(size_t)(PHOTONS_DOT_COLOR * 4));
}

static void fill(GLuint buffer, const page_job* job, int from) {
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)job->in_bytes[from], job->in[from], GL_STATIC_DRAW);
}

// Adds photons, and flights in place of those that there are (photons_sent, photons_buffer).
PAGE_EXPORT sap_status job_photons_put_dots(page_job* job) {
    const sap_status status = is_there();
    if (status != SAP_OK) return status;
    if (scene.part_count == PARTS) return page_fail(SAP_ERROR_RANGE, "There are too many parts.");
    part* p = &scene.parts[scene.part_count++];
    p->global = (int64_t)job->number[PHOTONS_SENT_MORE];
    p->count = job->in_bytes[PHOTONS_BUFFER_DOTS] / (PHOTONS_DOT_FIELDS * 4);
    glBindVertexArray(0);
    glGenBuffers(1, &p->buffer);
    fill(p->buffer, job, PHOTONS_BUFFER_DOTS);
    fill(scene.buffer[2], job, PHOTONS_BUFFER_FLIGHTS);
    scene.flight_ends = (GLsizei)(job->in_bytes[PHOTONS_BUFFER_FLIGHTS] / (PHOTONS_DOT_FIELDS * 4));
    describe_dots(scene.arrays[FLIGHTS], scene.buffer[2]);
    glBindVertexArray(0);
    return has_memory();
}

// Adds rows of light (photons_lit, photons_put). A picture of other cells takes the place of the last when its last row is
// there.
PAGE_EXPORT sap_status job_photons_put_light(page_job* job) {
    const sap_status status = is_there();
    if (status != SAP_OK) return status;
    layer* l = &scene.layers[1];
    const int32_t row = (int32_t)job->number[PHOTONS_PUT_ROW], rows = (int32_t)job->number[PHOTONS_LIT_ROWS],
                  wide = (int32_t)job->number[PHOTONS_LIT_WIDE], high = (int32_t)job->number[PHOTONS_LIT_HIGH];
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, l->texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    if (l->wide != wide || l->high != high)
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, wide, high, 0, GL_RGBA, GL_FLOAT, NULL);
    *l = (layer){l->texture, wide, high, (int32_t)job->number[PHOTONS_PUT_STEP], row + rows};
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, row, wide, rows, GL_RGBA, GL_FLOAT, job->in[0]);
    if (l->done == high) {
        const layer done = *l;
        *l = scene.layers[0];
        l->done = 0;
        scene.layers[0] = done;
    }
    return has_memory();
}

// Rows that have come are not to be seen: they are of another view.
PAGE_EXPORT void photons_hide_rows(void) { scene.layers[1].done = 0; }

// How photons look: a disc's radius, a photons_tint, bits of photons_map, a photons_show; and how bright the light is.
PAGE_EXPORT void photons_show(double size, int tint, int maps, int show, double exposure) {
    scene.size = size;
    scene.tint = tint;
    scene.maps = maps;
    scene.show = show;
    scene.exposure = exposure;
}

// Begins a picture, multisampled if it is to be fine.
PAGE_EXPORT void photons_begin(int width, int height, double yaw, double pitch, double zoom, double shift_x,
                               double shift_y, int fine) {
    const page_view view = {yaw, pitch, zoom, shift_x, shift_y};
    scene.next = 0;
    if (start()) (void)page_space_begin(&scene.space, width, height, &view, fine != 0);
}

static void use(int pass) {
    const GLuint program = scene.program[pass];
    const page_space* s = &scene.space;
    glUseProgram(program);
    glUniformMatrix4fv(page_uniform(program, "project"), 1, GL_FALSE, s->project);
    glUniform3fv(page_uniform(program, "eye"), 1, s->eye);
    glUniformMatrix3fv(page_uniform(program, "turn"), 1, GL_TRUE, s->turn);
    glUniform2fv(page_uniform(program, "depths"), 1, s->depths);
    glUniform1f(page_uniform(program, "size"), (float)scene.size);
    glUniform1f(page_uniform(program, "pixels"), (float)s->height / s->tangent);
    glUniform1i(page_uniform(program, "tint"), scene.tint);
    glUniform1i(page_uniform(program, "maps"), scene.maps);
    glUniform1f(page_uniform(program, "flight"), (float)scene.flight);
    glUniform1f(page_uniform(program, "least"), s->fine ? 0.1f : 0.5f);
    glUniform4fv(page_uniform(program, "lamp"), 1, scene.lamp);
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    glBindVertexArray(scene.arrays[pass]);
}

static void draw_light(void) {
    const GLuint program = scene.program[LIGHT];
    const int32_t all[4] = {0, 0, scene.space.width, scene.space.height};
    glDisable(GL_DEPTH_TEST);
    page_texture(program, "complete", 0, 0, scene.layers[0].texture);
    page_texture(program, "coming", 1, 0, scene.layers[1].texture);
    for (int i = 0; i < 2; i++) {
        const layer* l = &scene.layers[i];
        glUniform4i(page_uniform(program, i ? "coming_size" : "complete_size"), l->wide, l->high, l->step,
                    l->wide ? l->done : 0);
    }
    glUniform1f(page_uniform(program, "exposure"), (float)scene.exposure);
    glUniform1f(page_uniform(program, "height"), (float)scene.space.height);
    glUniform3fv(page_uniform(program, "paper"), 1, page_colors[PAGE_COLOR_PAPER]);
    page_rectangle(program, all);
    glEnable(GL_DEPTH_TEST);
}

// The light, over which the mesh is drawn in depth alone; or the mesh.
static void draw_behind(void) {
    const bool lit = scene.show != PHOTONS_SHOW_DOTS && scene.layers[0].wide;
    if (lit) {
        draw_light();
        glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    }
    use(ROOM);
    glUniform1i(page_uniform(scene.program[ROOM], "is_room"), 1);
    glDrawElements(GL_TRIANGLES, ROOM_CORNERS, GL_UNSIGNED_INT, NULL);
    glUniform1i(page_uniform(scene.program[ROOM], "is_room"), 0);
    glDrawElements(GL_TRIANGLES, (GLsizei)(scene.corners - ROOM_CORNERS), GL_UNSIGNED_INT,
                   (const void*)(size_t)(ROOM_CORNERS * 4));
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    use(LAMP);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

// Dots from scene.next on, at most so many.
static void draw_dots(int64_t count) {
    int64_t first = scene.next;
    use(DOTS);
    if (scene.space.fine) glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    for (int i = 0; i < scene.part_count && count > 0; i++) {
        const part* p = &scene.parts[i];
        if (first < p->count) {
            const int64_t some = p->count - first < count ? p->count - first : count;
            describe_dots(scene.arrays[DOTS], p->buffer);
            glDrawArrays(GL_POINTS, (GLint)first, (GLsizei)some);
            count -= some;
            scene.next += some;
            first = 0;
        } else {
            first -= p->count;
        }
    }
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
}

// Photons that are drawn: those that fly have not landed yet.
static int64_t landed(void) {
    int64_t count = 0;
    const bool flies = scene.flight > 0 && scene.flight < 1;
    for (int i = 0; i < scene.part_count - flies; i++) count += scene.parts[i].count;
    return scene.show == PHOTONS_SHOW_LIGHT ? 0 : count;
}

// Draws so many dots more; how many are left. When there are none the flights follow, and the canvas gets the picture.
// `flight`: how far photons have come on their last flight, from 0 to 1; 1: they have landed; with `lines` flights stay.
PAGE_EXPORT double photons_frame(double share, double flight, int lines) {
    if (!scene.program[LIGHT] || !scene.space.copy || !scene.corners) return 0;
    scene.flight = flight;
    const int64_t all = landed();
    page_space_enter(&scene.space);
    if (scene.next == 0) draw_behind();
    if (scene.next < all) draw_dots(all - scene.next < (int64_t)share ? all - scene.next : (int64_t)share);
    if (scene.next >= all && scene.flight_ends && (flight < 1 || lines)) {
        use(FLIGHTS);
        glDrawArrays(GL_LINES, 0, scene.flight_ends);
    }
    page_space_leave();
    if (scene.next < all) return (double)(all - scene.next);
    page_space_show(&scene.space);
    return 0;
}

// Where the picture is seen from (space_camera).
PAGE_EXPORT double* photons_seen(void) { return page_space_camera(&scene.space); }

// Frees what the context holds, also after it was lost.
PAGE_EXPORT void photons_stop(void) {
    photons_clear();
    page_space_free(&scene.space);
    glDeleteVertexArrays(PASSES, scene.arrays);
    glDeleteBuffers(3, scene.buffer);
    for (int i = 0; i < 2; i++) glDeleteTextures(1, &scene.layers[i].texture);
    for (int i = 0; i < PASSES; i++) glDeleteProgram(scene.program[i]);
    memset(&scene, 0, sizeof scene);
}
