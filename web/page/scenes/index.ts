// The scenes, in the order of their tabs.
import type { Scene } from '../shell/scene.js';
import { rays } from './rays.js';
import { voronoi } from './voronoi.js';

export const scenes: readonly (() => Scene)[] = [voronoi, rays];
