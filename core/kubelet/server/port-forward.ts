import type { Duplex } from 'node:stream';
import { messageOf } from '../../base/errors.ts';

/** Where forwarded connections go. */
export interface ForwardTarget {
  readonly podName: string;
  readonly uid: string;
  dial(port: number): Promise<Duplex>;
}

/** 1 to 65535; undefined for anything else. */
export const parsePort = (text: string | undefined): number | undefined => {
  const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
};

/**
 * Joins a client's stream with a connection into the pod, each way until its end. Resolves with why it failed, in
 * upstream's words, or with nothing when both sides are done.
 */
export const forwardPort = async (
  target: ForwardTarget,
  port: number,
  stream: Duplex,
): Promise<string | undefined> => {
  const failed = (error: unknown): string =>
    `error forwarding port ${port} to pod ${target.podName}, uid ${target.uid}: ${messageOf(error)}`;
  let inside: Duplex;
  try {
    inside = await target.dial(port);
  } catch (error) {
    return failed(error);
  }
  return new Promise((resolve) => {
    let failure: string | undefined;
    inside.on('error', (error) => {
      failure = failed(error);
      inside.destroy();
    });
    stream.on('error', () => inside.destroy());
    inside.once('close', () => {
      if (!stream.writableEnded && !stream.destroyed) stream.end();
      resolve(failure);
    });
    stream.once('close', () => inside.destroy());
    inside.pipe(stream);
    stream.pipe(inside);
  });
};
