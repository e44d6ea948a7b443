// sapwood render --photons: its options, and photons as a cloud.
#include "photons.h"
#include "cloud.h"

#include <stdlib.h>

sap_cli_exit sap_cli_photons_check(sap_cli* cli) {
    static const char* const more[] = {"caustics", "gather", "progressive", "neighbors",
                                       "radius",   "filter", "seed",        "photon-cloud"};
    const sap_cli_options* o = cli->options;
    for (size_t i = 0; i < sizeof more / sizeof *more && !o->photons; i++)
        if (sap_cli_given(o, more[i])) return sap_cli_usage(cli, "--%s needs --photons", more[i]);
    if (o->photons && o->heat) return sap_cli_usage(cli, "--heat draws no photons");
    if (o->radius == 0) return sap_cli_usage(cli, "--radius must be above 0");
    if (o->progressive && o->passes < 2 && !(o->until_error > 0))
        return sap_cli_usage(cli, "--progressive needs --passes or --until-error");
    if (o->photon_cloud && o->orbit) return sap_cli_usage(cli, "--photon-cloud is for one picture, not for --orbit");
    if (o->photon_cloud && sap_cli_given(o, "frames"))
        return sap_cli_usage(cli, "--photon-cloud is for one picture, not for --frames");
    return SAP_EXIT_OK;
}

const sap_render_photons* sap_cli_photons_options(const sap_cli_options* o, sap_render_photons* to) {
    if (!o->photons) return NULL;
    *to = (sap_render_photons){.count = o->photons,
                               .caustics = o->caustics,
                               .seed = (uint32_t)o->seed,
                               .gather = o->gather,
                               .progressive = o->progressive,
                               .search = {.filter = o->filter}};
    if (sap_cli_given(o, "neighbors")) to->search.k = o->k;
    if (o->radius > 0) to->search.radius = (float)o->radius;
    return to;
}

// ---- The cloud.

// The columns of photons, beside their places.
typedef struct photon_columns {
    double* places;
    float* normals;
    uint8_t* colors;
    int32_t* kinds;
} photon_columns;

static void fill(const sap_photon* photons, int64_t count, const double origin[3], const photon_columns* to) {
    float most = 0;
    for (int64_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) most = photons[i].power[a] > most ? photons[i].power[a] : most;
    for (int64_t i = 0; i < count; i++) {
        const sap_photon* photon = &photons[i];
        for (int a = 0; a < 3; a++) {
            to->places[3 * i + a] = (double)photon->position[a] + origin[a];
            to->normals[3 * i + a] = photon->normal[a];
            to->colors[3 * i + a] = (uint8_t)(most > 0 ? 255 * photon->power[a] / most : 0);
        }
        to->kinds[i] = photon->kind;
    }
}

static sap_cli_exit write_columns(sap_cli* cli, const sap_photon* photons, int64_t count, const double origin[3]) {
    photon_columns c = {.places = sap_cli_allocate(cli, count, 3 * sizeof *c.places),
                        .normals = sap_cli_allocate(cli, count, 3 * sizeof *c.normals),
                        .colors = sap_cli_allocate(cli, count, 3 * sizeof *c.colors),
                        .kinds = sap_cli_allocate(cli, count, sizeof *c.kinds)};
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (c.places && c.normals && c.colors && c.kinds) {
        fill(photons, count, origin, &c);
        const sap_cli_points points = {.coords = c.places, .count = count, .dims = 3, .real_bits = 64};
        const sap_cli_column columns[] = {{{"nx", "ny", "nz"}, "f4", c.normals, 3},
                                          {{"red", "green", "blue"}, "u1", c.colors, 3},
                                          {{"kind"}, "i4", c.kinds, 1}};
        result =
            sap_cli_cloud_write_to(cli, cli->options->photon_cloud, &points, columns, 3, sap_cli_all_rows(&points));
    }
    free(c.places);
    free(c.normals);
    free(c.colors);
    free(c.kinds);
    return result;
}

sap_cli_exit sap_cli_photons_write(sap_cli* cli, const sap_scene* scene) {
    const sap_cli_options* o = cli->options;
    const sap_photon_options options = {.count = o->photons,
                                        .seed = (uint32_t)o->seed,
                                        .ambient = o->ambient > 0 ? (float)o->ambient : -1,
                                        .flat = o->flat};
    sap_photons* photons = NULL;
    sap_photons_info info;
    sap_cli_stage_begin(cli, "sending photons");
    sap_status status = sap_photons_trace(scene, &options, &photons);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    sap_photons_describe(photons, &info);
    sap_photon* list = sap_cli_allocate(cli, info.count, sizeof *list);
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (list) {
        status = sap_photons_read(photons, 0, info.count, list);
        result = status == SAP_OK ? write_columns(cli, list, info.count, scene->file->origin)
                                  : sap_cli_failed(cli, status, NULL);
    }
    free(list);
    sap_photons_free(photons);
    return result;
}
