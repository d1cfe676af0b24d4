import { setTimeout as sleep } from 'node:timers/promises';
import { CONFIG_MAP, DEPLOYMENT, LEASE, POD, type Client } from '../../core/client/index.ts';
import { isAlreadyExists } from '../../core/api/meta/status.ts';
import { follow } from './watching.ts';

const WRITERS = 3;
const WRITE_EVERY_MS = 40;
const ROLLOUT_EVERY_MS = 8_000;
const REQUEST_LIMIT_MS = 10_000;
const LABEL = 'chaos';
/** How far clocks are put wrong at most, twice: one ahead and one behind. */
export const CLOCK_SLACK_MS = 8_000;

export interface WorkloadReport {
  readonly acknowledged: number;
  readonly failed: number;
  readonly rollouts: number;
  readonly relists: number;
  readonly violations: readonly string[];
}

/** Writers, a rollout every few seconds, and watchers that look for what must never happen. */
export const startWorkload = async (client: Client) => {
  const maps = client.resource(CONFIG_MAP, 'default');
  const violations: string[] = [];
  const acknowledged = new Set<string>();
  const seen = new Set<string>();
  let [failed, rollouts, isStopping] = [0, 0, false];

  const watchingMaps = await follow(client, CONFIG_MAP, 'default', (type, { metadata }) => {
    if (metadata.labels?.[LABEL] === undefined) return;
    if (type === 'ADDED' && seen.has(metadata.name)) violations.push(`${metadata.name} was added twice`);
    seen.add(metadata.name);
  });

  const nodes = new Map<string, string>();
  const watchingPods = await follow(client, POD, undefined, (_type, { metadata, spec }) => {
    const [before, node] = [nodes.get(metadata.uid), spec?.nodeName];
    if (node === undefined) return;
    if (before !== undefined && before !== node)
      violations.push(`pod ${metadata.name} was bound to ${before} and to ${node}`);
    nodes.set(metadata.uid, node);
  });

  const holders = new Map<string, { holder: string; renewMs: number; durationMs: number }>();
  const watchingLeases = await follow(client, LEASE, 'kube-system', (_type, { metadata, spec }) => {
    const before = holders.get(metadata.name);
    const holder = spec?.holderIdentity ?? '';
    const acquireMs = Date.parse(spec?.acquireTime ?? '');
    // Who takes over a lease that was not given up has to have waited for its end.
    if (before && before.holder !== '' && holder !== '' && holder !== before.holder)
      if (acquireMs + CLOCK_SLACK_MS < before.renewMs + before.durationMs)
        violations.push(`${holder} took ${metadata.name} while ${before.holder} held it`);
    holders.set(metadata.name, {
      holder,
      renewMs: Date.parse(spec?.renewTime ?? ''),
      durationMs: (spec?.leaseDurationSeconds ?? 0) * 1000,
    });
  });

  await client.resource(DEPLOYMENT, 'default').create({
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx' }] },
      },
    },
  });

  const write = async (writer: number): Promise<void> => {
    for (let count = 1; !isStopping; count += 1) {
      const name = `w${writer}-${count}`;
      try {
        await maps.create(
          { metadata: { name, namespace: 'default', labels: { [LABEL]: 'yes' } }, data: { name } },
          { timeoutMs: REQUEST_LIMIT_MS },
        );
        acknowledged.add(name);
      } catch (error) {
        // A client that sends again after a broken connection finds its own write.
        if (isAlreadyExists(error)) acknowledged.add(name);
        else failed += 1;
      }
      await sleep(WRITE_EVERY_MS);
    }
  };
  const roll = async (): Promise<void> => {
    while (!isStopping) {
      const annotations = { round: String(rollouts + 1) };
      await client
        .resource(DEPLOYMENT, 'default')
        .patch(
          'web',
          { type: 'merge', body: { spec: { template: { metadata: { annotations } } } } },
          { timeoutMs: REQUEST_LIMIT_MS },
        )
        .then(() => (rollouts += 1))
        .catch(() => undefined);
      for (let waitedMs = 0; waitedMs < ROLLOUT_EVERY_MS && !isStopping; waitedMs += 200) await sleep(200);
    }
  };
  const working = Promise.all([...Array.from({ length: WRITERS }, (_, index) => write(index + 1)), roll()]);

  return {
    violations: violations as readonly string[],
    get acknowledged(): number {
      return acknowledged.size;
    },
    /** Ends the writers and compares what was acknowledged with what is there and what was watched. */
    async stop(): Promise<WorkloadReport> {
      isStopping = true;
      await working;
      const there = new Set<string>();
      for await (const { metadata } of maps.iterate({ labelSelector: LABEL })) there.add(metadata.name);
      const lost = [...acknowledged].filter((name) => !there.has(name));
      if (lost.length > 0)
        violations.push(`${lost.length} acknowledged writes are lost, ${lost[0]} among them`);
      const limitMs = Date.now() + 30_000;
      const gap = (): string[] => [...there].filter((name) => !seen.has(name));
      while (gap().length > 0 && Date.now() < limitMs) await sleep(100);
      if (gap().length > 0)
        violations.push(`${gap().length} writes were not watched, ${gap()[0]} among them`);
      const relists = watchingMaps.relists + watchingPods.relists + watchingLeases.relists;
      await Promise.all([watchingMaps.stop(), watchingPods.stop(), watchingLeases.stop()]);
      return { acknowledged: acknowledged.size, failed, rollouts, relists, violations };
    },
  };
};
