import { Agent, request } from 'node:https';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { CheckOutcome } from './backend-health.ts';
import type { Backend } from './backend-pool.ts';

export interface CheckTls {
  /** Authority of the backends' certificates. */
  readonly ca: string | Buffer;
  /** Who asks: API servers need not let strangers see /readyz. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/** Finds out how a backend is. Never rejects. */
export interface Checker {
  check(backend: Backend): Promise<CheckOutcome>;
  close(): void;
}

export const CHECK_TIMEOUT_MS = 2000;
/** An answer is a line for each check; more is not read. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** How the API server says in /readyz that it is going away. */
const SHUTTING_DOWN = /^\[-\]shutdown failed/m;

const failedLine = (text: string): string =>
  text.split('\n').find((line) => line.startsWith('[-]')) ?? text.split('\n')[0] ?? '';

const outcomeOf = (status: number, text: string, latencyMs: number): CheckOutcome =>
  status === 200
    ? { kind: 'ready', latencyMs }
    : {
        kind: 'not-ready',
        isShuttingDown: SHUTTING_DOWN.test(text),
        error: `/readyz returned ${status}: ${failedLine(text)}`,
      };

/**
 * GET /readyz over TLS, on one connection a backend that is kept: a new one each second is most of what a cluster at rest
 * would do. That none can be made any more is told by the clients that try: a failed connection counts as a failed check.
 */
export const readyzChecker = (tls: CheckTls, clock: Clock): Checker => {
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: 1, minVersion: 'TLSv1.2' });
  return {
    check: ({ host, port }) =>
      new Promise((resolve) => {
        const startedMs = clock.monotonicMs();
        const end = (outcome: CheckOutcome): void => {
          timer.dispose();
          resolve(outcome);
        };
        const asked = request({ agent, host, port, path: '/readyz', method: 'GET' }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            if (text.length < ANSWER_BYTES_MAX) text += chunk;
          });
          response.on('error', (error) => end({ kind: 'unreachable', error: messageOf(error) }));
          response.on('end', () =>
            end(outcomeOf(response.statusCode ?? 0, text, clock.monotonicMs() - startedMs)),
          );
        });
        const timer = clock.after(CHECK_TIMEOUT_MS, () =>
          asked.destroy(new Error(`/readyz did not respond within ${CHECK_TIMEOUT_MS} ms`)),
        );
        asked.on('error', (error) => end({ kind: 'unreachable', error: messageOf(error) }));
        asked.end();
      }),
    close: () => agent.destroy(),
  };
};
