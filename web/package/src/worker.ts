// Threads of browsers.
import { type Hand, type Order, script } from "./threads.js";

/** Starts a worker. */
export function hire(order: Order): Hand {
  const text = `${script}onmessage = ({ data }) => work(data, () => postMessage(0));`;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(address);
  const ready = new Promise<void>((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = (event) => reject(new Error(event.message || "a worker could not be started"));
  }).finally(() => URL.revokeObjectURL(address));
  worker.postMessage(order);
  return { ready, end: () => worker.terminate() };
}
