// Workers of browsers.
import type { Hire } from "./threads.js";

/** Starts a worker. */
export const hire: Hire = (script, order, transfer = []) => {
  const text = `${script}onmessage = ({ data }) => work(data, (told, given) => postMessage(told, given));`;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(address);
  const ready = new Promise<unknown>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message || "a worker could not be started"));
  }).finally(() => URL.revokeObjectURL(address));
  worker.postMessage(order, transfer);
  return { ready, end: () => worker.terminate() };
};
