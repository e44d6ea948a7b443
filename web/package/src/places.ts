// Places on Earth, by longitude and latitude.
import { disposable, finite, given, givenRows, integer, isArray, optionsOf, radiusOf, type Rows as Coordinates } from "./arrays.js";
import { refuse } from "./errors.js";
import { type Accessor, type Filter, type Neighbor, type Point, PointTree } from "./points.js";

/** The mean radius of the Earth in metres, as a sphere. */
export const earthRadius = 6371008.8;

const radians = Math.PI / 180;
const treeOptions = "leafSize dropDuplicates";

// Where a place is on the unit sphere. Chords through it are as long as arcs on it are far, so it serves for searches,
// at the poles and across the antimeridian too.
function onSphere(longitude: number, latitude: number, what: string, index?: number): [x: number, y: number, z: number] {
  if (!(Math.abs(latitude) <= 90)) refuse(`${what}: the latitude${index === undefined ? "" : ` of place ${index}`} is ${latitude}, not from -90 to 90`);
  const [east, north] = [longitude * radians, latitude * radians];
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}

// Metres along the ground for the length of a chord, and the other way round.
const metres = (chord: number) => 2 * earthRadius * Math.asin(Math.min(1, chord / 2));
const chord = (distance: number) => (distance >= Math.PI * earthRadius ? Infinity : 2 * Math.sin(distance / (2 * earthRadius)));

/**
 * A tree over places on Earth: [[longitude, latitude], …] in degrees, or longitude, latitude, longitude, … Distances are
 * along great circles of a sphere, in metres; they are rounded (by less than a micrometre nearby, by up to a decimetre
 * where a place is nearly opposite). Longitudes may be of any turn: 190 is -170.
 */
export class PlaceTree {
  readonly #tree: PointTree<Float64Array>;

  /** Throws ARGUMENT, NOT_FINITE (a longitude or a latitude), MEMORY. */
  constructor(places: Coordinates, options?: { leafSize?: number; dropDuplicates?: boolean }) {
    const o = optionsOf(options, treeOptions);
    const source = givenRows(places, "places");
    if (source.length % 2 || (source.width ?? 2) !== 2) refuse("places: is not pairs of a longitude and a latitude");
    const { array } = source;
    const sphere = new Float64Array((3 * source.length) / 2);
    for (let i = 0; i < source.length; i += 2)
      sphere.set(onSphere(finite(array[i], "places", i), finite(array[i + 1], "places", i + 1), "places", i / 2), (3 * i) / 2);
    this.#tree = new PointTree(sphere, { ...o, dims: 3, type: Float64Array }) as PointTree<Float64Array>;
  }

  /** A tree over the places of things: `PlaceTree.from(cities, (city) => [city.lon, city.lat])`, or a function for each
   * of the two. */
  static from<T>(items: Iterable<T>, ...accessors: [Accessor<T>, Accessor<T>?]): PlaceTree {
    const gets = accessors.filter((get) => get !== undefined);
    if (!gets.length || gets.some((get) => typeof get !== "function")) refuse("get: is not a function that gives a place");
    if (typeof (items as Iterable<unknown> | null | undefined)?.[Symbol.iterator] !== "function") refuse("items: is not iterable");
    const pairs: number[] = [];
    let index = 0;
    for (const item of items) {
      const parts = gets.map((get) => get!(item, index));
      const { array, length } = given(gets.length === 1 ? parts[0] : parts, `get(items[${index}])`);
      if (length !== 2) refuse(`get(items[${index}]): has ${length} numbers, not a longitude and a latitude`);
      pairs.push(array[0]!, array[1]!);
      index++;
    }
    return new PlaceTree(pairs);
  }

  /** Places in the tree. */
  get count(): number {
    return this.#tree.count;
  }

  #query(place: unknown): [number, number, number] {
    if (!isArray(place) || place.length !== 2) refuse("place: is not an array of a longitude and a latitude");
    return onSphere(finite(place[0], "place", 0), finite(place[1], "place", 1), "place");
  }

  /** The place nearest to [longitude, latitude], no farther than `distance` metres, that a filter lets through; null if
   * there is none. */
  nearest(place: Point, distance: number = Infinity, filter?: Filter): Neighbor | null {
    return this.knn(place, 1, distance, filter)[0] ?? null;
  }

  /** The k nearest places, the nearest first, with their distances in metres. Fewer, if there are no more. */
  knn(place: Point, k: number, distance: number = Infinity, filter?: Filter): Neighbor[] {
    integer(k, 1, 2147483647, "k");
    const found = this.#tree.knn(this.#query(place), k, chord(radiusOf(distance)), filter);
    return found.map((neighbor) => ({ id: neighbor.id, distance: metres(neighbor.distance) }));
  }

  /** The ids of all places no farther than `distance` metres, in no particular order. */
  within(place: Point, distance: number, filter?: Filter): number[] {
    return this.#tree.within(this.#query(place), Math.min(chord(radiusOf(distance)), 3), filter);
  }

  /** Gives the memory back. */
  free(): void {
    this.#tree.free();
  }
}
/** Freed at the end of its block, if declared by `using`. */
export interface PlaceTree extends Disposable {}
disposable(PlaceTree);
