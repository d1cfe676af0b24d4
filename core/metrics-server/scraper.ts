import { request, Agent } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { ReasonError } from '../base/errors.ts';
import { readResourceMetrics, type NodeSample } from './exposition.ts';

export interface ScrapeTarget {
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

export interface ScraperOptions {
  /** This server's client certificate, and the authority of the kubelets. */
  readonly tls: () => SecureContextOptions;
  readonly nowMs: () => number;
  onFailed(target: ScrapeTarget, error: unknown): void;
}

const AT_ONCE_MAX = 10;
const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const PATH = '/metrics/resource';

const ask = (target: ScrapeTarget, agent: Agent): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        host: target.address,
        port: target.port,
        path: PATH,
        agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes > ANSWER_BYTES_MAX)
            answer.destroy(new ReasonError('TooLarge', `${PATH} has more than ${ANSWER_BYTES_MAX} bytes`));
          else chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
          else reject(new ReasonError('BadStatus', `request failed, status: "${answer.statusCode}"`));
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });

/** Asks every kubelet for its resource metrics, a few at a time. A node that does not answer is left out. */
export const scrapeNodes = async (
  targets: readonly ScrapeTarget[],
  { tls, nowMs, onFailed }: ScraperOptions,
): Promise<ReadonlyMap<string, NodeSample>> => {
  const agent = new Agent({ ...tls(), keepAlive: false, maxSockets: AT_ONCE_MAX });
  const samples = new Map<string, NodeSample>();
  const rest = targets.values();
  const drain = async (): Promise<void> => {
    for (const target of rest)
      try {
        samples.set(target.node, readResourceMetrics(await ask(target, agent), nowMs()));
      } catch (error) {
        onFailed(target, error);
      }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, targets.length) }, drain));
  } finally {
    agent.destroy();
  }
  return samples;
};
