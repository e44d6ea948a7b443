// Voronoi on the page's thread: what its TypeScript calls, but for the search.
#include "scenes/voronoi.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

voronoi_scene voronoi;

PAGE_EXPORT void voronoi_look(int width, int height, double ratio, double x, double y, double step, double aspect) {
    voronoi.width = width;
    voronoi.height = height;
    voronoi.ratio = ratio;
    voronoi.origin[0] = x;
    voronoi.origin[1] = y;
    voronoi.step = step;
    voronoi.field[0] = aspect;
    voronoi.field[1] = 1;
}

PAGE_EXPORT void voronoi_show(int view, int levels, int dots) {
    voronoi.view = view;
    voronoi.levels = levels;
    voronoi.dots = dots != 0;
}

static void take_sites(page_job* job, int sites) {
    free(voronoi.sites);
    voronoi.sites = job->in[sites];
    voronoi.count = job->in_bytes[sites] / 8;
    voronoi.version++;
    voronoi.chosen_count = 0;
    job->in[sites] = NULL;
}

static void free_form(void) {
    free(voronoi.form.nodes);
    free(voronoi.form.ids);
    voronoi.form = (sap_rgba8_tree){0};
}

// Takes the worker's answer: the sites and a saved tree (voronoi_tree_buffer).
PAGE_EXPORT sap_status job_voronoi_tree(page_job* job) {
    sap_tree* loaded = NULL;
    sap_device* cpu = page_cpu();
    sap_status status =
        cpu ? page_take_tree(cpu, job->in[VORONOI_TREE_BUFFER_TREE], job->in_bytes[VORONOI_TREE_BUFFER_TREE], &loaded)
            : SAP_ERROR_MEMORY;
    if (status == SAP_OK)
        status =
            voronoi.tree ? sap_gl_tree_update(voronoi.tree, loaded) : sap_tree_copy(loaded, page_gl(), &voronoi.tree);
    sap_tree_free(loaded);
    if (status != SAP_OK) return status;
    take_sites(job, VORONOI_TREE_BUFFER_SITES);
    voronoi.compact = false;
    sap_gl_tree_textures textures;
    return sap_gl_tree_describe(voronoi.tree, &textures); // they go up now
}

// The same with the compact form (voronoi_built, voronoi_form_buffer).
PAGE_EXPORT sap_status job_voronoi_form(page_job* job) {
    const double* number = job->number;
    free_form();
    voronoi.form = (sap_rgba8_tree){.width = (int32_t)number[VORONOI_BUILT_FORM_WIDTH],
                                    .height = (int32_t)number[VORONOI_BUILT_FORM_HEIGHT],
                                    .dims = 2,
                                    .lower = {number[VORONOI_BUILT_FORM_LOWER_X], number[VORONOI_BUILT_FORM_LOWER_Y]},
                                    .scale = number[VORONOI_BUILT_FORM_SCALE],
                                    .nodes = job->in[VORONOI_FORM_BUFFER_NODES],
                                    .ids = job->in[VORONOI_FORM_BUFFER_IDS],
                                    .device = page_gl()};
    job->in[VORONOI_FORM_BUFFER_NODES] = job->in[VORONOI_FORM_BUFFER_IDS] = NULL;
    take_sites(job, VORONOI_FORM_BUFFER_SITES);
    voronoi.compact = true;
    return SAP_OK;
}

// The k nearest sites of (x, y), from the compact form's sites by looking at all of them.
static void choose_of_all(const float place[2], int k) {
    float best[VORONOI_CHOSEN];
    int found = 0;
    for (int64_t s = 0; s < voronoi.count; s++) {
        float dx = place[0] - voronoi.sites[2 * s], dy = place[1] - voronoi.sites[2 * s + 1], d2 = dx * dx + dy * dy;
        if (found == k && d2 >= best[k - 1]) continue;
        int i = found < k ? found++ : k - 1;
        for (; i > 0 && best[i - 1] > d2; i--) {
            best[i] = best[i - 1];
            voronoi.chosen[i] = voronoi.chosen[i - 1];
        }
        best[i] = d2;
        voronoi.chosen[i] = (int32_t)s;
    }
    voronoi.chosen_count = found;
}

// The sites nearest to a place (voronoi_choose; voronoi_choice and voronoi_chosen).
PAGE_EXPORT sap_status job_voronoi_choose(page_job* job) {
    double* number = job->number;
    const double x = number[VORONOI_CHOOSE_X], y = number[VORONOI_CHOOSE_Y];
    const float place[2] = {(float)x, (float)y};
    int k = (int)number[VORONOI_CHOOSE_COUNT];
    voronoi.pointer[0] = x;
    voronoi.pointer[1] = y;
    voronoi.chosen_count = 0;
    if (k > 8) k = 8;
    if (k > voronoi.count) k = (int)voronoi.count;
    if (k > 0 && voronoi.compact) {
        choose_of_all(place, k);
    } else if (k > 0 && voronoi.tree) {
        const sap_grid grid = {.width = 1, .height = 1, .origin = {x, y}};
        sap_status status = sap_nearest_grid(voronoi.tree, grid, &(sap_search){.k = k}, voronoi.chosen, NULL);
        if (status != SAP_OK) return status;
        voronoi.chosen_count = k;
    }
    number[VORONOI_CHOICE_COUNT] = voronoi.chosen_count;
    for (int i = 0; i < voronoi.chosen_count; i++) {
        const float* site = voronoi.sites + 2 * voronoi.chosen[i];
        double dx = (double)(place[0] - site[0]), dy = (double)(place[1] - site[1]);
        double* chosen = number + VORONOI_CHOICE_FIRST + VORONOI_CHOSEN_FIELDS * i;
        chosen[VORONOI_CHOSEN_ID] = voronoi.chosen[i];
        chosen[VORONOI_CHOSEN_AWAY] = sqrt(dx * dx + dy * dy);
        chosen[VORONOI_CHOSEN_X] = (double)site[0];
        chosen[VORONOI_CHOSEN_Y] = (double)site[1];
    }
    return SAP_OK;
}

// in[0]: pixels (x, y from above) as int32. Answers their places and the ids that the picture has for them
// (voronoi_sample).
PAGE_EXPORT sap_status job_voronoi_answers(page_job* job) {
    const int32_t* pixels = job->in[0];
    const int64_t count = job->in_bytes[0] / 8;
    float* places = page_answer(job, (size_t)count * 8);
    int32_t* ids = places ? page_answer(job, (size_t)count * 4) : NULL;
    const bool old = page_gl_version() == 1;
    if (!ids) return SAP_ERROR_MEMORY;
    voronoi_aim(voronoi.answers[0]);
    for (int64_t i = 0; i < count; i++) {
        const int32_t x = pixels[2 * i], y = pixels[2 * i + 1];
        uint32_t texel[4] = {0};
        glReadPixels(x, y, 1, 1, old ? GL_RGBA : GL_RGBA_INTEGER, old ? GL_UNSIGNED_BYTE : GL_UNSIGNED_INT, texel);
        const unsigned char* b = (const unsigned char*)texel;
        ids[i] = old ? (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3])
                     : (int32_t)texel[0];
        voronoi_place(x, y, places + 2 * i);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return SAP_OK;
}

// Frees what is in the context, lost or not; the sites go as well.
PAGE_EXPORT void voronoi_stop(void) {
    voronoi_search_stop();
    voronoi_draw_stop();
    voronoi_told_stop();
    sap_tree_free(voronoi.tree);
    free_form();
    free(voronoi.sites);
    memset(&voronoi, 0, sizeof voronoi);
}
