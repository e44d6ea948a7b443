// The rival of instances: a table of functions, which is NULL where Embree was not found.
#ifndef SAPWOOD_BENCH_INSTANCES_H
#define SAPWOOD_BENCH_INSTANCES_H

#include <sapwood/sapwood.h>

typedef struct instances_rival {
    // Instances of a mesh, one thread; each has the transform of one of Sapwood's.
    void* (*open)(const sap_mesh* mesh, const sap_instance* instances, int count);
    // Gives all of them their transforms anew, and builds what is over them.
    void (*rebuild)(void* scene, const sap_instance* instances);
    void (*trace)(void* scene, const sap_ray* rays, int64_t count, sap_instance_hit* hits);
    void (*release)(void* scene);
} instances_rival;

extern const instances_rival* const instances_embree;

#endif
