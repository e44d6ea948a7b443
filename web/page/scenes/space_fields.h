// Fields of what scenes with depth tell of their camera (../fields.h).
#ifndef SAPWOOD_PAGE_SPACE_FIELDS_H
#define SAPWOOD_PAGE_SPACE_FIELDS_H

// isosurface_seen, cloud_seen: the eye, its axes, and the tangent of half the angle from the picture's bottom to its top.
enum space_camera {
    SPACE_CAMERA_EYE,
    SPACE_CAMERA_RIGHT = 3,
    SPACE_CAMERA_UP = 6,
    SPACE_CAMERA_BACK = 9,
    SPACE_CAMERA_TANGENT = 12,
    SPACE_CAMERA_ASPECT,
    SPACE_CAMERA_FIELDS
};
// A ray, for jobs that look for what is seen along it.
enum space_ray { SPACE_RAY_EYE, SPACE_RAY_DIRECTION = 3, SPACE_RAY_FIELDS = 6 };

#endif
