import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { messageOf } from '../../core/base/errors.ts';
import { bytesOf, onRefused, refusalText } from './pod-socket.ts';

/** The kubelet's protocol without SPDY: one port, data on the first channel, what went wrong on the second. */
export const FORWARD_PROTOCOLS = ['v4.channel.k8s.io'];
const DATA = 0;
const ERROR = 1;
/** Each channel begins with the port in two bytes. */
const ANNOUNCEMENT_BYTES = 2;
const WAITING_BYTES_MAX = 1024 * 1024;
const ERROR_CHARACTERS_MAX = 4096;
/**
 * The protocol cannot tell the pod that a client sends no more. Anyone who half-closes may still get an answer; after
 * this long without a byte it is taken to be gone.
 */
export const HALF_CLOSED_IDLE_MS = 30_000;

/**
 * Joins a local connection with one into the pod until either ends; both are closed then. Resolves with what went
 * wrong, or with an empty text. The local socket must come paused: nothing may be read before the pod is reached.
 */
export const tunnel = (
  local: Socket,
  remote: WebSocket,
  { clock, onBytes }: { readonly clock: Clock; readonly onBytes: (count: number) => void },
): Promise<string> =>
  new Promise((resolve) => {
    const announced = new Set<number>();
    let problem = '';
    let isOpen = false;
    let idle: Disposable | undefined;
    let lastByteMs = clock.monotonicMs();

    const finish = (): void => {
      idle?.dispose();
      remote.terminate();
      // What the pod sent last is still on its way to the client.
      if (problem === '') local.end();
      else local.destroy();
      resolve(problem);
    };
    const fail = (text: string): void => {
      if (problem === '') problem = text.slice(0, ERROR_CHARACTERS_MAX);
    };
    const waitForSilence = (): void => {
      const silentMs = clock.monotonicMs() - lastByteMs;
      if (silentMs >= HALF_CLOSED_IDLE_MS) return finish();
      idle = clock.after(HALF_CLOSED_IDLE_MS - silentMs, waitForSilence);
    };

    remote.on('open', () => {
      isOpen = true;
      local.resume();
    });
    remote.on('message', (data) => {
      const bytes = bytesOf(data);
      const channel = bytes[0] ?? -1;
      const payload = bytes.subarray(1);
      if (!announced.has(channel) && payload.length === ANNOUNCEMENT_BYTES) {
        announced.add(channel);
        return;
      }
      if (payload.length === 0) return;
      if (channel === ERROR) return fail(payload.toString());
      if (channel !== DATA) return;
      lastByteMs = clock.monotonicMs();
      onBytes(payload.length);
      if (!local.write(payload)) remote.pause();
    });
    local.on('drain', () => remote.resume());
    local.on('data', (chunk) => {
      lastByteMs = clock.monotonicMs();
      onBytes(chunk.length);
      const message = Buffer.concat([Buffer.from([DATA]), chunk as Buffer]);
      remote.send(message, { binary: true }, () => {
        if (isOpen && remote.bufferedAmount < WAITING_BYTES_MAX) local.resume();
      });
      if (remote.bufferedAmount >= WAITING_BYTES_MAX) local.pause();
    });
    local.on('end', waitForSilence);
    local.on('error', () => undefined); // followed by close
    local.once('close', finish);
    onRefused(remote, (text) => {
      fail(refusalText(text));
      finish();
    });
    remote.on('error', (error) => fail(messageOf(error)));
    remote.once('close', (code, reason) => {
      if (!isOpen) fail('the connection to the API server was lost');
      else if (code !== 1000 && code !== 1005 && reason.length > 0) fail(reason.toString());
      finish();
    });
  });
