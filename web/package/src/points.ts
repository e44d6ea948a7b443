// Trees over points.
import {
  type Allocation, borrow, Borrowed, choice, copyOut, disposable, given, type Given, integer, isObject, type Numbers, optionsOf,
  radiusOf, type TypedArray, type TypedArrayConstructor,
} from "./arrays.js";
import { refuse } from "./errors.js";
import { gone, type Held, Loaded, loadSaved, releaseBy, saveTree } from "./held.js";
import { check, f64, i32, integers, numbers, u32, unwatch, wasm, watch } from "./wasm.js";

/** The precision of a tree: answers are exact for coordinates of this type. */
export type Precision = Float32ArrayConstructor | Float64ArrayConstructor;

/** How to build a tree. */
export interface PointTreeOptions {
  /** Coordinates a point, 1 to 16. Default: 2. */
  dims?: number;
  /** Precision of the tree. Default: Float32Array for coordinates that fit into it without being rounded (Float32Array
   * and integers of up to 16 bits), else Float64Array. */
  type?: Precision;
  /** Balanced (default), or the midpoint of each cell, slid to the points. */
  split?: "median" | "sliding-midpoint";
  /** Which axis a node divides: the widest (default), or each in turn. */
  axis?: "widest" | "cycle";
  /** Points in a leaf, 1 to 1024. Default: 32. */
  leafSize?: number;
  /** Keep of equal points only the one with the smallest id. */
  dropDuplicates?: boolean;
}

/** A point that was found: its number among the points given, and how far it is. -1 and Infinity: there is none. */
export interface Neighbor {
  id: number;
  distance: number;
}

/** The place to search about: an array of as many numbers as the tree has dimensions. */
export type Point = ArrayLike<number>;

/** Neighbours of many queries: those of query i stand in row i, k places long; missing ones are -1 at Infinity. */
export interface Neighbors {
  ids: Int32Array;
  distances: Float32Array | Float64Array;
}

/** Points within a radius of many queries: those of query i are ids[offsets[i]] … ids[offsets[i + 1] - 1]. */
export interface Rows {
  offsets: Int32Array;
  ids: Int32Array;
  distances: Float32Array | Float64Array;
}

/** Options of searches for many queries. */
export interface SearchOptions {
  /** Squared distances instead of distances: as they are computed, before the root is taken. */
  squared?: boolean;
  /** Arrays to write into instead of new ones. Those made by `allocate` are written without a copy. */
  out?: {
    ids?: Int32Array | Allocation<Int32Array>;
    distances?: Float32Array | Float64Array | Allocation<Float32Array> | Allocation<Float64Array>;
  };
}

const exactInFloat: readonly unknown[] =
  [Float32Array, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array];

const release = releaseBy("web_tree_free");

/**
 * A k-d tree over points of 1 to 16 dimensions. Points are numbered as they were given, from 0. The tree keeps a copy of
 * them in WebAssembly's memory, until `free()`, or until the tree is collected as garbage.
 *
 * Answers are exact; of equal distances the smaller id comes first.
 */
export class PointTree {
  #tree = 0; // 0 once freed
  #dims = 0;
  #bits = 32;
  #count = 0;
  #given = 0;
  readonly #held: Held;

