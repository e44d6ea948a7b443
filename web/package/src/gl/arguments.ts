// Checks of arguments.
import { finite, integer, isArray, isObject, optionsOf, radiusOf } from "../arrays.js";
import { refuse } from "../errors.js";

export { integer, isObject, optionsOf, radiusOf };

/** Coordinates of a place: as many finite numbers as are wanted. */
export function three(place: unknown, what: string, count: number = 3): number[] {
  if (!isArray(place) || place.length !== count) refuse(`${what}: is not an array of ${count} numbers`);
  return Array.from(place, (value, i) => finite(value, what, i));
}

/** A copy of integers in the module's memory. */
export function borrowedInt32(buffer: ArrayBufferLike, address: number, count: number): Int32Array {
  return new Int32Array(buffer, address, count).slice();
}
