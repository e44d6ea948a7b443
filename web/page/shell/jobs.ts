// The page's end of the worker. One job is with the worker at a time, so that of those that wait only the newest run.
import { SceneError } from './scene.js';
import type { Answer, JobOptions } from './module.js';
import type { Program } from './loader.js';
import type { Report, Task } from '../worker.js';

interface Waiting {
  task: Task;
  options: JobOptions;
  resolve(answer: Answer): void;
  reject(reason: Error): void;
}

// A job that a newer one, or another scene, made pointless.
export class Superseded extends SceneError {}

export class Jobs {
  private worker: Worker | undefined;
  private readonly waiting: Waiting[] = [];
  private running: Waiting | undefined;
  private count = 0;

  constructor(
    private readonly address: URL,
    private readonly program: Promise<Program>, // the worker's script is loaded while it is compiled
    early = true, // at once, since it takes its time; else with the first job
  ) {
    if (early) this.worker = this.open();
  }

  private open(): Worker {
    const worker = new Worker(this.address, { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Report>) => this.take(data);
    worker.onmessageerror = () => this.lose('its answer could not be read');
    worker.onerror = (event) => {
      event.preventDefault();
      this.lose(event.message || 'it could not be loaded');
    };
    this.post(worker);
    return worker;
  }

  // In the order of the calls; without a task the program itself.
  private post(worker: Worker, task?: Task, transfer: Transferable[] = []): void {
    this.program.then((program) => worker.postMessage(task ?? program, transfer)).catch((error: unknown) => {
      if (task) this.take({ id: task.id, wrong: error instanceof Error ? error.message : String(error) });
    });
  }

  // The worker is of no use any more: all that wait are told, and the next job gets another one.
  private lose(why: string): void {
    const jobs = [...(this.running ? [this.running] : []), ...this.waiting.splice(0)];
    this.worker?.terminate();
    this.worker = this.running = undefined;
    for (const job of jobs) job.reject(new SceneError(`The worker has failed: ${why}.`));
  }

  // Nothing runs from now on.
  close(): void {
    this.clear();
    this.worker?.terminate();
    this.worker = this.running = undefined;
  }

  get busy(): boolean {
    return this.running !== undefined || this.waiting.length > 0;
  }

  run(name: string, numbers: readonly number[], options: JobOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (options.newest) this.drop((old) => old.options.newest === options.newest);
      this.waiting.push({ task: { id: ++this.count, name, numbers, buffers: options.buffers ?? [] }, options, resolve, reject });
      this.next();
    });
  }

  // Jobs that have not begun are given up, and answers that are still to come are thrown away.
  clear(): void {
    this.drop(() => true);
    this.running?.reject(new Superseded('Another scene was chosen.'));
  }

  private drop(which: (waiting: Waiting) => boolean): void {
    for (const old of this.waiting.filter(which)) {
      this.waiting.splice(this.waiting.indexOf(old), 1);
      old.reject(new Superseded('A newer job took its place.'));
    }
  }

  private next(): void {
    if (this.running || !this.waiting.length) return;
    this.running = this.waiting.shift()!;
    this.worker ??= this.open();
    this.post(this.worker, this.running.task, [...(this.running.options.transfer ?? [])]);
  }

  private take(report: Report): void {
    if (!this.running) return;
    const { resolve, reject } = this.running;
    this.running = undefined;
    if (report.wrong !== undefined) reject(new SceneError(report.wrong));
    else resolve({ numbers: report.numbers!, buffers: report.buffers!, milliseconds: report.milliseconds! });
    this.next();
  }
}
