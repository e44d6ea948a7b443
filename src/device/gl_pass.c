// Passes: one triangle over a rectangle of the targets.
#include "base/assert.h"
#include "device/gl.h"

// The framebuffer with the pass's targets. False: they do not fit together, or the context cannot write them.
bool sap_gl_attach(sap_gl_call* call, const sap_gl_pass* pass) {
    const sap_gl_calls* f = call->f;
    GLenum buffers[SAP_GL_TARGETS];
    int count = 0;
    f->BindFramebuffer(GL_FRAMEBUFFER, pass->is_shown ? pass->framebuffer : call->gl->framebuffer);
    if (pass->is_shown) return true;
    while (count < SAP_GL_TARGETS && pass->target[count]) count++;
    SAP_ASSERT(count > 0 && call->gl->most_targets <= SAP_GL_TARGETS);
    if (count > call->gl->most_targets) {
        sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "%s: writes %d textures at once; GL_MAX_DRAW_BUFFERS here is %d",
                    pass->name, count, (int)call->gl->most_targets);
        return false;
    }
    for (int i = 0; i < call->gl->most_targets; i++) {
        GLuint texture = i < count ? pass->target[i] : 0;
        f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + (GLenum)i, GL_TEXTURE_2D, texture,
                                texture ? pass->level : 0);
        buffers[i] = GL_COLOR_ATTACHMENT0 + (GLenum)i;
    }
    if (call->gl->version >= 30) f->DrawBuffers(count, buffers);
    if (!call->f->check_passes) return true;
    GLenum status = f->CheckFramebufferStatus(GL_FRAMEBUFFER);
    if (status == GL_FRAMEBUFFER_COMPLETE || !sap_gl_check(call, pass->name)) return call->status == SAP_OK;
    sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "%s: OpenGL cannot write these textures (0x%04x)", pass->name,
                (unsigned)status);
    return false;
}

void sap_gl_use(sap_gl_call* call, const sap_gl_pass* pass) {
    const sap_gl_calls* f = call->f;
    f->UseProgram(pass->program);
    SAP_ASSERT(call->gl->version >= 30 || !pass->input[SAP_GL_OLD_UNITS].sampler);
    for (int i = 0; i < SAP_GL_UNITS && pass->input[i].sampler; i++) {
        const sap_gl_input* input = &pass->input[i];
        f->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        f->BindTexture(input->kind ? input->kind : GL_TEXTURE_2D, input->texture);
        f->Uniform1i(f->GetUniformLocation(pass->program, input->sampler), i);
    }
}

// What an image unit is bound to: texture, level, layered, layer, access and format, as OpenGL ES 3.1 numbers them.
typedef struct image_unit {
    GLint value[6];
} image_unit;

static void save_image_unit(const sap_gl_calls* f, GLuint unit, image_unit* found) {
    static const GLenum what[6] = {0x8F3A, 0x8F3B, 0x8F3C, 0x8F3D, 0x8F3E, 0x906E};
    for (int i = 0; i < 6; i++) f->GetIntegeri_v(what[i], unit, &found->value[i]);
}

static void restore_image_unit(const sap_gl_calls* f, GLuint unit, const image_unit* found) {
    const GLint* v = found->value;
    f->BindImageTexture(unit, (GLuint)v[0], v[1], (GLboolean)v[2], v[3], (GLenum)v[4], (GLenum)v[5]);
}

// A compute shader over the rectangle, which begins at (0, 0).
static void dispatch(sap_gl_call* call, const sap_gl_pass* pass) {
    enum { WRITE_ONLY = 0x88B9 };
    const sap_gl_calls* f = call->f;
    image_unit found[SAP_GL_TARGETS]; // the caller's
    GLuint units = 0;
    sap_gl_use(call, pass);
    while (units < SAP_GL_TARGETS && pass->target[units]) units++;
    SAP_ASSERT((int32_t)units <= call->gl->most_images && !pass->rectangle[0] && !pass->rectangle[1]);
    for (GLuint i = 0; i < units && !call->gl->own_context; i++) save_image_unit(f, i, &found[i]);
    for (GLuint i = 0; i < units; i++) f->BindImageTexture(i, pass->target[i], 0, GL_FALSE, 0, WRITE_ONLY, GL_RGBA32UI);
    f->DispatchCompute((GLuint)(pass->rectangle[2] + SAP_GL_GROUP_X - 1) / SAP_GL_GROUP_X,
                       (GLuint)(pass->rectangle[3] + SAP_GL_GROUP_Y - 1) / SAP_GL_GROUP_Y, 1);
    f->MemoryBarrier(0xFFFFFFFFu); // for all later reads of the textures
    for (GLuint i = 0; i < units && !call->gl->own_context; i++) restore_image_unit(f, i, &found[i]);
    sap_gl_check_pass(call, pass->name);
}

void sap_gl_draw(sap_gl_call* call, const sap_gl_pass* pass) {
    if (call->status == SAP_OK && pass->compute) {
        dispatch(call, pass);
        return;
    }
    if (call->status != SAP_OK || !sap_gl_attach(call, pass)) return;
    const sap_gl_calls* f = call->f;
    sap_gl_use(call, pass);
    f->BindVertexArray(call->gl->vertices);
    f->Viewport(pass->rectangle[0], pass->rectangle[1], pass->rectangle[2], pass->rectangle[3]);
    f->DrawArrays(GL_TRIANGLES, 0, 3);
    sap_gl_check_pass(call, pass->name);
}
