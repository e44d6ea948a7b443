// Numbers and buffers whose places C and TypeScript share: the objects of ../fields.ts say which is where.
type Fields = Readonly<Record<string, number>>;

// The values at their places, in an array that may hold others.
export function placed<F extends Fields, T>(fields: F, values: Readonly<Record<keyof F, T>>, into: T[] = []): T[] {
  for (const name in fields) into[fields[name]!] = values[name];
  return into;
}

// The values by name.
export function named<F extends Fields, T>(fields: F, values: ArrayLike<T>): Record<keyof F, T> {
  const found = {} as Record<keyof F, T>;
  for (const name in fields) found[name] = values[fields[name]!]!;
  return found;
}

// How many there are: where several stand one behind the other, from one to the next.
export const stride = (fields: Fields): number => Object.keys(fields).length;
