// What shaders see of a tree over triangles, wherever it lies: the types of mesh/access.h in GLSL. mesh/texture.h and
// mesh/buffer.h include it; it needs math/dialect.h.

#define SAP_MESH_PARAM
#define SAP_MESH
// The ray is a global variable of the shader: compilers of browsers copy parameters word by word.
#define SAP_RAY_IS_GLOBAL
#define SAP_RAY_PARAM
#define SAP_RAY

struct sap_vector {
    float x;
    float y;
    float z;
};

struct sap_triangle {
    sap_vector a;
    sap_vector b;
    sap_vector c;
};

struct sap_mesh_step {
    bool is_leaf;
    int axis;
    float split;
    uint right;
    uint first;
    int count;
};

sap_vector sap_vector_of(vec3 v) {
    sap_vector w;
    w.x = v.x;
    w.y = v.y;
    w.z = v.z;
    return w;
}
