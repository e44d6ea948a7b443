// The passes of a picture: each has samples and photons of its own. How they differ tells how much noise is left.
#include "base/assert.h"
#include "render/picture.h"

#include <string.h>

enum { PHOTON_PART = 8 }; // of a pass that photons are said to take

double sap_picture_done(const sap_picture* picture, int32_t pass, double rays) {
    const double part = picture->options.photons ? (1 + (PHOTON_PART - 1) * rays) / PHOTON_PART : rays;
    return (pass + part) / picture->options.passes;
}

static sap_status draw_pass(sap_picture* picture, const sap_render_ops* steps, int32_t pass) {
    sap_status status = SAP_OK;
    if (picture->options.photons) {
        const double start = sap_seconds_now(), from = (double)pass / picture->options.passes;
        status = sap_lighting_begin(picture, pass, from, sap_picture_done(picture, pass, 0));
        picture->photon_seconds += sap_seconds_now() - start;
    }
    sap_progress_mute(true);
    if (status == SAP_OK) status = sap_picture_draw_tiles(picture, steps, pass);
    sap_progress_mute(false);
    sap_lighting_end(picture);
    return status;
}

// ---- Noise. Arrays hold the three colours of each pixel.

typedef struct noise {
    float *sums, *before; // after this pass, and after the one before
    double* squares;      // of what each pass has added
    int64_t count;
} noise;

static sap_status noise_begin(const sap_picture* picture, noise* n, sap_scratch* memory) {
    const int64_t count = (int64_t)picture->scene.width * picture->scene.height * 3;
    const size_t each = sizeof *n->squares + 2 * sizeof *n->sums, bytes = (size_t)count * each;
    if (!sap_scratch_take(picture->device, bytes, memory))
        return sap_fail(picture->device, SAP_ERROR_MEMORY, "no memory to estimate errors");
    memset(memory->memory, 0, bytes);
    n->squares = (double*)(void*)memory->memory;
    n->sums = (float*)(void*)(n->squares + count);
    n->before = n->sums + count;
    n->count = count;
    return SAP_OK;
}

// The variance of the mean of `passes` is (sum of x^2 - (sum of x)^2 / passes) / (passes (passes - 1)).
static sap_status noise_measure(sap_picture* picture, const sap_render_ops* steps, noise* n, int32_t passes) {
    sap_status status = steps->fetch(picture, n->sums);
    if (status != SAP_OK) return status;
    double variance = 0, brightness = 0;
    for (int64_t i = 0; i < n->count; i++) {
        const double sum = (double)n->sums[i], added = sum - (double)n->before[i];
        n->squares[i] += added * added;
        n->before[i] = n->sums[i];
        brightness += sum / passes;
        const double spread = n->squares[i] - sum * sum / passes;
        if (passes > 1 && spread > 0) variance += spread / passes / (passes - 1);
    }
    const double mean = brightness / (double)n->count;
    picture->error = passes < 2 ? INFINITY : mean > 0 ? (float)(sqrt(variance / (double)n->count) / mean) : 0;
    return SAP_OK;
}

sap_status sap_picture_draw_passes(sap_picture* picture, const sap_render_ops* steps) {
    const sap_render_options* o = &picture->options;
    noise n = {.count = 0};
    sap_scratch memory = {0};
    sap_status status = o->until_error > 0 ? noise_begin(picture, &n, &memory) : SAP_OK;
    bool more = true;
    while (more && status == SAP_OK) {
        status = draw_pass(picture, steps, picture->drawn);
        if (status != SAP_OK) break;
        picture->drawn++;
        if (n.count > 0) status = noise_measure(picture, steps, &n, picture->drawn);
        more = picture->drawn < o->passes && !(o->until_error > 0 && picture->error <= o->until_error);
    }
    if (status == SAP_OK && picture->drawn < o->passes && !sap_progress_tell(picture->device, 1))
        status = sap_fail(picture->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    picture->scene.samples = o->samples * picture->drawn;
    sap_scratch_give(picture->device, &memory);
    return status;
}
