// cgltf's functions, compiled here once.
#define CGLTF_IMPLEMENTATION
#include "files/gltf/names.h"
