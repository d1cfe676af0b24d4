import { EXPOSITION_CONTENT_TYPE, type Registry } from '../../base/metrics/index.ts';
import { messageOf } from '../../base/errors.ts';
import type { Member } from '../member/member.ts';
import { ALARM_TYPE } from '../proto/index.ts';
import type { PlainHandler, PlainResponse } from '../rpc/index.ts';
import { ETCD_STORAGE_VERSION, ETCD_VERSION } from '../version.ts';

const JSON_TYPE = 'application/json';

const json = (status: number, value: unknown): PlainResponse => ({
  status,
  contentType: JSON_TYPE,
  body: JSON.stringify(value),
});

interface Check {
  readonly name: string;
  /** Why it fails, or undefined. */
  run(): Promise<string | undefined>;
}

const alarmNames: Readonly<Record<number, string>> = { 1: 'NOSPACE', 2: 'CORRUPT' };

/** `/health`, `/livez`, `/readyz`, `/version`, `/metrics`, as etcd answers them. */
export const memberEndpoints = (member: Member, registry: Registry): PlainHandler => {
  const { alarms } = member.machine;
  const succeeded = registry.counter({
    name: 'etcd_server_health_success',
    help: 'The total number of successful health checks',
  });
  const failures = registry.counter({
    name: 'etcd_server_health_failures',
    help: 'The total number of failed health checks',
  });
  const results = registry.gaugeFamily({
    name: 'etcd_server_healthcheck',
    help: 'The result of each kind of healthcheck.',
    labels: ['type', 'name'] as const,
  });
  const checked = registry.counterFamily({
    name: 'etcd_server_healthchecks_total',
    help: 'The total number of each kind of healthcheck.',
    labels: ['type', 'name', 'status'] as const,
  });
  const ok = Promise.resolve(undefined);

  const serializableRead: Check = { name: 'serializable_read', run: () => ok };
  const linearizableRead: Check = {
    name: 'linearizable_read',
    run: () =>
      member.reads.pass().then(
        () => undefined,
        (error: unknown) => messageOf(error),
      ),
  };
  const dataCorruption: Check = {
    name: 'data_corruption',
    run: () => Promise.resolve(alarms.isRaised(ALARM_TYPE.CORRUPT) ? 'alarm activated: CORRUPT' : undefined),
  };
  const nonLearner: Check = {
    name: 'non_learner',
    run: () => Promise.resolve(member.isLearner ? 'not supported for learner' : undefined),
  };
  const checks: Readonly<Record<string, readonly Check[]>> = {
    '/livez': [serializableRead],
    '/readyz': [dataCorruption, serializableRead, linearizableRead, nonLearner],
  };

  const health = async (query: URLSearchParams): Promise<PlainResponse> => {
    const excluded = new Set(query.getAll('exclude'));
    const unhealthy = (reason: string): PlainResponse => json(503, { health: 'false', reason });
    for (const { alarm } of alarms.list(ALARM_TYPE.NONE)) {
      const name = alarmNames[alarm] ?? String(alarm);
      if (!excluded.has(name)) return unhealthy(`ALARM ${name}`);
    }
    if (query.get('serializable') === 'true') return json(200, { health: 'true', reason: '' });
    if (!member.hasLeader) return unhealthy('RAFT NO LEADER');
    const failure = await linearizableRead.run();
    return failure === undefined
      ? json(200, { health: 'true', reason: '' })
      : unhealthy(`RANGE ERROR:${failure}`);
  };

  const verbose = async (
    root: string,
    list: readonly Check[],
    query: URLSearchParams,
  ): Promise<PlainResponse> => {
    const excluded = new Set(query.getAll('exclude'));
    const lines: string[] = [];
    let failed = false;
    for (const check of list) {
      if (excluded.has(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const failure = await check.run();
      failed ||= failure !== undefined;
      results.labels(root.slice(1), check.name).set(Number(failure === undefined));
      checked.labels(root.slice(1), check.name, failure === undefined ? 'success' : 'error').inc();
      lines.push(failure === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${failure}`);
    }
    if (failed) return { status: 503, body: `${lines.join('\n')}\n${root.slice(1)} check failed\n` };
    return { status: 200, body: query.has('verbose') ? `${lines.join('\n')}\nok\n` : 'ok\n' };
  };

  return async ({ method, path, query }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return { status: 405, headers: { allow: 'GET' }, body: 'Method Not Allowed\n' };
    if (path === '/health') {
      const answer = await health(query);
      (answer.status === 200 ? succeeded : failures).inc();
      return answer;
    }
    if (path === '/version')
      return json(200, {
        etcdserver: ETCD_VERSION,
        etcdcluster: member.machine.membership.clusterVersion ?? 'not_decided',
        storage: ETCD_STORAGE_VERSION,
      });
    if (path === '/metrics')
      return { status: 200, contentType: EXPOSITION_CONTENT_TYPE, body: registry.expose() };
    for (const [root, list] of Object.entries(checks)) {
      if (path === root) return verbose(root, list, query);
      const single = list.find((check) => path === `${root}/${check.name}`);
      if (single) return verbose(root, [single], query);
    }
    return { status: 404, body: '404 page not found\n' };
  };
};
