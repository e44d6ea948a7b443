// Numbers and buffers whose places C and TypeScript share: the objects of ../fields.ts say which is where.
type Fields<K extends string> = Readonly<Record<K, number>>;

// The values at their places, in an array that may hold others.
export function placed<K extends string, T>(fields: Fields<K>, values: Readonly<Record<K, T>>, into: T[] = []): T[] {
  for (const name in fields) into[fields[name]] = values[name];
  return into;
}

// The values by name.
export function named<K extends string, T>(fields: Fields<K>, values: ArrayLike<T>): Record<K, T> {
  const found = {} as Record<K, T>;
  for (const name in fields) found[name] = values[fields[name]]!;
  return found;
}

// How many there are: where several stand one behind the other, from one to the next.
export const stride = (fields: Fields<string>): number => Object.keys(fields).length;
