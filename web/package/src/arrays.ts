/// <reference lib="esnext.disposable" preserve="true" />
// How arrays get into the module's memory and out of it, with as few copies as can be.
import { refuse, SapwoodError } from "./errors.js";
import { allocate as allocateBytes, isMemory, memoryBuffer, need, unwatch, wasm, watch } from "./wasm.js";

/** The typed arrays of numbers. */
export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | Float32Array | Float64Array;

/** A constructor of typed arrays. */
export interface TypedArrayConstructor<T> {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  new (length: number): T;
}

/** Numbers in any array. Typed arrays of the type that is wanted are copied fastest; an `Allocation` is not copied. */
export type Numbers = ArrayLike<number> | Allocation<TypedArray>;

/** Numbers in any array, or in an array of arrays, all of one length: a point, a triangle or a ray each. */
export type Rows = Numbers | ArrayLike<ArrayLike<number>>;

/**
 * An array inside WebAssembly's memory, made by `allocate`: calls read it and write it where it lies, without a copy.
 *
 * Take `array` anew after every call of this package: when the memory grows, views taken before become empty.
 */
export class Allocation<T extends TypedArray> {
  #address: number;
  #view: T | undefined;
  /** How many elements it has. */
  readonly length: number;
  /** The constructor of `array`. */
  readonly type: TypedArrayConstructor<T>;

  /** Use `allocate` instead. */
  constructor(type: TypedArrayConstructor<T>, length: number) {
    if (!Number.isInteger(length) || length < 0) refuse(`length: ${String(length)} is not a number of elements`);
    const module = need();
    const address = allocateBytes(length * type.BYTES_PER_ELEMENT);
    this.#address = address;
    this.length = length;
    this.type = type;
    watch(this, () => module.free(address));
  }

