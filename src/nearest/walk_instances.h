// The walks for one precision and number of axes, with each kind of list. Specialised text for C.

#include "math/specialise.h"

#include "math/distance.h"

#include "tree/access.h"

#include "tree/leaf.h"

#include "nearest/bound.h"

#if !defined(__EMSCRIPTEN__)
#define SAP_CAPACITY 1
#include "nearest/candidates/candidates.h"

#include "nearest/walk_result.h"

#include "nearest/scan.h"

#include "nearest/walk.h"

#include "nearest/walk_answer.h"
#undef SAP_CAPACITY
#endif

#define SAP_CAPACITY 0
#include "nearest/candidates/candidates_memory.h"

#include "nearest/walk_result.h"

#include "nearest/scan.h"

#include "nearest/walk.h"

#include "nearest/walk_answer.h"
#undef SAP_CAPACITY
