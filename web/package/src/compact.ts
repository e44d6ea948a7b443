// Stream compaction.
import { type Allocation, borrow, copyOut, given, integer, type TypedArray, type TypedArrayConstructor } from "./arrays.js";
import { refuse } from "./errors.js";
import { checkWithRoom } from "./held.js";
import { integers, u32, wasm } from "./wasm.js";

/**
 * The items of an array whose flag is not 0, in their old order, as a new array of the same type. An item is `width`
 * elements, for rows such as x, y, z. O(n).
 */
export function compact<T extends TypedArray>(
  items: T | Allocation<T>, keep: ArrayLike<number | boolean> | Allocation<Uint8Array>, width: number = 1,
): T {
  const source = given(items, "items");
  if (!ArrayBuffer.isView(source.array)) refuse("items: is not a typed array");
  integer(width, 1, 2147483647, "width");
  const flags = given(keep, "keep");
  if (source.length !== flags.length * width)
    refuse(`keep: ${flags.length} flags for ${source.length} elements, ${width} an item`);
  const type = source.type as TypedArrayConstructor<T>;
  const bytes = flags.type === Uint8Array ? flags : given(Uint8Array.from(flags.array, (flag) => +!!flag), flags.what);
  return borrow((borrowed) => {
    // Copies are compacted where they lie, what is the caller's is left as it is.
    const before = borrowed.put(source, type);
    const flagged = borrowed.put(bytes, Uint8Array);
    const itemBytes = width * type.BYTES_PER_ELEMENT;
    const out = borrowed.owns(before) ? before : borrowed.room(flags.length * itemBytes);
    checkWithRoom(() => wasm!.web_compact!(before, flags.length, itemBytes, flagged, out));
    return copyOut(type, out, u32[integers]! * width);
  });
}
