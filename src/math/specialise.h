// Compiles a text several times in one file, in C and CUDA: for each precision, or for each precision and number of
// axes. A text includes this first, after every other header of its file, with these defined:
//   SAP_REAL_BITS  32 or 64
//   SAP_AXES       2, 3 or 4: trees of exactly so many dimensions; SAP_MAX_DIMS (16): trees of any number. A text that
//                  depends on the precision alone does not need it
// It then has SAP_REAL, SAP_REAL_MAX and, for numbers of axes, SAP_DIMS. Every name that it defines needs a suffix that
// says for which of them: the names of shared texts get it from the list below, other names from SAP_TYPED(name) (the
// precision) or SAP_SPECIAL(name) (precision and axes). Names that depend on a list also take SAP_CAPACITY
// (nearest/candidates/candidates.h); those that depend on a visitor, SAP_VISITOR (radius/count.h, radius/collect.h).
// math/specialise_real.h and math/specialise_all.h include a text as often as needed.

#undef SAP_REAL
#undef SAP_REAL_MAX
#undef SAP_DIMS
#if SAP_REAL_BITS == 32
#define SAP_REAL     float
#define SAP_REAL_MAX FLT_MAX
#elif SAP_REAL_BITS == 64
#define SAP_REAL     double
#define SAP_REAL_MAX DBL_MAX
#else
#error "SAP_REAL_BITS must be 32 or 64"
#endif
#if defined(SAP_AXES) && SAP_AXES == 16
#define SAP_DIMS tree->shape.dims
#elif defined(SAP_AXES)
#define SAP_DIMS SAP_AXES
#endif

#ifndef SAPWOOD_MATH_SPECIALISE_H
#define SAPWOOD_MATH_SPECIALISE_H

#define SAP_PASTE_REAL(name, bits)               name##_f##bits
#define SAP_PASTE_AXES(name, bits, axes)         name##_f##bits##_##axes
#define SAP_PASTE_ALSO(name, bits, axes, also)   name##_f##bits##_##axes##_##also
#define SAP_TYPED_OF(name, bits)                 SAP_PASTE_REAL(name, bits)
#define SAP_SPECIAL_OF(name, bits, axes)         SAP_PASTE_AXES(name, bits, axes)
#define SAP_SPECIAL_ALSO(name, bits, axes, also) SAP_PASTE_ALSO(name, bits, axes, also)
#define SAP_TYPED(name)                          SAP_TYPED_OF(name, SAP_REAL_BITS)
#define SAP_SPECIAL(name)                        SAP_SPECIAL_OF(name, SAP_REAL_BITS, SAP_AXES)
#define SAP_SPECIAL_LIST(name)                   SAP_SPECIAL_ALSO(name, SAP_REAL_BITS, SAP_AXES, SAP_CAPACITY)
#define SAP_SPECIAL_VISITOR(name)                SAP_SPECIAL_ALSO(name, SAP_REAL_BITS, SAP_AXES, SAP_VISITOR)

// math/distance.h, math/metric.h, math/box.h
#define sap_point              SAP_SPECIAL(sap_point)
#define sap_point_of           SAP_SPECIAL(sap_point_of)
#define sap_point_on           SAP_SPECIAL(sap_point_on)
#define sap_point_with         SAP_SPECIAL(sap_point_with)
#define sap_point_finite       SAP_SPECIAL(sap_point_finite)
#define sap_length2            SAP_SPECIAL(sap_length2)
#define sap_measure            SAP_SPECIAL(sap_measure)
#define sap_measure_along      SAP_SPECIAL(sap_measure_along)
#define sap_measure_join       SAP_SPECIAL(sap_measure_join)
#define sap_measure_length     SAP_SPECIAL(sap_measure_length)
#define sap_measure_bound      SAP_SPECIAL(sap_measure_bound)
#define sap_measure_keeps      SAP_SPECIAL(sap_measure_keeps)
#define sap_measure_keeps_all  SAP_SPECIAL(sap_measure_keeps_all)
#define sap_measure_nearest    SAP_SPECIAL(sap_measure_nearest)
#define sap_measure_farthest   SAP_SPECIAL(sap_measure_farthest)
#define sap_box                SAP_SPECIAL(sap_box)
#define sap_box_of_periods     SAP_SPECIAL(sap_box_of_periods)
#define sap_box_nearest_along  SAP_SPECIAL(sap_box_nearest_along)
#define sap_box_farthest_along SAP_SPECIAL(sap_box_farthest_along)
#define sap_box_everything     SAP_SPECIAL(sap_box_everything)
#define sap_box_nearest2       SAP_SPECIAL(sap_box_nearest2)
#define sap_box_farthest2      SAP_SPECIAL(sap_box_farthest2)

