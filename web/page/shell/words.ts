// Numbers in sentences: one form on the whole page.
export const count = (n: number): string => Math.round(n).toLocaleString('en');
// The text of a slider: what is set, or at 0 that it is off.
export const orOff = (text: (value: number) => string) => (value: number): string => (value ? text(value) : 'off');
export const plural = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;
// A time. Clocks of Firefox and Safari count whole milliseconds.
export const milliseconds = (time: number): string => (time ? `${time.toFixed(time >= 100 ? 0 : time >= 10 ? 1 : 2)} ms` : '< 1 ms');
