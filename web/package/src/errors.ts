/** What went wrong: the C library's statuses without their prefix, and three of the package's own. */
export type Status =
  | "ARGUMENT" /** an argument of the wrong type, length or value */
  | "RANGE" /** more elements than can be, or an index beyond its array */
  | "NOT_FINITE" /** a coordinate is NaN, infinite, or too large to be squared; the message names the first */
  | "MEMORY" /** WebAssembly's memory is used up; everything stays usable */
  | "UNSUPPORTED" /** a valid request that this tree cannot serve */
  | "FORMAT" /** bytes that are not a saved tree, or no longer a whole one */
  | "IO" /** the module could not be fetched or read */
  | "NOT_LOADED" /** `await load()` has to come first */
  | "FREED" /** the object was used after `free()` */
  | "DEVICE_MEMORY" /** WebGL has no memory for a texture or a buffer; `sapwood/gl` only, as the next two */
  | "DEVICE_LOST" /** the context was lost, or closed; open it again once it has been restored */
  | "NO_DEVICE" /** the context cannot do what is needed of any */
  | "INTERNAL"; /** nothing that a caller could do */

/** Every error that this package throws. The message is a sentence for people, `status` is for programs. */
export class SapwoodError extends Error {
  readonly status: Status;
  constructor(status: Status, message: string) {
    super(message);
    this.name = "SapwoodError";
    this.status = status;
  }
}

// By sap_status; what is not named cannot come from a CPU.
const statuses: readonly (Status | undefined)[] = [
  undefined, "ARGUMENT", "RANGE", "NOT_FINITE", "MEMORY", undefined, undefined, undefined, "UNSUPPORTED", "IO", "FORMAT",
];

export function statusOf(code: number): Status {
  return statuses[code] ?? "INTERNAL";
}

/** Throws what is wrong with an argument. */
export function refuse(message: string): never {
  throw new SapwoodError("ARGUMENT", message);
}
