// The little that the Node entry uses of Node.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array;
}
declare module "node:path" {
  export function join(...parts: string[]): string;
}
declare module "node:url" {
  export function fileURLToPath(url: string): string;
}