  /** The array, to be filled or read. */
  get array(): T {
    const address = this.#address;
    if (!address) throw new SapwoodError("FREED", "The allocation was used after free().");
    if (!this.#view || !isMemory(this.#view.buffer)) this.#view = new this.type(memoryBuffer(), address, this.length);
    return this.#view;
  }

  /** Gives the memory back. Further calls do nothing. */
  free(): void {
    if (!this.#address) return;
    unwatch(this);
    wasm!.free(this.#address);
    this.#address = 0;
    this.#view = undefined;
  }
}

/** An array inside WebAssembly's memory, for arguments and answers that shall not be copied. Its elements are whatever
 * lay there before. */
export function allocate<T extends TypedArray>(type: TypedArrayConstructor<T>, length: number): Allocation<T> {
  return new Allocation(type, length);
}

/** An answer on its way: where the module writes it, and how it comes to the caller. */
export interface Answer<T> {
  readonly address: number;
  take(): T;
}

function isDetached(array: ArrayBufferView): boolean {
  if (array.byteLength > 0) return false;
  try {
    new Uint8Array(array.buffer);
    return false;
  } catch {
    return true;
  }
}

/** Numbers that an argument holds. What lies in the module's memory is known by its address: views do not outlive the
 * memory's growth, which any allocation may bring. */
export interface Given {
  readonly length: number;
  readonly type: unknown; // its constructor
  readonly array: ArrayLike<number>; // not to be used after an allocation if address is set
  readonly address: number | undefined;
  readonly what: string; // the argument's name
  readonly width?: number; // numbers in each row, if it was an array of arrays
}

/** What an argument holds, checked to be an array of numbers. */
export function given(source: unknown, what: string): Given {
  const array = source instanceof Allocation ? source.array : source;
  if (ArrayBuffer.isView(array)) {
    if (array instanceof DataView || array instanceof BigInt64Array || array instanceof BigUint64Array)
      refuse(`${what}: is a ${array.constructor.name}, not an array of numbers`);
    if (isDetached(array)) refuse(`${what}: its buffer is detached; take a fresh view of it`);
    const { length, constructor, buffer, byteOffset } = array as TypedArray;
    const address = isMemory(buffer) ? byteOffset : undefined;
    return { length, type: constructor, array: array as TypedArray, address, what };
  }
  if (!isArray(array)) refuse(`${what}: is ${kindOf(array)}, not an array of numbers`);
  return { length: array.length, type: undefined, array: array as ArrayLike<number>, address: undefined, what };
}

/** The same for an argument that may be an array of arrays. */
export function givenRows(source: unknown, what: string): Given {
  const rows = given(source, what);
  const first: unknown = rows.type === undefined && rows.length ? rows.array[0] : 0;
  if (!isArray(first)) {
    numberOf(first, what, 0);
    return rows;
  }
  const width = first.length;
  const all = new Float64Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) {
    const row: unknown = rows.array[i];
    if (!isArray(row)) refuse(`${what}: its element ${i} is ${kindOf(row)}, not an array of ${width} numbers`);
    if (row.length !== width) refuse(`${what}: its element ${i} has ${row.length} numbers, not ${width}`);
    for (let a = 0; a < width; a++) all[i * width + a] = numberOf(row[a], `${what}[${i}]`, a);
  }
  return { length: all.length, type: Float64Array, array: all, address: undefined, what, width };
}

export function isArray(value: unknown): value is ArrayLike<unknown> {
  return isObject(value) && Number.isInteger(value.length) && (value.length as number) >= 0;
}

function kindOf(value: unknown): string {
  return value == null ? String(value) : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** An element of an array of numbers. */
export function numberOf(value: unknown, what: string, element: number): number {
  if (typeof value !== "number") refuse(`${what}: its element ${element} is ${kindOf(value)}, not a number`);
  return value;
}

/** An element of a single query, which has to be finite. */
export function finite(value: unknown, what: string, element: number): number {
  const x = numberOf(value, what, element);
  if (x - x !== 0) throw new SapwoodError("NOT_FINITE", `${what}: its element ${element} is ${x}`);
  return x;
}

// Writes given numbers into an array.
function fill(to: TypedArray, { length, array, address, type, what }: Given): void {
  if (address !== undefined) to.set(new (type as TypedArrayConstructor<TypedArray>)(memoryBuffer(), address, length));
  else if (type !== undefined) to.set(array);
  else for (let i = 0; i < length; i++) to[i] = numberOf(array[i], what, i);
}

/** Given numbers as an array of one's own. */
export function copyOf(source: Given, type: TypedArrayConstructor<TypedArray>): TypedArray {
  const copy = new type(source.length);
  fill(copy, source);
  return copy;
}

/** Memory that a call borrows, for arguments and answers that lie elsewhere. */
export class Borrowed {
  #addresses: number[] = [];

  room(bytes: number): number {
    const address = allocateBytes(bytes);
    this.#addresses.push(address);
    return address;
  }

  /** The address of given numbers as elements of one type: their own where they lie in the module's memory already. */
  put<T extends TypedArray>(source: Given, type: TypedArrayConstructor<T>): number {
    const { length, address: own } = source;
    if (own !== undefined && source.type === type) return own;
    const address = this.room(length * type.BYTES_PER_ELEMENT);
    fill(new type(memoryBuffer(), address, length), source);
    return address;
  }

  /** Where an answer of `length` elements is written: into `out`, if there is one, else into a new array. */
  answer<T extends TypedArray>(
    out: T | Allocation<T> | undefined, type: TypedArrayConstructor<T>, length: number, what: string,
  ): Answer<T> {
    if (out === undefined) {
      const address = this.room(length * type.BYTES_PER_ELEMENT);
      return {
        address,
        take: () => {
          const copy = new type(length);
          copy.set(new type(memoryBuffer(), address, length));
          return copy;
        },
      };
    }
    const target = given(out, what);
    if (target.type !== type) refuse(`${what}: is no ${type.name}`);
    if (target.length < length) refuse(`${what}: has ${target.length} elements, fewer than the ${length} that are needed`);
    const own = target.address;
    if (own !== undefined) {
      const view = () => new type(memoryBuffer(), own, target.length);
      return { address: own, take: () => (out instanceof Allocation ? out.array : view()) };
    }
    const address = this.room(length * type.BYTES_PER_ELEMENT);
    return {
      address,
      take: () => {
        (out as T).set(new type(memoryBuffer(), address, length));
        return out as T;
      },
    };
  }

  /** Whether an address is one of room(): what lies there is a copy, or an answer. */
  owns(address: number): boolean {
    return this.#addresses.includes(address);
  }

  giveBack(): void {
    for (const address of this.#addresses) wasm!.free(address);
  }
}

/** Runs a call with borrowed memory, and gives that back however the call ends. */
export function borrow<R>(call: (borrowed: Borrowed) => R): R {
  need();
  const borrowed = new Borrowed();
  try {
    return call(borrowed);
  } finally {
    borrowed.giveBack();
  }
}

/** Copies elements out of the module's memory. */
export function copyOut<T extends TypedArray>(type: TypedArrayConstructor<T>, address: number, length: number): T {
  const copy = new type(length);
  copy.set(new type(memoryBuffer(), address, length));
  return copy;
}

/** Lets `using` free objects, where the language has that. */
export function disposable(made: { prototype: { free(): void } }): void {
  const symbol: symbol | undefined = (Symbol as { dispose?: symbol }).dispose;
  if (symbol) Object.defineProperty(made.prototype, symbol, { value: made.prototype.free, configurable: true, writable: true });
}
/** Freed at the end of its block, if declared by `using`. */
export interface Allocation<T extends TypedArray> extends Disposable {}
disposable(Allocation);

// ---- Checks of single arguments.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The options of a call: an object with none but these names, separated by spaces; or nothing. */
export function optionsOf<T extends object>(options: T | undefined, names: string, what = "options"): T {
  if (options === undefined) return {} as T;
  if (!isObject(options)) refuse(`${what}: is ${kindOf(options)}, not an object`);
  const known = names.split(" ");
  for (const name of Object.keys(options))
    if (!known.includes(name)) refuse(`${what}.${name}: there is no such option, only ${known.join(", ")}`);
  return options;
}

export function integer(value: unknown, least: number, most: number, what: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    refuse(`${what}: ${String(value)} is not an integer from ${least} to ${most}`);
  return value;
}

export function radiusOf(value: unknown, what = "radius"): number {
  if (typeof value !== "number" || !(value >= 0)) refuse(`${what}: ${String(value)} is not a radius`);
  return value;
}

/** The place of a name in a list of names. */
export function choice(value: unknown, names: readonly string[], what: string): number {
  const place = value === undefined ? 0 : names.indexOf(value as string);
  if (place < 0) refuse(`${what}: ${JSON.stringify(value)} is none of ${names.map((name) => `"${name}"`).join(", ")}`);
  return place;
}