  /**
   * Builds a tree over coords.length / dims points: x0, y0, x1, y1, … O(n log n).
   * Throws ARGUMENT, NOT_FINITE (naming the point), RANGE, MEMORY.
   */
  constructor(coords: Numbers, options?: PointTreeOptions) {
    if (coords instanceof Loaded) {
      this.#held = coords.held;
    } else {
      this.#held = { tree: build(coords, optionsOf(options)), saved: 0 };
    }
    this.#tree = this.#held.tree;
    this.#learn();
    watch(this, release.bind(undefined, this.#held));
  }

  /** A tree over the places of things: `get` gives the coordinates of each. */
  static from<T>(items: Iterable<T>, get: (item: T, index: number) => Point, options?: PointTreeOptions): PointTree {
    const coords: number[] = [];
    let dims = optionsOf(options).dims;
    let index = 0;
    for (const item of items) {
      const { array, length } = given(get(item, index), `the place of item ${index}`);
      dims ??= length;
      if (length !== dims) refuse(`the place of item ${index}: has ${length} coordinates, not ${dims}`);
      for (let a = 0; a < dims; a++) coords.push(array[a]!);
      index++;
    }
    return new PointTree(coords, { ...options, ...(dims === undefined ? {} : { dims }) });
  }

  /** A tree from what `save()` gave. All of it is checked first. Throws FORMAT, MEMORY. */
  static load(bytes: Uint8Array | ArrayBuffer): PointTree {
    return new PointTree(new Loaded(loadSaved(bytes, "web_tree_load")) as unknown as Numbers);
  }

  #learn(): void {
    check(wasm!.web_tree_describe!(this.#tree));
    this.#count = i32[integers]!;
    this.#given = i32[integers + 1]!;
    this.#dims = i32[integers + 2]!;
    this.#bits = i32[integers + 3]!;
  }

  #alive(): number {
    return this.#tree || gone();
  }

  /** Points in the tree. */
  get count(): number {
    this.#alive();
    return this.#count;
  }
  /** Points that were given: more than `count` where duplicates were dropped. Ids are below this. */
  get sourceCount(): number {
    this.#alive();
    return this.#given;
  }
  /** Coordinates a point. */
  get dims(): number {
    this.#alive();
    return this.#dims;
  }
  /** The type of the coordinates that the tree holds, and of distances. */
  get type(): Precision {
    this.#alive();
    return this.#bits === 32 ? Float32Array : Float64Array;
  }
  /** Memory that the tree takes, in bytes. */
  get bytes(): number {
    check(wasm!.web_tree_describe!(this.#alive()));
    return f64[numbers]!;
  }
  /** The tight box of all points; from Infinity to -Infinity without any. */
  get bounds(): { lower: number[]; upper: number[] } {
    check(wasm!.web_tree_describe!(this.#alive()));
    const lower = numbers + 1;
    const upper = lower + 16;
    return {
      lower: Array.from(f64.subarray(lower, lower + this.#dims)),
      upper: Array.from(f64.subarray(upper, upper + this.#dims)),
    };
  }

  // Puts a query where the module looks for it; gives the tree.
  #ask(query: Point): number {
    const tree = this.#alive();
    const dims = this.#dims;
    if (!isObject(query) || query.length !== dims) refuse(`query: is not an array of ${dims} numbers`);
    for (let a = 0; a < dims; a++) {
      const x: unknown = query[a];
      if (typeof x !== "number") refuse(`query: its element ${a} is not a number`);
      f64[numbers + a] = x;
    }
    return tree;
  }

  /** The nearest point to a place, given as an array or as separate numbers. Expected O(log n). */
  nearest(query: Point): Neighbor;
  nearest(...coordinates: number[]): Neighbor;
  nearest(first: unknown): Neighbor {
    const tree = this.#ask(typeof first === "number" ? arguments : (first as Point));
    check(wasm!.web_tree_nearest!(tree, this.#dims, this.#bits));
    return { id: i32[integers]!, distance: f64[numbers]! };
  }

  /** The k nearest points to a place, the nearest first, no farther than `radius`. Fewer, if there are no more. */
  knn(query: Point, k: number, radius: number = Infinity): Neighbor[] {
    const tree = this.#ask(query);
    const most = Math.min(integer(k, 1, 2147483647, "k"), this.#count || 1);
    check(wasm!.web_tree_knn!(tree, this.#dims, this.#bits, most, limit(radius)));
    const ids = u32[integers + 1]! / 4;
    const distances = u32[integers + 2]! / 8;
    const found: Neighbor[] = [];
    for (let i = 0, n = i32[integers]!; i < n; i++) found.push({ id: i32[ids + i]!, distance: f64[distances + i]! });
    return found;
  }

  /** The ids of all points no farther from a place than `radius`, in no particular order. */
  within(query: Point, radius: number): number[] {
    const tree = this.#ask(query);
    check(wasm!.web_tree_within!(tree, this.#dims, this.#bits, radiusOf(radius)));
    const ids = u32[integers + 1]! / 4;
    const found = new Array<number>(i32[integers]!);
    for (let i = 0; i < found.length; i++) found[i] = i32[ids + i]!;
    return found;
  }

  /** How many points are no farther from a place than `radius`. */
  withinCount(query: Point, radius: number): number {
    const tree = this.#ask(query);
    check(wasm!.web_tree_within_count!(tree, this.#dims, this.#bits, radiusOf(radius)));
    return i32[integers]!;
  }

  #queries(borrowed: Borrowed, queries: Numbers): [address: number, count: number] {
    this.#alive();
    return points(borrowed, given(queries, "queries"), "queries", this.#dims, this.type);
  }

  #distances(borrowed: Borrowed, options: SearchOptions, length: number) {
    type Out = Float32Array | Float64Array;
    return borrowed.answer<Out>(
      options.out?.distances as Out | undefined, this.type as TypedArrayConstructor<Out>, length, "out.distances");
  }

  /** The nearest point to each of queries.length / dims places. */
  nearestAll(queries: Numbers, options?: SearchOptions): Neighbors {
    return this.knnAll(queries, 1, options);
  }

  /** The k nearest points to each of queries.length / dims places, in rows of k. */
  knnAll(queries: Numbers, k: number, options?: SearchOptions & { radius?: number }): Neighbors {
    const o = optionsOf(options);
    integer(k, 1, 2147483647, "k");
    const radius = limit(o.radius ?? Infinity);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const ids = borrowed.answer(o.out?.ids, Int32Array, count * k, "out.ids");
      const distances = this.#distances(borrowed, o, count * k);
      check(wasm!.web_tree_knn_all!(
        this.#tree, address, count, this.#dims, this.#bits, k, radius, ids.address, distances.address, +!!o.squared));
      return { ids: ids.take(), distances: distances.take() };
    });
  }

  /** The k nearest other points to each point of the tree: row i is that of point i. */
  knnSelf(k: number, options?: SearchOptions & { radius?: number }): Neighbors {
    const o = optionsOf(options);
    integer(k, 1, 2147483647, "k");
    const radius = limit(o.radius ?? Infinity);
    const tree = this.#alive();
    const rows = this.#given;
    return borrow((borrowed) => {
      const ids = borrowed.answer(o.out?.ids, Int32Array, rows * k, "out.ids");
      const distances = this.#distances(borrowed, o, rows * k);
      check(wasm!.web_tree_knn_self!(tree, rows, this.#bits, k, radius, ids.address, distances.address, +!!o.squared));
      return { ids: ids.take(), distances: distances.take() };
    });
  }

  /** All points no farther than `radius` from each of queries.length / dims places; in each row the nearest first, if
   * `sorted`. */
  withinAll(queries: Numbers, radius: number, options?: { sorted?: boolean; squared?: boolean }): Rows {
    const o = optionsOf(options);
    radiusOf(radius);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const offsets = borrowed.answer(undefined, Int32Array, count + 1, "offsets");
      check(wasm!.web_tree_within_all!(
        this.#tree, address, count, this.#dims, this.#bits, radius, offsets.address, +!!o.sorted, +!!o.squared));
      const [rows, total, ids, distances] = u32.subarray(integers, integers + 4) as unknown as [number, number, number, number];
      try {
        const type = this.type as TypedArrayConstructor<Float32Array | Float64Array>;
        return { offsets: offsets.take(), ids: copyOut(Int32Array, ids, total), distances: copyOut(type, distances, total) };
      } finally {
        wasm!.web_rows_free!(rows);
      }
    });
  }

  /** How many points are no farther than `radius` from each of queries.length / dims places. */
  withinCountAll(
    queries: Numbers, radius: number, options?: { out?: Int32Array | Allocation<Int32Array> },
  ): Int32Array {
    const o = optionsOf(options);
    radiusOf(radius);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const counts = borrowed.answer(o.out, Int32Array, count, "out");
      check(wasm!.web_tree_within_count_all!(
        this.#tree, address, count, this.#dims, this.#bits, radius, counts.address));
      return counts.take();
    });
  }

  /** Builds the tree anew over other points, into the memory that it has. For points that move. If it fails, the tree
   * stays as it was. Throws as the constructor; UNSUPPORTED for a tree that was loaded. */
  rebuild(coords: Numbers): void {
    const tree = this.#alive();
    borrow((borrowed) => {
      const [address, count] = points(borrowed, given(coords, "coords"), "coords", this.#dims, this.type);
      check(wasm!.web_tree_rebuild!(tree, address, count, this.#dims, this.#bits));
    });
    this.#learn();
  }

  /** The tree as bytes, for `PointTree.load` and for the C library. */
  save(): Uint8Array {
    return saveTree(this.#alive(), "web_tree");
  }

  /** Gives the memory back. The tree cannot be used after that; further calls of `free` do nothing. */
  free(): void {
    if (!this.#tree) return;
    this.#tree = 0;
    unwatch(this);
    release(this.#held);
  }
}
/** Freed at the end of its block, if declared by `using`. */
export interface PointTree extends Disposable {}
disposable(PointTree);

function build(coords: Numbers, options: PointTreeOptions): number {
  const dims = options.dims === undefined ? 2 : integer(options.dims, 1, 16, "dims");
  const source = given(coords, "coords");
  const type = options.type ?? (exactInFloat.includes(source.type) ? Float32Array : Float64Array);
  if (type !== Float32Array && type !== Float64Array) refuse("type: is neither Float32Array nor Float64Array");
  const split = choice(options.split, ["median", "sliding-midpoint"], "split");
  const axis = choice(options.axis, ["widest", "cycle"], "axis");
  const leaf = options.leafSize === undefined ? 0 : integer(options.leafSize, 1, 1024, "leafSize");
  return borrow((borrowed) => {
    const [address, count] = points(borrowed, source, "coords", dims, type);
    const bits = 8 * type.BYTES_PER_ELEMENT;
    check(wasm!.web_tree_build!(address, count, dims, bits, split, axis, leaf, +!!options.dropDuplicates));
    return u32[integers]!;
  });
}

// Points in the module's memory: where, and how many.
function points(
  borrowed: Borrowed, source: Given, what: string, dims: number, type: Precision,
): [address: number, count: number] {
  if (source.length % dims !== 0) refuse(`${what}: ${source.length} numbers are no whole number of ${dims}-D points`);
  return [borrowed.put(source, type as TypedArrayConstructor<TypedArray>), source.length / dims];
}

// A radius as sap_search has it, where 0 is none; the square of the least number is 0.
function limit(radius: number): number {
  if (radiusOf(radius) === Infinity) return 0;
  return radius || Number.MIN_VALUE;
}
