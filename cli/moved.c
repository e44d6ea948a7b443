#include "moved.h"
#include "near.h"

#include <math.h>
#include <stdlib.h>

static bool are_finite(const float* points, int64_t count) {
    for (int64_t i = 0; i < 3 * count; i++)
        if (!isfinite(points[i])) return false;
    return true;
}

sap_cli_exit sap_cli_moved_check(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->radius == 0 || isinf(o->radius)) return sap_cli_usage(cli, "--radius must be above 0 and finite");
    return sap_cli_cloud_check(cli, &output, 1);
}

sap_cli_exit sap_cli_moved_read(sap_cli* cli, const char* who, sap_cli_moved* m) {
    const char* path = cli->options->operands[0];
    sap_cli_points* points = &m->cloud.reference.points;
    sap_cli_stage_begin(cli, "reading");
    sap_cli_exit result = sap_cli_points_read(cli, path, cli->options->precision, points);
    m->cloud.reference.read_seconds = sap_cli_stage_end(cli);
    if (result == SAP_EXIT_OK) result = sap_cli_points_drop(cli, path, points);
    if (result != SAP_EXIT_OK) return result;
    if (points->dims != 3)
        return sap_cli_error(cli, "%s: has %d columns; %s have 3; --columns chooses them", path, (int)points->dims,
                             who);
    if (sap_cli_near_origin(cli, points, m->origin) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    m->given = sap_cli_near_floats(cli, path, points, m->origin);
    if (!m->given) return SAP_EXIT_FAILED;
    return points->real_bits == 64 && are_finite(m->given, points->count)
               ? sap_cli_near_check(cli, path, points, m->origin, m->given)
               : SAP_EXIT_OK;
}

sap_cli_exit sap_cli_moved_room(sap_cli* cli, int64_t count, sap_cli_moved* m) {
    m->count = count;
    m->moved = sap_cli_allocate(cli, count, 3 * sizeof *m->moved);
    m->written = sap_cli_allocate(cli, count, 3 * sizeof(double));
    return m->moved && m->written ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

sap_cli_exit sap_cli_moved_write(sap_cli* cli, bool keeps, const sap_cli_moved* m) {
    const sap_cli_points* points = &m->cloud.reference.points;
    for (int64_t i = 0; i < 3 * m->count; i++)
        if (points->real_bits == 64)
            ((double*)m->written)[i] = (double)m->moved[i] + m->origin[i % 3];
        else
            ((float*)m->written)[i] = m->moved[i];
    const sap_cli_points moved = {.coords = m->written,
                                  .count = m->count,
                                  .dims = 3,
                                  .real_bits = points->real_bits,
                                  .set = points->set,
                                  .fields = points->fields,
                                  .field_count = keeps ? points->field_count : 0,
                                  .kept = keeps ? points->kept : NULL};
    return sap_cli_cloud_write(cli, &moved, NULL, 0, sap_cli_all_rows(&moved));
}

void sap_cli_moved_free(sap_cli_moved* m) {
    free(m->given);
    free(m->moved);
    free(m->written);
    sap_cli_cloud_close(&m->cloud);
}