// tree/access.h, tree/leaf.h, nearest/bound.h
#define sap_inner           SAP_SPECIAL(sap_inner)
#define sap_inner_at        SAP_SPECIAL(sap_inner_at)
#define sap_leaf            SAP_SPECIAL(sap_leaf)
#define sap_leaf_at         SAP_SPECIAL(sap_leaf_at)
#define sap_leaf_coordinate SAP_SPECIAL(sap_leaf_coordinate)
#define sap_leaf_id         SAP_SPECIAL(sap_leaf_id)
#define sap_leaf_distance2  SAP_SPECIAL(sap_leaf_distance2)
#define sap_smallest_id     SAP_SPECIAL(sap_smallest_id)
#define sap_count_below     SAP_SPECIAL(sap_count_below)
#define sap_node_bound2     SAP_SPECIAL(sap_node_bound2)
#define sap_explicit_node   SAP_SPECIAL(sap_explicit_node)
#define sap_explicit_stride SAP_SPECIAL(sap_explicit_stride)

// nearest/candidates/candidates.h, nearest/candidates/candidates_memory.h, nearest/walk.h
#define sap_candidates          SAP_SPECIAL_LIST(sap_candidates)
#define sap_candidates_none     SAP_SPECIAL_LIST(sap_candidates_none)
#define sap_candidates_limit2   SAP_SPECIAL_LIST(sap_candidates_limit2)
#define sap_candidates_limit_id SAP_SPECIAL_LIST(sap_candidates_limit_id)
#define sap_candidates_sort     SAP_SPECIAL_LIST(sap_candidates_sort)
#define sap_candidates_insert   SAP_SPECIAL_LIST(sap_candidates_insert)
#define sap_candidates_sift     SAP_SPECIAL_LIST(sap_candidates_sift)
#define sap_candidates_in       SAP_SPECIAL_LIST(sap_candidates_in)
#define sap_nearest_result      SAP_SPECIAL_LIST(sap_nearest_result)
#define sap_nearest_pending     SAP_SPECIAL_LIST(sap_nearest_pending)
#define sap_nearest_child       SAP_SPECIAL_LIST(sap_nearest_child)
#define sap_nearest_begin       SAP_SPECIAL_LIST(sap_nearest_begin)
#define sap_nearest_reaches     SAP_SPECIAL_LIST(sap_nearest_reaches)
#define sap_nearest_scan        SAP_SPECIAL_LIST(sap_nearest_scan)
#define sap_nearest_stack       SAP_SPECIAL_LIST(sap_nearest_stack)
#define sap_nearest_place       SAP_SPECIAL_LIST(sap_nearest_place)
#define sap_nearest_from        SAP_SPECIAL_LIST(sap_nearest_from)
#define sap_nearest_resume      SAP_SPECIAL_LIST(sap_nearest_resume)
#define sap_nearest_stackless   SAP_SPECIAL_LIST(sap_nearest_stackless)

// radius/count.h, radius/collect.h, radius/walk.h
#define sap_visits          SAP_SPECIAL_VISITOR(sap_visits)
#define sap_visits_subtrees SAP_SPECIAL_VISITOR(sap_visits_subtrees)
#define sap_visit           SAP_SPECIAL_VISITOR(sap_visit)
#define sap_visit_subtree   SAP_SPECIAL_VISITOR(sap_visit_subtree)
#define sap_radius_result   SAP_SPECIAL_VISITOR(sap_radius_result)
#define sap_radius_pending  SAP_SPECIAL_VISITOR(sap_radius_pending)
#define sap_radius_scan     SAP_SPECIAL_VISITOR(sap_radius_scan)
#define sap_radius_stack    SAP_SPECIAL_VISITOR(sap_radius_stack)

// box/walk.h
#define sap_box_hits        SAP_SPECIAL(sap_box_hits)
#define sap_box_load        SAP_SPECIAL(sap_box_load)
#define sap_box_covers      SAP_SPECIAL(sap_box_covers)
#define sap_box_meets_below SAP_SPECIAL(sap_box_meets_below)
#define sap_box_meets_above SAP_SPECIAL(sap_box_meets_above)
#define sap_box_holds       SAP_SPECIAL(sap_box_holds)
#define sap_box_holds_slot  SAP_SPECIAL(sap_box_holds_slot)
#define sap_box_take        SAP_SPECIAL(sap_box_take)
#define sap_box_scan        SAP_SPECIAL(sap_box_scan)
#define sap_box_pending     SAP_SPECIAL(sap_box_pending)
#define sap_box_stack       SAP_SPECIAL(sap_box_stack)

#endif
