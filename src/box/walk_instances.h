// The box walk for one precision and number of axes. Specialised text for C.

#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#include "tree/access.h"

#include "box/walk.h"

static int32_t SAP_SPECIAL(answer)(const sap_tree* tree, const void* lower, const void* upper, int32_t room,
                                   int32_t* ids) {
    const sap_box_hits none = {.ids = ids, .room = room};
    return sap_box_stack(tree, sap_box_load(tree, lower, upper), none).count;
}
