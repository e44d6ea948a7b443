// Trees over triangles.
import {
  type Allocation, borrow, Borrowed, choice, copyOf, disposable, finite, type Given, givenRows, integer, isArray, numberOf, optionsOf,
  type Rows as Numbers,
} from "./arrays.js";
import { buildElsewhere } from "./elsewhere.js";
import { refuse } from "./errors.js";
import { type GeometryLike, type Intersection, intersections, isGeometry, type MeshLike, meshOf, type RaycasterLike, type Vector3Like } from "./geometry.js";
import { bytesOf, checkWithRoom, Held, Loaded, loadSaved, saveTree } from "./held.js";
import type { Point } from "./points.js";
import { check, f64, i32, integers, numbers, u32, wasm } from "./wasm.js";

/** How to build a tree over triangles. */
export interface MeshTreeOptions {
  /** The best tree for tracing (default), or one that takes less than half as long to build and whose rays take up to a third
   * longer. Answers are the same. */
  quality?: "high" | "fast";
}

/** Where a ray meets a triangle: at origin + t * direction, which is corner0 * (1-u-v) + corner1 * u + corner2 * v. */
export interface Hit {
  t: number;
  u: number;
  v: number;
  triangle: number;
}

/** The first hit of each of many rays. A miss is triangle -1 at t = Infinity. */
export interface Hits {
  t: Float32Array;
  u: Float32Array;
  v: Float32Array;
  triangles: Int32Array;
}

/** Hits of each of many rays: those of ray i are at i*limit … i*limit + counts[i] - 1, the nearest first. */
export interface AllHits extends Hits {
  counts: Int32Array;
}

/** The point of a mesh that is nearest to a place. */
export interface Closest {
  point: [x: number, y: number, z: number];
  distance: number;
  triangle: number;
}

/** The nearest points of a mesh to many places. A missing one is triangle -1 at Infinity. */
export interface ClosestPoints {
  /** x, y, z of each. */
  points: Float32Array;
  distances: Float32Array;
  triangles: Int32Array;
}

/** Arrays to write hits into instead of new ones. */
export interface HitsOut {
  t?: Float32Array | Allocation<Float32Array>;
  u?: Float32Array | Allocation<Float32Array>;
  v?: Float32Array | Allocation<Float32Array>;
  triangles?: Int32Array | Allocation<Int32Array>;
}

const RAY = 8; // numbers: origin, t_min, direction, t_max

// Vertices and triangles that were given, checked.
function given(vertices: Numbers | GeometryLike, triangles: Numbers | undefined | null): [corners: Given, indices: Given] {
  if (isGeometry(vertices)) {
    if (triangles != null) refuse("triangles: a geometry has its own");
    return given(...meshOf(vertices));
  }
  const corners = givenRows(vertices, "vertices");
  if (corners.length % 3 !== 0) refuse(`vertices: ${corners.length} numbers are no whole number of points in space`);
  const what = triangles == null ? "vertices" : "triangles";
  const indices = givenRows(triangles ?? Int32Array.from({ length: corners.length / 3 }, (_, i) => i), what);
  if (indices.length % 3 !== 0) refuse(`${what}: ${indices.length} corners are no whole number of triangles`);
  checkIntegers(indices);
  return [corners, indices];
}

// A mesh in the module's memory.
function putMesh(borrowed: Borrowed, vertices: Numbers | GeometryLike, triangles: Numbers | undefined | null) {
  const [corners, indices] = given(vertices, triangles);
  const place = borrowed.put(corners, Float32Array);
  // As 32 bits both are the same; an index that no Int32Array holds is negative then, and out of range.
  const numbersOf = indices.type === Uint32Array ? borrowed.put(indices, Uint32Array) : borrowed.put(indices, Int32Array);
  return [place, corners.length / 3, numbersOf, indices.length / 3] as const;
}

const ofIntegers: readonly unknown[] =
  [Int32Array, Uint32Array, Uint16Array, Int16Array, Uint8Array, Int8Array, Uint8ClampedArray];

