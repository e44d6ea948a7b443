// A device: one processor, the tables of what rooms can do on it, and what all processors share.
//
// This room is ground: it knows no other room. A room states its work as a job and a table of functions in ROOM/ops.h,
// checks a call's arguments, and then calls through the device's table of that room. src/processors, on top of all
// rooms, fills the tables by name: a new processor is a new file there and touches no room.
#ifndef SAPWOOD_DEVICE_DEVICE_H
#define SAPWOOD_DEVICE_DEVICE_H

#include "device/memory.h"
#include "sapwood/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_gl_info; // sapwood/gl.h

// Points or queries of either precision, as rooms pass them on. coords may be NULL when count is 0.
typedef struct sap_rows {
    const void* coords;
    int64_t count, stride; // stride in elements, never 0
    int32_t dims, real_bits;
} sap_rows;

// What rooms can do on a processor: ROOM/ops.h declares each table. NULL: nothing. A table may lack entries that its
// header calls optional.
typedef struct sap_rooms {
    const struct sap_tree_ops* tree;
    const struct sap_nearest_ops* nearest;
    const struct sap_frame_ops* frame;
    const struct sap_radius_ops* radius;
    const struct sap_box_ops* box;
    const struct sap_pairs_ops* pairs;
    const struct sap_set_ops* set;
    const struct sap_cloud_ops* cloud;
    const struct sap_compact_ops* compact;
    const struct sap_pyramid_ops* pyramid;
    const struct sap_zpyramid_ops* zpyramid;
    const struct sap_mesh_ops* mesh;
    const struct sap_ray_ops* ray;
    const struct sap_instance_ops* instance;
    const struct sap_surface_ops* surface;
    const struct sap_resident_ops* resident;
    const struct sap_move_ops* move;
    const struct sap_render_ops* render;
    const struct sap_view_ops* view;
    const struct sap_cluster_ops* cluster;
} sap_rooms;

// Whether a device has a function of a room's table: SAP_CAN(device, nearest, search).
#define SAP_CAN(device, room, function) ((device)->rooms.room && (device)->rooms.room->function)

// One processor.
typedef struct sap_processor_table {
    sap_processor kind;
    const char* name;                       // in sentences: "this NAME device cannot …"
    bool automatic;                         // SAP_AUTO may choose it
    sap_status (*open)(sap_device* device); // fills device->processor_state; the rest of the device is ready
    void (*close)(sap_device* device);      // undoes open
    sap_status (*describe)(const sap_device* device, sap_device_info* info);
    void (*trim)(sap_device* device);       // (optional) frees scratch memory of the processor's own
    sap_status (*wait)(sap_device* device); // (optional) sap_device_wait
    void (*describe_gl)(const sap_device* device, struct sap_gl_info* info); // (optional) sap_gl_describe
    sap_rooms rooms;
} sap_processor_table;

// The processors of this build, the best first; the last entry is NULL. In src/processors/processors.c.
extern const sap_processor_table* const sap_processors[];

enum { SAP_SCRATCH_BLOCKS = 64 }; // idle scratch blocks that a device keeps at most

struct sap_device {
    const sap_processor_table* table;
    sap_rooms rooms;            // the table's
    sap_device_options options; // defaults filled in; the allocator always set
    void* processor_state;      // owned by the table's processor
    int lock;                   // guards idle
    sap_scratch idle[SAP_SCRATCH_BLOCKS];
    int idle_end; // from here on no block is idle: who takes one need not look there
};

// Logs one sentence (printf style) and returns status: `return sap_fail(device, SAP_ERROR_ARGUMENT, "…", …)`.
__attribute__((format(printf, 3, 4))) sap_status sap_fail(const sap_device* device, sap_status status,
                                                          const char* format, ...);
// Says that the device's processor has no function for what was asked, "do so and so", and returns
// SAP_ERROR_UNSUPPORTED.
sap_status sap_unsupported(const sap_device* device, const char* what);
// Makes a device one of a processor, before that opens it.
static inline void sap_device_assign(sap_device* device, const sap_processor_table* table) {
    device->table = table;
    device->rooms = table->rooms;
}
// Tells the progress callback; false if the call is to stop.
bool sap_progress_report(const sap_device* device, double done);
// A long call that is made of many others mutes their reports and tells of itself instead.
void sap_progress_mute(bool mute);
bool sap_progress_tell(const sap_device* device, double done);
// Until it unmutes them, or says so again, a report of the next calls is one of this part of its own work.
void sap_progress_part(double from, double to);

#ifdef __cplusplus
}
#endif
#endif
