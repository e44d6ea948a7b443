// The walks for one precision and number of axes that ask what a search was told. Specialised text for C.

#include "math/specialise.h"

#include "math/distance.h"

#include "tree/measure.h"

#include "tree/access.h"

#include "tree/leaf.h"

#include "nearest/bound.h"

#define SAP_CAPACITY 0
#include "nearest/candidates/candidates_memory.h"

#include "nearest/walk_result.h"

#include "nearest/scan.h"

#ifdef SAP_PERIODIC
#include "math/box.h"

#include "nearest/walk_periodic.h"
#else
#include "nearest/walk.h"
#endif

#include "nearest/walk_answer.h"
#undef SAP_CAPACITY
