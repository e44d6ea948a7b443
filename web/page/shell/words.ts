// Numbers in sentences: one form on the whole page.
export const count = (n: number): string => Math.round(n).toLocaleString('en');
export const plural = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;
