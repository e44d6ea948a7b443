#include "space.h"
#include <math.h>
#include <string.h>

static const char copy_text[] =
    "uniform sampler2D picture;\n"
    "void main() { color = vec4(texelFetch(picture, ivec2(gl_FragCoord.xy), 0).xyz, 1.0); }\n";

// ---- Where one looks from

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// A perspective of 32 degrees about the middle of the box.
static void look(page_space* s, const page_view* v) {
    float middle[3], radius = 0;
    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5f * (s->from[i] + s->to[i]);
        radius += 0.25f * (s->to[i] - s->from[i]) * (s->to[i] - s->from[i]);
    }
    radius = sqrtf(radius);
    const float yaw = (float)v->yaw, pitch = (float)v->pitch;
    const float aspect = (float)s->width / (float)s->height, tangent = 0.28675f;
    const float fit = tangent * fminf(1, aspect), distance = 0.72f * radius / ((float)v->zoom * fit) + 0.3f * radius;
    const float cp = cosf(pitch), sp = sinf(pitch), cy = cosf(yaw), sy = sinf(yaw);
    const float back[3] = {cp * cy, cp * sy, sp}, right[3] = {-sy, cy, 0}, up[3] = {-sp * cy, -sp * sy, cp};
    for (int i = 0; i < 3; i++) {
        middle[i] -= radius * ((float)v->shift_x * right[i] + (float)v->shift_y * up[i]);
        s->eye[i] = middle[i] + distance * back[i];
    }
    const float far = distance + 2.2f * radius, near = fmaxf(0.02f * radius, distance - 2.2f * radius);
    const float* const axes[3] = {right, up, back};
    float view[3][4];
    for (int r = 0; r < 3; r++) {
        memcpy(view[r], axes[r], 3 * sizeof(float));
        memcpy(s->turn + 3 * r, axes[r], 3 * sizeof(float));
        view[r][3] = -dot(axes[r], s->eye);
    }
    for (int c = 0; c < 4; c++) {
        float depth = view[2][c];
        s->project[4 * c] = view[0][c] / (tangent * aspect);
        s->project[4 * c + 1] = view[1][c] / tangent;
        s->project[4 * c + 2] = (far + near) / (near - far) * depth + (c == 3 ? 2 * far * near / (near - far) : 0);
        s->project[4 * c + 3] = -depth;
    }
    s->tangent = tangent;
    s->depths[0] = (far + near) / (far - near);
    s->depths[1] = 2 * far * near / (near - far);
}

// ---- Framebuffers

static void free_targets(page_space* s) {
    const GLuint framebuffers[2] = {s->framebuffer, s->resolved}, renderbuffers[3] = {s->color, s->depth, s->one_depth};
    glDeleteFramebuffers(2, framebuffers);
    glDeleteRenderbuffers(3, renderbuffers);
    glDeleteTextures(1, &s->texture);
    s->framebuffer = s->resolved = s->color = s->depth = s->texture = s->one_depth = 0;
    s->width = s->height = 0;
}

static void make_targets(page_space* s, int32_t width, int32_t height) {
    if (s->width == width && s->height == height) return;
    free_targets(s);
    s->width = width;
    s->height = height;
    glGenFramebuffers(1, &s->framebuffer);
    glGenFramebuffers(1, &s->resolved);
    glGenRenderbuffers(1, &s->color);
    glGenRenderbuffers(1, &s->depth);
    glGenRenderbuffers(1, &s->one_depth);
    glGenTextures(1, &s->texture);
    GLint most = 1;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    const GLsizei samples = most < 4 ? most : 4;
    glBindRenderbuffer(GL_RENDERBUFFER, s->color);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, s->depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, s->one_depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, s->texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, s->color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, s->depth);
    glBindFramebuffer(GL_FRAMEBUFFER, s->resolved);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, s->texture, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, s->one_depth);
}

// ---- Pictures

void page_space_enter(const page_space* s) {
    glBindFramebuffer(GL_FRAMEBUFFER, s->fine ? s->framebuffer : s->resolved);
    glViewport(0, 0, s->width, s->height);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
    glDepthMask(GL_TRUE);
    glDepthFunc(GL_LESS);
}

void page_space_leave(void) {
    glBindVertexArray(0);
    glDisable(GL_DEPTH_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

bool page_space_begin(page_space* s, int32_t width, int32_t height, const page_view* view, bool fine) {
    if (!s->copy) s->copy = page_program(NULL, copy_text, "");
    if (!s->copy) return false;
    make_targets(s, width, height);
    look(s, view);
    s->fine = fine;
    page_space_enter(s);
    const float* paper = page_colors[PAGE_COLOR_PAPER];
    glClearColor(paper[0], paper[1], paper[2], 1);
    glClearDepthf(1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    page_space_leave();
    return true;
}

void page_space_show(const page_space* s) {
    if (s->fine) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, s->framebuffer);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, s->resolved);
        glBlitFramebuffer(0, 0, s->width, s->height, 0, 0, s->width, s->height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    page_texture(s->copy, "picture", 0, 0, s->texture);
    page_rectangle(s->copy, (int32_t[4]){0, 0, s->width, s->height});
}

double* page_space_camera(const page_space* s) {
    static double camera[SPACE_CAMERA_FIELDS];
    for (int i = 0; i < 3; i++) camera[SPACE_CAMERA_EYE + i] = (double)s->eye[i];
    for (int i = 0; i < 9; i++) camera[SPACE_CAMERA_RIGHT + i] = (double)s->turn[i];
    camera[SPACE_CAMERA_TANGENT] = (double)s->tangent;
    camera[SPACE_CAMERA_ASPECT] = s->height ? (double)s->width / s->height : 1;
    return camera;
}

void page_space_free(page_space* s) {
    free_targets(s);
    glDeleteProgram(s->copy);
    memset(s, 0, sizeof *s);
}
