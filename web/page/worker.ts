// The worker: jobs of C, one after the other, in an instance of the module that has no context.
import { instantiate, type Program } from './shell/loader.js';
import { runJob, type PageModule } from './shell/module.js';

export interface Task {
  id: number;
  name: string;
  numbers: readonly number[];
  buffers: readonly (ArrayBuffer | ArrayBufferView)[];
}
export interface Report {
  id: number;
  numbers?: Float64Array;
  buffers?: ArrayBuffer[];
  milliseconds?: number;
  wrong?: string; // a sentence: the job failed
}

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Program | Task>) => void) | null;
  postMessage(message: Report, transfer?: Transferable[]): void;
};
let module: Promise<PageModule> | undefined;

scope.onmessage = async ({ data }) => {
  if ('code' in data) {
    module = instantiate(data);
    return;
  }
  const { id, name, numbers, buffers } = data;
  try {
    const answer = runJob(await module!, name, numbers, buffers);
    scope.postMessage({ id, ...answer }, answer.buffers);
  } catch (error) {
    scope.postMessage({ id, wrong: error instanceof Error ? error.message : String(error) });
  }
};
