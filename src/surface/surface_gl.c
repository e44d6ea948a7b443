// Surfaces on OpenGL for host memory: the volume goes to the GPU, the surface is extracted there and comes back.
#include "surface/resident_gl.h"
#include "surface/surface.h"

sap_status sap_surface_gl(sap_device* device, const sap_surface_job* job) {
    static const double of_load[2] = {0, 0.25}, of_extraction[2] = {0.25, 0.625}, of_reading[2] = {0.625, 1};
    const sap_lattice* lattice = &job->lattice;
    struct sap_gl_surface s = {.device = device, .lattice = *lattice};
    s.options.type = job->voxels.type;
    s.options.low_inside = job->low_inside;
    if ((double)lattice->sides[0] * lattice->sides[1] * lattice->sides[2] > UINT32_MAX / 5)
        return sap_fail(device, SAP_ERROR_RANGE, "volume.size: %d x %d x %d samples; in OpenGL 858993459 at most",
                        lattice->sides[0], lattice->sides[1], lattice->sides[2]);
    sap_status status = sap_resident_create_gl(&s);
    if (status != SAP_OK) return status;
    status = sap_resident_report(device, of_load, 0);
    if (status == SAP_OK) status = sap_resident_load_gl(&s, job->voxels.values);
    if (status == SAP_OK) status = sap_resident_extract_part(&s, s.loaded, lattice->level, of_extraction);
    if (status == SAP_OK) status = sap_resident_read_part(&s, job->surface, of_reading);
    sap_resident_free_gl(&s);
    return status;
}
