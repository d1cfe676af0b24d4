import { CONFIG_MAP, LEASE, type Client } from '../../../core/client/index.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { pilothouse } from '../../support/cluster.ts';
import { until } from '../../support/until.ts';

const POLL_MS = 10;
const WRITE_TIMEOUT_MS = 1_000;
const LIMIT_MS = 60_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const write = (client: Client, name: string): Promise<unknown> =>
  client
    .resource(CONFIG_MAP)
    .create({ metadata: { name, namespace: 'default' }, data: {} }, { timeoutMs: WRITE_TIMEOUT_MS });

export const everythingRuns = async (data: string): Promise<void> => {
  await until('everything to run', async () => (await pilothouse('status', '--data', data)).code === 0);
};

const leaderOf = async (data: string): Promise<string> => {
  const { stdout } = await pilothouse('member', 'list', '--data', data, '-o', 'json');
  const members = JSON.parse(stdout) as readonly { readonly name: string; readonly isLeader: boolean }[];
  const leader = members.find(({ isLeader }) => isLeader);
  if (!leader) throw new Error('no member leads');
  return leader.name;
};

/** From the SIGKILL of the host whose member leads until a write through the load balancer succeeds. */
export const leaderKilled = async (data: string, client: Client, round: number): Promise<number> => {
  const leader = await leaderOf(data);
  await write(client, `before-${round}`);
  const startedMs = performance.now();
  await callControl(data, 'host.kill', { host: leader });
  for (let attempt = 0; ; attempt += 1) {
    try {
      await write(client, `after-${round}-${attempt}`);
      break;
    } catch (error) {
      if (performance.now() - startedMs > LIMIT_MS) throw error;
      await sleep(POLL_MS);
    }
  }
  const tookMs = performance.now() - startedMs;
  await callControl(data, 'host.start', { host: leader });
  await everythingRuns(data);
  return tookMs;
};

const holderOf = async (client: Client, component: string): Promise<string> =>
  (await client.resource(LEASE, 'kube-system').get(component)).spec?.holderIdentity ?? '';

/** Who holds the lease and renews it: a holder that was killed before stays in it until it has expired. */
const livingHolderOf = async (client: Client, component: string): Promise<string> => {
  const lease = async () => (await client.resource(LEASE, 'kube-system').get(component)).spec;
  const first = await lease();
  for (const startedMs = performance.now(); ; await sleep(POLL_MS)) {
    const now = await lease();
    if (now?.holderIdentity && now.renewTime !== first?.renewTime) return now.holderIdentity;
    if (performance.now() - startedMs > LIMIT_MS) throw new Error(`nobody renews the lease of ${component}`);
  }
};

/** Identities are the name of the host and something unique after it. */
const hostOf = (identity: string): string => identity.split('_')[0]!;

export type Departure = 'stop' | 'kill component' | 'kill host';

/** From the end of the component that leads until its lease is another's. */
export const handOver = async (
  data: string,
  client: Client,
  component: string,
  departure: Departure,
): Promise<number> => {
  const before = await livingHolderOf(client, component);
  const host = hostOf(before);
  const startedMs = performance.now();
  const leaving =
    departure === 'stop'
      ? callControl(data, 'component.stop', { host, component })
      : departure === 'kill host'
        ? callControl(data, 'host.kill', { host })
        : callControl(data, 'component.kill', { host, component });
  for (;;) {
    const holder = await holderOf(client, component).catch(() => before);
    if (holder !== before && holder !== '') break;
    if (performance.now() - startedMs > LIMIT_MS) throw new Error(`${component} has no new leader`);
    await sleep(POLL_MS);
  }
  const tookMs = performance.now() - startedMs;
  await leaving;
  if (departure === 'stop') await callControl(data, 'component.start', { host, component });
  if (departure === 'kill host') await callControl(data, 'host.start', { host });
  await everythingRuns(data);
  return tookMs;
};
