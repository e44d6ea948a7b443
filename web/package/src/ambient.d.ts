// The little that the Node entry uses of Node.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array;
}
declare module "node:path" {
  export function join(...parts: string[]): string;
}
declare module "node:worker_threads" {
  export class Worker {
    constructor(text: string, options: { eval: true; execArgv: readonly string[] });
    once(event: "message" | "error", listener: (value: unknown) => void): void;
    postMessage(message: unknown): void;
    unref(): void;
    terminate(): Promise<number>;
  }
}
declare module "node:url" {
  export function fileURLToPath(url: string): string;
}
