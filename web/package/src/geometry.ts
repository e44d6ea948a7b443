// Geometries, objects and rays as three.js has them, by their shapes: the package does not import it.
import { isObject } from "./arrays.js";
import { refuse } from "./errors.js";
import type { Hit, MeshTree } from "./mesh.js";

/** A `BufferAttribute` or an `InterleavedBufferAttribute` of three.js. */
export interface AttributeLike {
  readonly count: number;
  readonly itemSize: number;
  readonly array?: ArrayLike<number>;
  readonly normalized?: boolean;
  readonly isInterleavedBufferAttribute?: boolean;
  getX(index: number): number;
  getY(index: number): number;
  getZ(index: number): number;
}

/** A `BufferGeometry` of three.js, indexed or not. */
export interface GeometryLike {
  readonly attributes: { readonly [name: string]: unknown };
  readonly index: { readonly count: number; readonly array: ArrayLike<number> } | null;
  readonly groups?: readonly { start: number; count: number; materialIndex?: number | undefined }[];
  readonly drawRange?: { start: number; count: number };
}

/** A `Vector3` of three.js. */
export interface Vector3Like {
  x: number;
  y: number;
  z: number;
}

/** A `Raycaster` of three.js. */
export interface RaycasterLike<V extends Vector3Like = Vector3Like> {
  readonly ray: { readonly origin: V; readonly direction: V };
  readonly near: number;
  readonly far: number;
  /** Only the nearest intersection is wanted. */
  readonly firstHitOnly?: boolean;
}

/** A `Mesh` of three.js. */
export interface MeshLike {
  readonly geometry: GeometryLike;
  readonly material: unknown;
  readonly matrixWorld: { readonly elements: ArrayLike<number> };
}

/** An intersection as three.js has it: sorted by distance. Points and normals are of the class of the ray's origin. */
export interface Intersection<V extends Vector3Like = Vector3Like, M = MeshLike, U = { x: number; y: number }> {
  /** From the ray's origin, in the world. */
  distance: number;
  /** In the world. */
  point: V;
  object: M;
  /** The triangle's number in the geometry. */
  faceIndex: number;
  /** Its vertices, and its normal in the object's space. */
  face: { a: number; b: number; c: number; normal: V; materialIndex: number };
  /** What each vertex counts for. */
  barycoord: V;
  uv?: U;
  uv1?: U;
  /** Of the vertices' normals, towards the ray's origin. */
  normal?: V;
}

export function isGeometry(value: unknown): value is GeometryLike {
  return isObject(value) && isObject(value.attributes);
}

function attributeOf(geometry: GeometryLike, name: string): AttributeLike | undefined {
  const attribute = geometry.attributes[name] as AttributeLike | undefined;
  return attribute && typeof attribute.getX === "function" ? attribute : undefined;
}

// The first and the end of the corners that are drawn.
function drawn(geometry: GeometryLike, corners: number): [start: number, end: number] {
  const { start, count } = geometry.drawRange ?? { start: 0, count: Infinity };
  return [Math.max(0, start), Math.min(corners, start + count)];
}

/** What a tree is built over: x, y, z of vertices, three vertices of each triangle that is drawn. */
export function meshOf(geometry: GeometryLike): [vertices: Float32Array, triangles: Uint32Array] {
  const position = attributeOf(geometry, "position");
  if (!position || position.itemSize < 3) refuse("geometry: has no attribute of positions with x, y and z");
  const { count, array } = position;
  let vertices: Float32Array;
  if (array instanceof Float32Array && !position.isInterleavedBufferAttribute && position.itemSize === 3) {
    vertices = array.subarray(0, 3 * count);
  } else {
    vertices = new Float32Array(3 * count);
    for (let i = 0; i < count; i++) {
      vertices[3 * i] = position.getX(i);
      vertices[3 * i + 1] = position.getY(i);
      vertices[3 * i + 2] = position.getZ(i);
    }
  }
  const index = geometry.index ?? undefined;
  const [start, end] = drawn(geometry, index ? index.count : count);
  const corners = Math.max(0, Math.floor((end - start) / 3) * 3);
  const triangles = new Uint32Array(corners);
  for (let i = 0; i < corners; i++) triangles[i] = index ? index.array[start + i]! : start + i;
  return [vertices, triangles];
}

type Three = [x: number, y: number, z: number];
const minus = (a: Three, b: Three): Three => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Three, b: Three): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Three, b: Three): Three => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const three = ({ x, y, z }: Vector3Like): Three => [x, y, z];

// A matrix of three.js as rows, and a vector moved by it.
function rowsOf({ elements: e }: { readonly elements: ArrayLike<number> }): [Three, Three, Three, Three] {
  return [[e[0]!, e[4]!, e[8]!], [e[1]!, e[5]!, e[9]!], [e[2]!, e[6]!, e[10]!], [e[12]!, e[13]!, e[14]!]];
}

// Which sides of triangles are seen: of front ones the ray runs against the normal.
function isSeen(material: unknown, against: number): boolean {
  const side = isObject(material) ? material.side : undefined;
  if (against === 0) return false;
  return side === 2 || (side === 1 ? against > 0 : against < 0);
}

