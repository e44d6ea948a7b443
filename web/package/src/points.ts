// Trees over points.
import {
  type Allocation, borrow, Borrowed, choice, copyOf, copyOut, disposable, finite, given, type Given, givenRows, integer, isArray,
  numberOf, type Numbers, optionsOf, radiusOf, type Rows as Coordinates, type TypedArray, type TypedArrayConstructor,
} from "./arrays.js";
import { buildElsewhere } from "./elsewhere.js";
import { refuse } from "./errors.js";
import { bytesOf, checkWithRoom, Held, Loaded, loadSaved, saveTree } from "./held.js";
import { check, f64, i32, integers, numbers, u32, wasm } from "./wasm.js";

/** The precision of a tree: answers are exact for coordinates of this type. */
export type Precision = Float32ArrayConstructor | Float64ArrayConstructor;

/** Distances of a tree's precision. */
export type Distances = Float32Array | Float64Array;

/** How to build a tree. */
export interface PointTreeOptions {
  /** Coordinates a point, 1 to 16. Default: as many as each of an array of points has, else 2. */
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
  /** Axes that close in a circle: how long each is, 0 for one that does not, or one number for all. Points and queries are
   * wrapped, and distances are to the nearest image of a point. `[360, 0]`: longitudes wrap, latitudes do not. */
  period?: number | ArrayLike<number>;
}

/** A point that was found: its number among the points given, and how far it is. */
export interface Neighbor {
  id: number;
  distance: number;
}

/** Whether a point may be found, by its id. */
export type Filter = (id: number) => boolean;

/** An index of kdbush: ids, and x and y of each in their order. */
export interface KDBushLike {
  readonly ids: ArrayLike<number>;
  readonly coords: Numbers;
}

/** The place to search about: an array of as many numbers as the tree has dimensions. */
export type Point = ArrayLike<number>;

/** Neighbours of many queries: those of query i stand in row i, k places long; missing ones are -1 at Infinity. */
export interface Neighbors<D extends Distances = Distances> {
  ids: Int32Array;
  distances: D;
}

/** Points within a radius of many queries: those of query i are ids[offsets[i]] … ids[offsets[i + 1] - 1]. */
export interface Rows<D extends Distances = Distances> {
  offsets: Int32Array;
  ids: Int32Array;
  distances: D;
}

/** Which points may be found, by id. */
export type Keep = Uint8Array | Allocation<Uint8Array>;

/** Options of searches for many queries. */
export interface SearchOptions<D extends Distances = Distances> {
  /** Squared distances instead of distances: as they are computed, before the root is taken. */
  squared?: boolean;
  /** Only points whose entry, by id, is not 0 may be found: as many entries as points were given. */
  keep?: Keep;
  /** Arrays to write into instead of new ones. Those made by `allocate` are written without a copy. */
  out?: {
    ids?: Int32Array | Allocation<Int32Array>;
    distances?: D | Allocation<D>;
  };
}
const searchOptions = "squared out radius keep";
const buildOptions = "dims type split axis leafSize dropDuplicates period";

/** Says of a thing where it is, or one coordinate of that. */
export type Accessor<T> = (item: T, index: number) => Point | number;

// The rules of a build, as the module takes them.
interface Rules {
  numbers: [split: number, axis: number, leafSize: number, dropDuplicates: number];
  period: ArrayLike<number>; // of each axis; empty: there are none
}

// The ids that the module has found.
function foundIds(): number[] {
  const ids = u32[integers + 1]! / 4;
  const list = new Array<number>(i32[integers]!);
  for (let i = 0; i < list.length; i++) list[i] = i32[ids + i]!;
  return list;
}

const exactInFloat: readonly unknown[] =
  [Float32Array, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array];

/**
 * A k-d tree over points of 1 to 16 dimensions. Points are numbered as they were given, from 0. The tree keeps a copy of
 * them in WebAssembly's memory, until `free()`, or until the tree is collected as garbage.
 *
 * Answers are exact; of equal distances the smaller id comes first. A single query that finds nothing answers null, or an
 * empty list; among the answers to many queries, a missing one is -1 at Infinity. A single query with a number that is not
 * finite is refused (NOT_FINITE); among many it finds nothing. Boxes may be infinite.
 */
