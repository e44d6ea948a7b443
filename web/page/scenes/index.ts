// The scenes, in the order of their tabs.
import type { Scene } from '../shell/scene.js';
import { cloud } from './cloud.js';
import { compaction } from './compaction.js';
import { isosurface } from './isosurface.js';
import { photons } from './photons.js';
import { rays } from './rays.js';
import { voronoi } from './voronoi.js';

export const scenes: readonly (() => Scene)[] = [voronoi, compaction, isosurface, rays, cloud, photons];