// That numbers which become integers of 32 bits are such.
function checkIntegers(indices: Given): void {
  if (ofIntegers.includes(indices.type)) return;
  for (let i = 0; i < indices.length; i++) {
    const index: unknown = indices.array[i];
    if ((index as number) >> 0 !== index)
      refuse(`triangles: ${String(index)}, in triangle ${Math.floor(i / 3)}, is not the number of a vertex`);
  }
}

/**
 * A k-d tree over the triangles of a mesh, for rays and for nearest points. Triangles are numbered as they were given.
 * The tree keeps a copy of them in WebAssembly's memory, until `free()`, or until the tree is collected as garbage.
 */
export class MeshTree {
  #count = 0;
  readonly #quality: number | undefined; // undefined: it was loaded
  readonly #held = new Held("web_mesh");

  /**
   * Builds a tree. `vertices` are x, y, z of each; `triangles` three numbers of vertices each; without `triangles` each
   * three vertices are one. Or of a geometry of three.js: of those triangles that its `drawRange` has, from 0 on. O(n log n).
   * Throws ARGUMENT, RANGE (naming the triangle whose vertex does not exist), NOT_FINITE (naming the vertex), MEMORY.
   */
  constructor(vertices: Numbers, triangles?: Numbers | null, options?: MeshTreeOptions);
  constructor(geometry: GeometryLike, options?: MeshTreeOptions);
  constructor(first: Numbers | GeometryLike, second?: Numbers | MeshTreeOptions | null, third?: MeshTreeOptions) {
    if ((first as unknown) instanceof Loaded) {
      const { bytes, rules } = first as unknown as Loaded;
      this.#quality = rules as number | undefined;
      loadSaved(bytes, this.#held, this, +(rules !== undefined));
    } else {
      const [triangles, quality] = planOf(first, second, third);
      this.#quality = quality;
      this.#held.take(this, build(first, triangles, quality));
    }
    this.#learn();
  }

  /** The same in a worker, so that the page stays responsive: the mesh is copied. A content security policy needs
   * `worker-src blob:`. Throws as the constructor; UNSUPPORTED if no worker can be had. */
  static async build(vertices: Numbers, triangles?: Numbers | null, options?: MeshTreeOptions): Promise<MeshTree>;
  static async build(geometry: GeometryLike, options?: MeshTreeOptions): Promise<MeshTree>;
  static async build(first: Numbers | GeometryLike, second?: Numbers | MeshTreeOptions | null, third?: MeshTreeOptions): Promise<MeshTree> {
    const [triangles, quality] = planOf(first, second, third);
    const [corners, indices] = given(first, triangles);
    const type = indices.type === Uint32Array ? Uint32Array : Int32Array;
    const made = [copyOf(corners, Float32Array), corners.length / 3, copyOf(indices, type), indices.length / 3, quality];
    return new MeshTree((await buildElsewhere("web_mesh", made, [], quality)) as unknown as Numbers);
  }

  /** A tree from what `save()` gave. All of it is checked first. Throws FORMAT, MEMORY. */
  static load(bytes: Uint8Array | ArrayBuffer): MeshTree {
    return new MeshTree(new Loaded(bytesOf(bytes)) as unknown as Numbers);
  }

  #learn(): void {
    check(wasm!.web_mesh_describe!(this.#held.tree));
    this.#count = i32[integers]!;
  }

  #alive(): number {
    return this.#held.use(this);
  }

  /** Triangles in the tree. */
  get count(): number {
    this.#alive();
    return this.#count;
  }
  /** Memory that the tree takes, in bytes. */
  get bytes(): number {
    check(wasm!.web_mesh_describe!(this.#alive()));
    return f64[numbers]!;
  }
  /** The tight box of all triangles; from Infinity to -Infinity without any. */
  get bounds(): { lower: number[]; upper: number[] } {
    check(wasm!.web_mesh_describe!(this.#alive()));
    const corner = (first: number): number[] => Array.from(f64.subarray(numbers + first, numbers + first + 3));
    return { lower: corner(2), upper: corner(5) };
  }

  // Puts a ray where the module looks for it; gives the tree.
  #ask(origin: Point, direction: Point, tMin: number, tMax: number): number {
    const tree = this.#alive();
    putThree(origin, 0, "origin");
    putThree(direction, 4, "direction");
    f64[numbers + 3] = numberOf(tMin, "[tMin, tMax]", 0);
    f64[numbers + 7] = numberOf(tMax, "[tMin, tMax]", 1);
    return tree;
  }

  #rays(borrowed: Borrowed, rays: Numbers): [address: number, count: number] {
    this.#alive();
    const source = givenRows(rays, "rays");
    if (source.length % RAY !== 0 || (source.width ?? RAY) !== RAY) refuse(`rays: ${source.length} numbers are no whole number of rays, of ${RAY} each`);
    return [borrowed.put(source, Float32Array), source.length / RAY];
  }

  /** The first hit of a ray between tMin and tMax, which are in lengths of `direction`; null for a miss. Origin and
   * direction must be finite (NOT_FINITE); among many rays, one with a NaN or an infinite number, but for tMax, hits nothing. */
  trace(origin: Point, direction: Point, tMin?: number, tMax?: number): Hit | null;
  /** The first hit of each ray: 8 numbers each, origin, tMin, direction, tMax. */
  trace(rays: Numbers, options?: { out?: HitsOut }): Hits;
  trace(first: Point | Numbers, second?: unknown, tMin: number = 0, tMax: number = Infinity): Hit | null | Hits {
    if (!isOne(second)) {
      const { t, u, v, triangles } = this.#hits(first as Numbers, 1, optionsOf(second as { out?: HitsOut } | undefined, "out").out, false);
      return { t, u, v, triangles };
    }
    check(wasm!.web_mesh_trace!(this.#ask(first as Point, second, tMin, tMax)));
    const triangle = i32[integers]!;
    return triangle < 0 ? null : { t: f64[numbers]!, u: f64[numbers + 1]!, v: f64[numbers + 2]!, triangle };
  }

  /** Whether a ray hits anything between tMin and tMax. Faster than `trace`. */
  occluded(origin: Point, direction: Point, tMin?: number, tMax?: number): boolean;
  /** 1 for each ray that hits anything, else 0. */
  occluded(rays: Numbers, options?: { out?: Uint8Array | Allocation<Uint8Array> }): Uint8Array;
  occluded(first: Point | Numbers, second?: unknown, tMin: number = 0, tMax: number = Infinity): boolean | Uint8Array {
    if (isOne(second)) {
      check(wasm!.web_mesh_occluded!(this.#ask(first as Point, second, tMin, tMax)));
      return i32[integers] !== 0;
    }
    const { out } = optionsOf(second as { out?: Uint8Array } | undefined, "out");
    return borrow((borrowed) => {
      const [address, count] = this.#rays(borrowed, first as Numbers);
      const occluded = borrowed.answer(out, Uint8Array, count, "out");
      checkWithRoom(() => wasm!.web_mesh_occluded_all!(this.#held.tree, address, count, occluded.address));
      return occluded.take();
    });
  }

  /** All hits of a ray, the nearest first, at most `limit` of them. */
  traceAll(origin: Point, direction: Point, options?: { limit?: number; tMin?: number; tMax?: number }): Hit[];
  /** The first `limit` hits of each ray: 8 numbers each, origin, tMin, direction, tMax. */
  traceAll(rays: Numbers, limit: number, options?: { out?: HitsOut }): AllHits;
  traceAll(first: Point | Numbers, second: unknown, third?: object): Hit[] | AllHits {
    if (!isOne(second)) {
      const limit = integer(second, 1, 2147483647, "limit");
      return this.#hits(first as Numbers, limit, optionsOf(third as { out?: HitsOut } | undefined, "out").out, true);
    }
    const o = optionsOf(third as { limit?: number; tMin?: number; tMax?: number } | undefined, "limit tMin tMax");
    this.#ask(first as Point, second, o.tMin ?? 0, o.tMax ?? Infinity);
    const ray = Float32Array.from(f64.subarray(numbers, numbers + RAY));
    const most = o.limit === undefined ? Infinity : integer(o.limit, 1, 2147483647, "limit");
    // Few hits are usual: more room is made only where they fill what there is.
    for (let room = Math.min(most, 16); ; room = Math.min(most, room * 8)) {
      const { t, u, v, triangles, counts } = this.#hits(ray, room, undefined, true);
      const count = counts[0]!;
      if (count === room && room < most && room < this.#count) continue;
      return Array.from({ length: count }, (_, i) => ({ t: t[i]!, u: u[i]!, v: v[i]!, triangle: triangles[i]! }));
    }
  }

  #hits(rays: Numbers, limit: number, outs: HitsOut | undefined, all: boolean): AllHits {
    const out = optionsOf(outs, "t u v triangles", "options.out");
    return borrow((borrowed) => {
      const [address, count] = this.#rays(borrowed, rays);
      const rows = count * limit;
      const t = borrowed.answer(out.t, Float32Array, rows, "out.t");
      const u = borrowed.answer(out.u, Float32Array, rows, "out.u");
      const v = borrowed.answer(out.v, Float32Array, rows, "out.v");
      const triangles = borrowed.answer(out.triangles, Int32Array, rows, "out.triangles");
      const counts = borrowed.answer(undefined, Int32Array, all ? count : 0, "counts");
      checkWithRoom(() => wasm!.web_mesh_trace_all!(
        this.#held.tree, address, count, limit, t.address, u.address, v.address, triangles.address, all ? counts.address : 0));
      return { t: t.take(), u: u.take(), v: v.take(), triangles: triangles.take(), counts: counts.take() };
    });
  }

  /**
   * Where a ray of three.js meets a mesh whose geometry this tree was built over, the nearest first: what
   * `raycaster.intersectObject(mesh)` gives, with the side of the mesh's material, its groups, `near`, `far` and
   * `raycaster.firstHitOnly`. Intersections are put into `into`, if it is given, so that a mesh can take the place of its own
   * method: `mesh.raycast = (raycaster, hits) => tree.raycast(raycaster, mesh, hits)`. `uv` has x and y; it is of the class
   * `Vector2` if that is given.
   */
  raycast<V extends Vector3Like, M extends MeshLike, U extends { x: number; y: number } = { x: number; y: number }>(
    raycaster: RaycasterLike<V>, object: M, into: Intersection<V, M, U>[] = [], Vector2?: new (x: number, y: number) => U,
  ): Intersection<V, M, U>[] {
    into.push(...intersections(this, raycaster, object, Vector2));
    return into;
  }

  #places(borrowed: Borrowed, places: Numbers): [address: number, count: number] {
    this.#alive();
    const source = givenRows(places, "points");
    if (source.length % 3 !== 0 || (source.width ?? 3) !== 3) refuse(`points: ${source.length} numbers are no whole number of points in space`);
    return [borrowed.put(source, Float32Array), source.length / 3];
  }

  /** The point of the mesh that is nearest to a place; null if it has no triangles. */
  closestPoint(place: Point): Closest | null {
    const tree = this.#alive();
    checkThree(place, "point");
    check(wasm!.web_mesh_closest!(tree, place[0]!, place[1]!, place[2]!));
    const triangle = i32[integers]!;
    if (triangle < 0) return null;
    return { point: [f64[numbers]!, f64[numbers + 1]!, f64[numbers + 2]!], distance: f64[numbers + 3]!, triangle };
  }

  /** The points of the mesh that are nearest to places: x, y, z of each. */
  closestPoints(places: Numbers, options?: { squared?: boolean }): ClosestPoints {
    const squared = +!!optionsOf(options, "squared").squared;
    return borrow((borrowed) => {
      const [address, count] = this.#places(borrowed, places);
      const points = borrowed.answer(undefined, Float32Array, 3 * count, "points");
      const distances = borrowed.answer(undefined, Float32Array, count, "distances");
      const triangles = borrowed.answer(undefined, Int32Array, count, "triangles");
      checkWithRoom(() => wasm!.web_mesh_closest_all!(
        this.#held.tree, address, count, points.address, distances.address, triangles.address, squared));
      return { points: points.take(), distances: distances.take(), triangles: triangles.take() };
    });
  }

  /** Whether a place lies inside the mesh, which should be closed. */
  inside(place: Point): boolean {
    checkThree(place, "point");
    return this.insideAll(place)[0] === 1;
  }

  /** 1 for each place, x, y, z, that lies inside the mesh, else 0. */
  insideAll(places: Numbers): Uint8Array {
    return borrow((borrowed) => {
      const [address, count] = this.#places(borrowed, places);
      const inside = borrowed.answer(undefined, Uint8Array, count, "inside");
      checkWithRoom(() => wasm!.web_mesh_inside_all!(this.#held.tree, address, count, inside.address));
      return inside.take();
    });
  }

  /** Builds the tree anew, as the constructor does, into the memory that it has. If it fails, the tree stays as it was.
   * UNSUPPORTED for a tree that was loaded. */
  rebuild(vertices: Numbers | GeometryLike, triangles?: Numbers | null): void {
    this.#alive();
    const held = this.#held;
    if (held.saved && this.#quality !== undefined) {
      // It was parked and came back as a loaded tree, which cannot be built anew.
      const tree = build(vertices, triangles, this.#quality);
      held.free();
      held.take(this, tree);
    } else {
      borrow((borrowed) => {
        const mesh = putMesh(borrowed, vertices, triangles);
        checkWithRoom(() => wasm!.web_mesh_rebuild!(held.tree, ...mesh));
      });
      held.measure();
    }
    this.#learn();
  }

  /** The tree as bytes, for `MeshTree.load` and for the C library. */
  save(): Uint8Array {
    return saveTree(this.#alive(), "web_mesh");
  }

  /** Gives the memory back. The tree cannot be used after that; further calls of `free` do nothing. */
  free(): void {
    this.#held.free();
  }
}
/** Freed at the end of its block, if declared by `using`. */
export interface MeshTree extends Disposable {}
disposable(MeshTree);

// Whether the second argument is the direction of a single ray: options have no length.
function isOne(second: unknown): second is Point {
  return isArray(second);
}

function putThree(place: Point, first: number, what: string): void {
  checkThree(place, what);
  for (let a = 0; a < 3; a++) f64[numbers + first + a] = place[a]!;
}

function checkThree(place: Point, what: string): void {
  if (!isArray(place) || place.length !== 3) refuse(`${what}: is not an array of 3 numbers`);
  for (let a = 0; a < 3; a++) finite(place[a], what, a);
}

// What is to be built: arguments with and without triangles.
function planOf(
  first: unknown, second: Numbers | MeshTreeOptions | undefined | null, third: MeshTreeOptions | undefined,
): [triangles: Numbers | undefined | null, quality: number] {
  const alone = isGeometry(first) && third === undefined && !isArray(second);
  const options = optionsOf((alone ? second ?? undefined : third) as MeshTreeOptions | undefined, "quality");
  return [alone ? undefined : (second as Numbers), choice(options.quality, ["high", "fast"], "options.quality")];
}

function build(vertices: Numbers | GeometryLike, triangles: Numbers | undefined | null, quality: number): number {
  return borrow((borrowed) => {
    const mesh = putMesh(borrowed, vertices, triangles);
    checkWithRoom(() => wasm!.web_mesh_build!(...mesh, quality));
    return u32[integers]!;
  });
}
