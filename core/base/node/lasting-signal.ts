import { setMaxListeners } from 'node:events';

/** The controller of a part that outlives many requests, each of which listens to its signal for a while. */
export const lastingController = (): AbortController => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
};

/** A signal of somebody else's that many will listen to. */
export const manyListen = (signal: AbortSignal): AbortSignal => {
  setMaxListeners(0, signal);
  return signal;
};
