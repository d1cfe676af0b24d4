import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/base/errors.ts';
import { CONFIG_MAP, type Client } from '../../core/client/index.ts';

const PAUSE_MS = 20;

export interface WriterReport {
  readonly acknowledged: number;
  readonly failures: readonly string[];
  /** The longest that one write took. */
  readonly slowestMs: number;
}

export interface IdempotentWriter {
  /** Stops, and reads back what was acknowledged last. */
  stop(): Promise<WriterReport>;
}

/**
 * Writes one object over and over, each time whole and without a resource version, so that a write may be sent twice.
 * A write that fails is noted and not sent again.
 */
export const startWriter = async (client: Client, name: string): Promise<IdempotentWriter> => {
  const maps = client.resource(CONFIG_MAP, 'default');
  await maps.create({ metadata: { name, namespace: 'default' }, data: { count: '0' } });
  const failures: string[] = [];
  let [acknowledged, slowestMs, isStopping] = [0, 0, false];
  const writing = (async () => {
    while (!isStopping) {
      const count = acknowledged + 1;
      const startedMs = performance.now();
      try {
        await maps.update({ metadata: { name, namespace: 'default' }, data: { count: String(count) } });
        acknowledged = count;
      } catch (error) {
        failures.push(`after ${Math.round(performance.now() - startedMs)} ms: ${messageOf(error)}`);
      }
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    async stop() {
      isStopping = true;
      await writing;
      const { data } = await maps.get(name);
      if (data?.['count'] !== String(acknowledged))
        failures.push(`${acknowledged} was acknowledged, ${data?.['count']} is there`);
      return { acknowledged, failures, slowestMs };
    },
  };
};
