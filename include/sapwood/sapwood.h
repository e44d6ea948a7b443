/**
 * @file sapwood.h
 * All of Sapwood in one include.
 */
#ifndef SAPWOOD_H
#define SAPWOOD_H

#include "align.h"
#include "base.h"
#include "cloud.h"
#include "cluster.h"
#include "files.h"
#include "gl.h"
#include "grid.h"
#include "instances.h"
#include "mesh.h"
#include "move.h"
#include "photons.h"
#include "points.h"
#include "query.h"
#include "render.h"
#include "sets.h"
#include "stream.h"
#include "surface.h"

#endif