export class PointTree<D extends Distances = Distances> {
  #dims = 0;
  #bits = 32;
  #count = 0;
  #given = 0;
  readonly #rules: Rules | undefined; // undefined: it was loaded
  readonly #held = new Held("web_tree");

  /**
   * Builds a tree over points: [[x0, y0], [x1, y1], …], or x0, y0, x1, y1, … O(n log n).
   * Throws ARGUMENT, NOT_FINITE (naming the point), RANGE, MEMORY.
   */
  constructor(coords: Coordinates, options?: PointTreeOptions) {
    if (coords instanceof Loaded) {
      this.#rules = coords.rules as Rules | undefined;
      loadSaved(coords.bytes, this.#held, this, +!!coords.rules);
    } else {
      const [source, dims, type, rules] = planOf(coords, options);
      this.#rules = rules;
      this.#held.take(this, build(source, dims, type, rules));
    }
    this.#learn();
  }

  /** The same in a worker, so that the page stays responsive: the points are copied. A content security policy needs
   * `worker-src blob:`. Throws as the constructor; UNSUPPORTED if no worker can be had. */
  static async build(coords: Coordinates, options?: PointTreeOptions): Promise<PointTree> {
    const [source, dims, type, rules] = planOf(coords, options);
    const count = pointsIn(source, dims);
    const own = copyOf(source, type as TypedArrayConstructor<TypedArray>);
    return new PointTree(await buildElsewhere("web_tree", [own, count, dims, 8 * type.BYTES_PER_ELEMENT, ...rules.numbers],
      periodsOf(rules, dims), rules) as unknown as Numbers);
  }

  /** A tree over the places of things: an accessor gives the coordinates of each, or one accessor for each coordinate. */
  static from<T>(items: Iterable<T>, get: (item: T, index: number) => Point, options?: PointTreeOptions): PointTree;
  /** A tree over the points of a kdbush index, with their ids there. */
  static from(index: KDBushLike, options?: PointTreeOptions): PointTree;
  static from<T>(items: Iterable<T>, ...accessors: [Accessor<T>, ...Accessor<T>[]]): PointTree;
  static from<T>(items: Iterable<T>, ...accessors: [Accessor<T>, ...Accessor<T>[], PointTreeOptions]): PointTree;
  static from(items: Iterable<unknown> | KDBushLike, ...rest: unknown[]): PointTree {
    const { ids, coords: of } = (items ?? 0) as KDBushLike;
    if (ids && of) {
      const { array, length } = given(of, "coords");
      if (length !== 2 * ids.length) refuse(`coords: ${length} numbers for ${ids.length} ids`);
      const flat = (array as Float64Array).slice();
      for (let i = 0; i < length; i++) flat[2 * ids[i >> 1]! + (i & 1)] = array[i]!;
      return new PointTree(flat, rest[0] as PointTreeOptions | undefined);
    }
    const end = rest.findIndex((get) => typeof get !== "function");
    const gets = (end < 0 ? rest : rest.slice(0, end)) as Accessor<unknown>[];
    if (!gets.length) refuse("get: is not a function that gives the place of an item");
    if (typeof (items as Iterable<unknown> | null | undefined)?.[Symbol.iterator] !== "function") refuse("items: is not iterable");
    const options = optionsOf(rest[gets.length] as PointTreeOptions | undefined, buildOptions);
    const coords: number[] = [];
    let dims = options.dims && integer(options.dims, 1, 16, "options.dims");
    let index = 0;
    for (const item of items as Iterable<unknown>) {
      const what = `get(items[${index}])`;
      const parts = gets.map((get) => get(item, index));
      const { array, length } = given(gets.length === 1 && typeof parts[0] !== "number" ? parts[0] : parts, what);
      dims ??= length;
      if (length !== dims) refuse(`${what}: has ${length} coordinates, not ${dims}`);
      for (let a = 0; a < dims; a++) coords.push(numberOf(array[a], what, a));
      index++;
    }
    return new PointTree(coords, { ...options, ...(dims === undefined ? {} : { dims }) });
  }

  /** A tree from what `save()` gave. All of it is checked first. Throws FORMAT, MEMORY. */
  static load(bytes: Uint8Array | ArrayBuffer): PointTree {
    return new PointTree(new Loaded(bytesOf(bytes)) as unknown as Numbers);
  }

  #learn(): void {
    check(wasm!.web_tree_describe!(this.#held.tree));
    this.#count = i32[integers]!;
    this.#given = i32[integers + 1]!;
    this.#dims = i32[integers + 2]!;
    this.#bits = i32[integers + 3]!;
  }

  #alive(): number {
    return this.#held.use(this);
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
    return { lower: this.#described(0), upper: this.#described(1) };
  }
  /** How long each axis is that closes in a circle, in the tree's precision; 0 for the others. */
  get period(): number[] {
    check(wasm!.web_tree_describe!(this.#alive()));
    return this.#described(2);
  }

  // One of the lists of coordinates that the module describes a tree by.
  #described(which: number): number[] {
    const from = numbers + 1 + 16 * which;
    return Array.from(f64.subarray(from, from + this.#dims));
  }

  // Puts a query where the module looks for it; gives the tree.
  #ask(query: ArrayLike<unknown>, length = isArray(query) ? query.length : -1): number {
    const dims = this.#dims;
    this.#alive();
    if (length !== dims) refuse(`query: is not an array of ${dims} numbers`);
    for (let a = 0; a < dims; a++) f64[numbers + a] = finite(query[a], "query", a);
    return this.#held.tree;
  }

  /** The nearest point to a place, given as an array or as separate numbers, no farther than `radius`, that a filter lets
   * through; null if there is none. Expected O(log n). */
  nearest(query: Point, radius?: number, filter?: Filter): Neighbor | null;
  nearest(...coordinates: number[]): Neighbor | null;
  nearest(first: unknown, radius: number = Infinity, filter?: unknown): Neighbor | null {
    if (typeof first !== "number" && filter !== undefined) return this.knn(first as Point, 1, radius, filter as Filter)[0] ?? null;
    const one = typeof first !== "number";
    const tree = one ? this.#ask(first as Point) : this.#ask(arguments, arguments.length);
    check(wasm!.web_tree_nearest!(tree, this.#dims, this.#bits, one ? limit(radius) : 0));
    const id = i32[integers]!;
    return id < 0 ? null : { id, distance: f64[numbers]! };
  }

  /** The k nearest points to a place, the nearest first, no farther than `radius`, that a filter lets through. Fewer, if
   * there are no more. A filter is asked for points in this order, for each once, until k have come through. */
  knn(query: Point, k: number, radius: number = Infinity, filter?: Filter): Neighbor[] {
    if (filter !== undefined) return this.#filtered(query, k, radius, filterOf(filter));
    const tree = this.#ask(query);
    const most = Math.min(integer(k, 1, 2147483647, "k"), this.#count || 1);
    check(wasm!.web_tree_knn!(tree, this.#dims, this.#bits, most, limit(radius)));
    const ids = u32[integers + 1]! / 4;
    const distances = u32[integers + 2]! / 8;
    const found: Neighbor[] = [];
    for (let i = 0, n = i32[integers]!; i < n; i++) found.push({ id: i32[ids + i]!, distance: f64[distances + i]! });
    return found;
  }

  // Those of the neighbours, more and more of them, that come through.
  #filtered(query: Point, k: number, radius: number, filter: Filter): Neighbor[] {
    integer(k, 1, 2147483647, "k");
    const found: Neighbor[] = [];
    for (let seen = 0, asked = Math.max(8, 2 * k); ; asked *= 4) {
      const most = Math.min(asked, this.#count || 1);
      const neighbors = this.knn(query, most, radius);
      for (; seen < neighbors.length && found.length < k; seen++)
        if (filter(neighbors[seen]!.id)) found.push(neighbors[seen]!);
      if (found.length === k || neighbors.length < most || most === this.#count) return found;
    }
  }

  /** The ids of all points no farther than a radius from a place that a filter lets through, in no particular order:
   * `within([x, y], radius)`, or `within(x, y, radius)`. */
  within(query: Point, radius: number, filter?: Filter): number[];
  within(...coordinatesAndRadius: number[]): number[];
  within(first: unknown, radius?: number, filter?: unknown): number[] {
    const last = arguments.length - 1;
    const one = typeof first !== "number";
    const tree = one ? this.#ask(first as Point) : this.#ask(arguments, last);
    check(wasm!.web_tree_within!(tree, this.#dims, this.#bits, radiusOf(one ? radius : arguments[last])));
    const found = foundIds();
    return one && filter !== undefined ? found.filter((id) => filterOf(filter)(id)) : found;
  }

  /** The ids of all points in a box, its sides included, in no particular order: `range([x0, y0], [x1, y1])`, or
   * `range(x0, y0, x1, y1)`. Sides may be infinite. A box with a NaN, or with a lower side above the upper one, holds no
   * point. */
  range(lower: Point, upper: Point): number[];
  range(...lowerAndUpper: number[]): number[];
  range(first: unknown, second?: unknown): number[] {
    const tree = this.#alive();
    const dims = this.#dims;
    if (typeof first !== "number") {
      this.#corner(first, "lower", 0);
      this.#corner(second, "upper", dims);
    } else {
      if (arguments.length !== 2 * dims) refuse(`range: takes ${2 * dims} numbers, not ${arguments.length}`);
      for (let a = 0; a < 2 * dims; a++) f64[numbers + a] = numberOf(arguments[a], "range", a);
    }
    check(wasm!.web_tree_range!(tree, dims, this.#bits));
    return foundIds();
  }

  // Puts a corner of a box where the module looks for it.
  #corner(corner: unknown, what: string, first: number): void {
    const dims = this.#dims;
    if (!isArray(corner) || corner.length !== dims) refuse(`${what}: is not an array of ${dims} numbers`);
    for (let a = 0; a < dims; a++) f64[numbers + first + a] = numberOf(corner[a], what, a);
  }

  /** How many points are no farther than a radius from a place; arguments as of `within`. */
  withinCount(query: Point, radius: number): number;
  withinCount(...coordinatesAndRadius: number[]): number;
  withinCount(first: unknown, radius?: number): number {
    const last = arguments.length - 1;
    const one = typeof first !== "number";
    const tree = one ? this.#ask(first as Point) : this.#ask(arguments, last);
    check(wasm!.web_tree_within_count!(tree, this.#dims, this.#bits, radiusOf(one ? radius : arguments[last])));
    return i32[integers]!;
  }

  #queries(borrowed: Borrowed, queries: Coordinates): [address: number, count: number] {
    this.#alive();
    return points(borrowed, givenRows(queries, "queries"), this.#dims, this.type);
  }

  // Where a mask lies in the module's memory; 0: there is none.
  #mask(borrowed: Borrowed, keep: unknown): number {
    if (keep === undefined) return 0;
    const mask = given(keep, "options.keep");
    if (mask.type !== Uint8Array) refuse("options.keep: is no Uint8Array");
    if (mask.length !== this.#given) refuse(`options.keep: has ${mask.length} entries, not one for each of ${this.#given} points`);
    return borrowed.put(mask, Uint8Array);
  }

  // Room for ids and distances.
  #answers(borrowed: Borrowed, options: SearchOptions<D>, length: number) {
    const out = optionsOf(options.out, "ids distances", "options.out");
    return [
      borrowed.answer(out.ids, Int32Array, length, "out.ids"),
      borrowed.answer(out.distances, this.type as unknown as TypedArrayConstructor<D>, length, "out.distances"),
    ] as const;
  }

  /** The nearest point to each of many places. */
  nearestAll(queries: Coordinates, options?: SearchOptions<D> & { radius?: number }): Neighbors<D> {
    return this.knnAll(queries, 1, options);
  }

  /** The k nearest points to each of many places, in rows of k. */
  knnAll(queries: Coordinates, k: number, options?: SearchOptions<D> & { radius?: number }): Neighbors<D> {
    const o = optionsOf(options, searchOptions);
    integer(k, 1, 2147483647, "k");
    const radius = limit(o.radius ?? Infinity);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const keep = this.#mask(borrowed, o.keep);
      const [ids, distances] = this.#answers(borrowed, o, count * k);
      checkWithRoom(() => wasm!.web_tree_knn_all!(
        this.#held.tree, address, count, this.#dims, this.#bits, k, radius, ids.address, distances.address, +!!o.squared, keep));
      return { ids: ids.take(), distances: distances.take() };
    });
  }

  /** The k nearest other points to each point of the tree: row i is that of point i. */
  knnSelf(k: number, options?: SearchOptions<D> & { radius?: number }): Neighbors<D> {
    const o = optionsOf(options, searchOptions);
    integer(k, 1, 2147483647, "k");
    const radius = limit(o.radius ?? Infinity);
    this.#alive();
    const rows = this.#given;
    return borrow((borrowed) => {
      const keep = this.#mask(borrowed, o.keep);
      const [ids, distances] = this.#answers(borrowed, o, rows * k);
      checkWithRoom(() => wasm!.web_tree_knn_self!(
        this.#held.tree, rows, this.#bits, k, radius, ids.address, distances.address, +!!o.squared, keep));
      return { ids: ids.take(), distances: distances.take() };
    });
  }

  /** All points no farther than `radius` from each of many places; in each row the nearest first, if
   * `sorted`. */
  withinAll(queries: Coordinates, radius: number, options?: { sorted?: boolean; squared?: boolean; keep?: Keep }): Rows<D> {
    const o = optionsOf(options, "sorted squared keep");
    radiusOf(radius);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const keep = this.#mask(borrowed, o.keep);
      const offsets = borrowed.answer(undefined, Int32Array, count + 1, "offsets");
      checkWithRoom(() => wasm!.web_tree_within_all!(
        this.#held.tree, address, count, this.#dims, this.#bits, radius, offsets.address, +!!o.sorted, +!!o.squared, keep));
      const [rows, total, ids, distances] = u32.subarray(integers, integers + 4) as unknown as [number, number, number, number];
      try {
        const type = this.type as unknown as TypedArrayConstructor<D>;
        return { offsets: offsets.take(), ids: copyOut(Int32Array, ids, total), distances: copyOut(type, distances, total) };
      } finally {
        wasm!.web_rows_free!(rows);
      }
    });
  }

  /** All points in each of many boxes, as `range` finds them; in each row ascending, if `sorted`. */
  rangeAll(lower: Coordinates, upper: Coordinates, options?: { sorted?: boolean }): Pick<Rows<D>, "offsets" | "ids"> {
    const o = optionsOf(options, "sorted");
    this.#alive();
    return borrow((borrowed) => {
      const [low, count] = points(borrowed, givenRows(lower, "lower"), this.#dims, this.type);
      const [high, others] = points(borrowed, givenRows(upper, "upper"), this.#dims, this.type);
      if (others !== count) refuse(`upper: has ${others} corners, not ${count}`);
      const offsets = borrowed.answer(undefined, Int32Array, count + 1, "offsets");
      checkWithRoom(() => wasm!.web_tree_range_all!(
        this.#held.tree, low, high, count, this.#dims, this.#bits, offsets.address, +!!o.sorted));
      const [rows, total, ids] = u32.subarray(integers, integers + 3) as unknown as [number, number, number];
      try {
        return { offsets: offsets.take(), ids: copyOut(Int32Array, ids, total) };
      } finally {
        wasm!.web_rows_free!(rows);
      }
    });
  }

  /** How many points are no farther than `radius` from each of many places. */
  withinCountAll(
    queries: Coordinates, radius: number, options?: { out?: Int32Array | Allocation<Int32Array>; keep?: Keep },
  ): Int32Array {
    const o = optionsOf(options, "out keep");
    radiusOf(radius);
    return borrow((borrowed) => {
      const [address, count] = this.#queries(borrowed, queries);
      const keep = this.#mask(borrowed, o.keep);
      const counts = borrowed.answer(o.out, Int32Array, count, "out");
      checkWithRoom(() => wasm!.web_tree_within_count_all!(
        this.#held.tree, address, count, this.#dims, this.#bits, radius, counts.address, keep));
      return counts.take();
    });
  }

  /** Builds the tree anew over other points, into the memory that it has. For points that move. If it fails, the tree
   * stays as it was. Throws as the constructor; UNSUPPORTED for a tree that was loaded. */
  rebuild(coords: Coordinates): void {
    this.#alive();
    const source = givenRows(coords, "coords");
    const held = this.#held;
    if (held.saved && this.#rules) {
      // It was parked and came back as a loaded tree, which cannot be built anew.
      const tree = build(source, this.#dims, this.type, this.#rules);
      held.free();
      held.take(this, tree);
    } else {
      borrow((borrowed) => {
        const [address, count] = points(borrowed, source, this.#dims, this.type);
        checkWithRoom(() => wasm!.web_tree_rebuild!(held.tree, address, count, this.#dims, this.#bits));
      });
      held.measure();
    }
    this.#learn();
  }

  /** The tree as bytes, for `PointTree.load` and for the C library. */
  save(): Uint8Array {
    return saveTree(this.#alive(), "web_tree");
  }

  /** Gives the memory back. The tree cannot be used after that; further calls of `free` do nothing. */
  free(): void {
    this.#held.free();
  }
}
/** Freed at the end of its block, if declared by `using`. */
export interface PointTree<D extends Distances = Distances> extends Disposable {}
disposable(PointTree);

function rulesOf(options: PointTreeOptions, dims: number): Rules {
  const { leafSize } = options;
  return {
    numbers: [
      choice(options.split, ["median", "sliding-midpoint"], "options.split"),
      choice(options.axis, ["widest", "cycle"], "options.axis"),
      leafSize === undefined ? 0 : integer(leafSize, 1, 1024, "options.leafSize"),
      +!!options.dropDuplicates,
    ],
    period: options.period === undefined ? [] : periodOf(options.period, dims),
  };
}

function periodOf(period: unknown, dims: number): number[] {
  const all = typeof period === "number" ? Array<number>(dims).fill(period) : given(period, "options.period").array;
  if (all.length !== dims) refuse(`options.period: has ${all.length} numbers, not one for each of ${dims} axes`);
  return Array.from(all, (length, a) => {
    if (!(numberOf(length, "options.period", a) >= 0 && length < Infinity)) refuse(`options.period: ${length} of axis ${a} is not a length`);
    return length;
  });
}

// What is to be built.
function planOf(coords: Coordinates, options: PointTreeOptions | undefined): [source: Given, dims: number, type: Precision, rules: Rules] {
  const o = optionsOf(options, buildOptions);
  const source = givenRows(coords, "coords");
  const dims = integer(o.dims === undefined ? source.width ?? 2 : o.dims, 1, 16, "dims");
  const type = o.type ?? (exactInFloat.includes(source.type) ? Float32Array : Float64Array);
  if (type !== Float32Array && type !== Float64Array) refuse("options.type: is neither Float32Array nor Float64Array");
  return [source, dims, type, rulesOf(o, dims)];
}

function periodsOf(rules: Rules, dims: number): number[] {
  return Array.from({ length: dims }, (_, a) => rules.period[a] ?? 0);
}

function build(source: Given, dims: number, type: Precision, rules: Rules): number {
  return borrow((borrowed) => {
    const [address, count] = points(borrowed, source, dims, type);
    checkWithRoom(() => {
      f64.set(periodsOf(rules, dims), numbers);
      return wasm!.web_tree_build!(address, count, dims, 8 * type.BYTES_PER_ELEMENT, ...rules.numbers);
    });
    return u32[integers]!;
  });
}

// Points in the module's memory: where, and how many.
function points(borrowed: Borrowed, source: Given, dims: number, type: Precision): [address: number, count: number] {
  return [borrowed.put(source, type as TypedArrayConstructor<TypedArray>), pointsIn(source, dims)];
}

function pointsIn({ length, what, width }: Given, dims: number): number {
  if (width !== undefined && width !== dims) refuse(`${what}: each is an array of ${width} numbers, not of ${dims}`);
  if (length % dims !== 0) refuse(`${what}: ${length} numbers are no whole number of ${dims}-D points`);
  return length / dims;
}

function filterOf(filter: unknown): Filter {
  if (typeof filter !== "function") refuse("filter: is not a function that takes an id");
  return filter as Filter;
}

// A radius as sap_search has it, where 0 is none; the square of the least number is 0.
function limit(radius: number): number {
  if (radiusOf(radius) === Infinity) return 0;
  return radius || Number.MIN_VALUE;
}