/** Finds where a raycaster's ray meets a mesh of three.js whose geometry has this tree, as `Mesh.raycast` does. */
export function intersections<V extends Vector3Like, M extends MeshLike, U extends { x: number; y: number }>(
  tree: MeshTree, raycaster: RaycasterLike<V>, object: M, Vector2: (new (x: number, y: number) => U) | undefined,
): Intersection<V, M, U>[] {
  const { ray, near, far } = raycaster;
  const { geometry, material } = object;
  if (material === undefined) return [];
  const Vector = ray.origin.constructor as new (x: number, y: number, z: number) => V;
  const [x, y, z, at] = rowsOf(object.matrixWorld);
  const [yz, zx, xy] = [cross(y, z), cross(z, x), cross(x, y)];
  const volume = dot(x, yz);
  if (!(Math.abs(volume) > 0)) return []; // it is flat: no ray meets it
  // The inverse has the columns yz, zx, xy, divided by the volume. A direction keeps its length in the world, so that t is
  // a distance there.
  const back = (v: Three): Three => [0, 1, 2].map((i) => (yz[i]! * v[0] + zx[i]! * v[1] + xy[i]! * v[2]) / volume) as Three;
  const origin = back(minus(three(ray.origin), at));
  const direction = back(three(ray.direction));
  const position = attributeOf(geometry, "position");
  if (!position) refuse("object: its geometry has no positions");
  const vertex = (i: number): Three => [position.getX(i), position.getY(i), position.getZ(i)];
  const [start] = drawn(geometry, Infinity);
  const found: Intersection<V, M, U>[] = [];

  const meet = (hit: Hit): void => {
    const corner = start + 3 * hit.triangle;
    const corners = [0, 1, 2].map((i) => (geometry.index ? geometry.index.array[corner + i]! : corner + i)) as Three;
    const [a, b, c] = corners.map(vertex) as [Three, Three, Three];
    const [ab, ac] = [minus(b, a), minus(c, a)];
    const facing = cross(ab, ac);
    const against = dot(direction, facing);
    // The tree computes in floats: the place of the hit is computed again.
    const t = against === 0 ? hit.t : dot(minus(a, origin), facing) / against;
    const local: Three = [origin[0] + t * direction[0], origin[1] + t * direction[1], origin[2] + t * direction[2]];
    const world: Three = [dot(x, local) + at[0], dot(y, local) + at[1], dot(z, local) + at[2]];
    const distance = Math.hypot(...minus(world, three(ray.origin)));
    if (!(t >= 0 && distance >= near && distance <= far)) return;
    const square = dot(facing, facing);
    const [v, w] = square > 0 ? [dot(cross(minus(local, a), ac), facing) / square, dot(cross(ab, minus(local, a)), facing) / square] : [hit.u, hit.v];
    const weights: Three = [1 - v - w, v, w];
    const mixed = (name: string, get: "getX" | "getY" | "getZ"): number => {
      const attribute = attributeOf(geometry, name)!;
      return dot(weights, corners.map((i) => attribute[get](i)) as Three);
    };
    const length = Math.sqrt(square) || 1;
    const add = (of: unknown, materialIndex: number): void => {
      if (!isSeen(of, against)) return;
      const made: Intersection<V, M, U> = {
        distance, point: new Vector(...world), object, faceIndex: Math.floor(corner / 3), barycoord: new Vector(...weights),
        face: { a: corners[0], b: corners[1], c: corners[2], normal: new Vector(facing[0] / length, facing[1] / length, facing[2] / length), materialIndex },
      };
      for (const name of ["uv", "uv1"] as const)
        if (attributeOf(geometry, name)) {
          const [u, v] = [mixed(name, "getX"), mixed(name, "getY")];
          made[name] = Vector2 ? new Vector2(u, v) : ({ x: u, y: v } as U);
        }
      if (attributeOf(geometry, "normal")) {
        const normal = (["getX", "getY", "getZ"] as const).map((get) => mixed("normal", get)) as Three;
        const sign = dot(normal, direction) > 0 ? -1 : 1;
        made.normal = new Vector(sign * normal[0], sign * normal[1], sign * normal[2]);
      }
      found.push(made);
    };
    if (Array.isArray(material))
      for (const group of geometry.groups ?? [])
        if (corner >= group.start && corner < group.start + group.count) add(material[group.materialIndex ?? 0], group.materialIndex ?? 0);
    if (!Array.isArray(material)) add(material, 0);
  };

  // A little farther than far, which is looked at again; all hits, since some may be of sides that are not seen.
  for (const hit of tree.traceAll(origin, direction, { tMax: far < Infinity ? far * (1 + 1e-5) + 1e-30 : Infinity })) {
    meet(hit);
    if (raycaster.firstHitOnly && found.length) break;
  }
  return found.sort((one, other) => one.distance - other.distance).slice(0, raycaster.firstHitOnly ? 1 : undefined);
}
