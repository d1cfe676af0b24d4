import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EtcdCluster } from '../support/etcd-cluster.ts';
import { hasEtcdctl, type Etcdctl } from '../support/etcd-ctl.ts';
import { startMembers, type OperatedMembers } from '../support/etcd-members.ts';

const OCTET = 63;
const QUOTA_OCTET = 75;
const LEARNER = 3;
const RETRY_MS = 250;
const RETRY_LIMIT_MS = 90_000;

interface Member {
  readonly ID: number;
  readonly name?: string;
  readonly peerURLs: readonly string[];
  readonly isLearner?: boolean;
}
interface EndpointStatus {
  readonly Endpoint: string;
  readonly Status: { readonly header: { readonly member_id: number }; readonly leader: number };
}
interface EndpointHash {
  readonly Endpoint: string;
  readonly HashKV: { readonly hash: number };
}

/** Health of a way between members counts after seconds, so guards are asked again until they let through. */
const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
  const deadline = Date.now() + RETRY_LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
};

describe.skipIf(!hasEtcdctl())('etcdctl runs a cluster of ours', () => {
  let members: OperatedMembers;
  let directory: string;
  let cluster: EtcdCluster;
  let ctl: Etcdctl;

  beforeAll(async () => {
    members = await startMembers({ octet: OCTET, size: 3 });
    ({ cluster, ctl, directory } = members);
    await ctl.ok('put', 'seed', 'value');
  });

  afterAll(() => members.close());

  /** Ids by name, in hexadecimal as the commands take them; JSON numbers lose digits. */
  const ids = async (): Promise<Map<string, string>> => {
    const lines = (await ctl.ok('member', 'list')).trim().split('\n');
    return new Map(lines.map((line) => line.split(', ')).map(([id = '', , name = '']) => [name, id]));
  };
  const leaderName = async (): Promise<string> => `m${(await cluster.leader()) + 1}`;
  const leaderEndpoint = async (): Promise<string> => cluster.endpoints[await cluster.leader()]!;

  test('status names one leader, and every endpoint is healthy', async () => {
    await eventually(async () => {
      const status = await ctl.json<EndpointStatus[]>('endpoint', 'status', '--cluster');
      expect(status.map(({ Endpoint }) => Endpoint).sort()).toEqual(cluster.endpoints);
      expect(new Set(status.map(({ Status }) => Status.leader)).size).toBe(1);
    });
    const health = await ctl.json<{ health: boolean }[]>('endpoint', 'health', '--cluster');
    expect(health.map(({ health: is }) => is)).toEqual([true, true, true]);
    expect(await ctl.ok('endpoint', 'status', '-w', 'table')).toMatch(/IS LEADER \| IS LEARNER[^]*3\.6\.\d/);
  });

  test('all members hash to the same', async () => {
    await eventually(async () => {
      const hashes = await ctl.json<EndpointHash[]>('endpoint', 'hashkv', '--cluster');
      expect(hashes).toHaveLength(3);
      expect(new Set(hashes.map(({ HashKV }) => HashKV.hash)).size).toBe(1);
    });
  });

  test('all members are defragmented', async () => {
    const lines = (await ctl.ok('defrag', '--cluster')).trim().split('\n');
    expect(lines.sort()).toEqual(
      cluster.endpoints.map((url) => `Finished defragmenting etcd member[${url}]`),
    );
  });

  test('leadership moves where it is asked to, by the leader alone', async () => {
    const members = await ids();
    const endpointOf = (name: string): string => cluster.endpoints[Number(name.slice(1)) - 1]!;
    const move = (from: string, to: string) =>
      ctl.run(['move-leader', to], { endpoints: [endpointOf(from)] });
    // A busy machine may elect another leader in between: then start over.
    await eventually(async () => {
      const leader = await leaderName();
      const [next, other] = ['m1', 'm2', 'm3'].filter((name) => name !== leader) as [string, string];
      expect((await move(other, members.get(next)!)).stderr).toBe(
        `Error: no leader endpoint given at [${endpointOf(other)}]`,
      );
      expect((await move(leader, '1234')).stderr).toBe('Error: etcdserver: bad leader transferee');
      expect((await move(leader, members.get(next)!)).stdout).toBe(
        `Leadership transferred from ${members.get(leader)} to ${members.get(next)}\n`,
      );
      expect(await leaderName()).toBe(next);
    });
  });

  test('a learner joins, catches up, is promoted, and is removed again', async () => {
    const url = cluster.peerUrl(LEARNER);
    const add = ['member', 'add', 'm4', `--peer-urls=${url}`, '--learner'];
    const added = await eventually(() => ctl.ok(...add));
    const initialCluster = /ETCD_INITIAL_CLUSTER="([^"]+)"/.exec(added)![1]!;
    const id = /Member\s+([0-9a-f]+) added/.exec(added)![1]!;
    // The id is made of the URLs and the second: within one second it is the id that is taken.
    expect(await ctl.refusal(...add)).toMatch(
      /^Error: etcdserver: (Peer URLs already exists|member ID already exist)$/,
    );
    const second = ['member', 'add', 'm5', `--peer-urls=${cluster.peerUrl(LEARNER + 1)}`, '--learner'];
    expect(await ctl.refusal(...second)).toBe('Error: etcdserver: too many learner members in cluster');
    const atLeader = { endpoints: [await leaderEndpoint()] };
    expect((await ctl.run(['member', 'promote', id], atLeader)).stderr).toBe(
      'Error: etcdserver: can only promote a learner member which is in sync with leader',
    );

    cluster.startMember(LEARNER, { state: 'existing', initialCluster });
    const learnerEndpoint = { endpoints: [cluster.members[LEARNER]!.clientUrl] };
    await eventually(async () => {
      const { stdout } = await ctl.run(['get', 'seed', '--consistency=s'], learnerEndpoint);
      expect(stdout).toBe('seed\nvalue\n');
    });
    expect((await ctl.run(['get', 'seed'], learnerEndpoint)).stderr).toBe(
      'Error: etcdserver: rpc not supported for learner',
    );
    expect(await eventually(() => ctl.ok('member', 'promote', id))).toMatch(
      /^Member\s+\S+ promoted in cluster/,
    );
    expect(await ctl.refusal('member', 'promote', id)).toBe(
      'Error: etcdserver: can only promote a learner member',
    );
    await cluster.healthy([LEARNER]);
    expect((await ctl.run(['get', 'seed'], learnerEndpoint)).stdout).toBe('seed\nvalue\n');

    expect(await eventually(() => ctl.ok('member', 'remove', id))).toMatch(
      /^Member\s+\S+ removed from cluster/,
    );
    expect(await ctl.refusal('member', 'remove', id)).toBe('Error: etcdserver: member not found');
    await new Promise<void>((resolve) => {
      const { process: child } = cluster.members[LEARNER]!;
      if (child.exitCode === null) child.once('exit', () => resolve());
      else resolve();
    });
    await eventually(async () => {
      const { members } = await ctl.json<{ members: Member[] }>('member', 'list');
      expect(members.map(({ name }) => name).sort()).toEqual(['m1', 'm2', 'm3']);
    });
  });

  test('a member gets another peer URL, and its old one back', async () => {
    const id = (await ids()).get('m2')!;
    const [url, other] = [cluster.peerUrl(1), cluster.peerUrl(LEARNER)];
    await ctl.ok('member', 'update', id, `--peer-urls=${url},${other}`);
    // Whichever member is asked, it may not have applied the change yet.
    await eventually(async () =>
      expect(await ctl.ok('member', 'list')).toContain(`${id}, started, m2, ${url},${other}, `),
    );
    expect(await ctl.refusal('member', 'update', id, `--peer-urls=${cluster.peerUrl(0)}`)).toBe(
      'Error: etcdserver: Peer URLs already exists',
    );
    await ctl.ok('member', 'update', id, `--peer-urls=${url}`);
  });

  test('a change that could cost the quorum is refused while a member is down', async () => {
    const members = await ids();
    await cluster.members[2]!.kill('SIGKILL');
    const up = { endpoints: cluster.endpoints.slice(0, 2) };
    await eventually(async () => {
      const args = ['member', 'add', 'm4', `--peer-urls=${cluster.peerUrl(LEARNER)}`];
      expect((await ctl.run(args, up)).stderr).toBe('Error: etcdserver: unhealthy cluster');
    });
    const learner = ['member', 'add', 'm4', `--peer-urls=${cluster.peerUrl(LEARNER)}`, '--learner'];
    expect((await ctl.run(learner, up)).stderr).toBe('Error: etcdserver: unhealthy cluster');
    expect((await ctl.run(['member', 'remove', members.get('m1')!], up)).stderr).toBe(
      'Error: etcdserver: unhealthy cluster',
    );
    cluster.startMember(2);
    await cluster.healthy([0, 1, 2]);
  });

  test('a snapshot of a running cluster is whole', async () => {
    const file = join(directory, 'saved.db');
    expect(await ctl.run(['snapshot', 'save', file], { endpoints: [cluster.endpoints[0]!] })).toMatchObject({
      code: 0,
      stdout: `Snapshot saved at ${file}\n`,
    });
    const status = await ctl.json<{ totalKey: number; hash: number }>('snapshot', 'status', file);
    expect(status.totalKey).toBeGreaterThan(0);
  });
});

describe.skipIf(!hasEtcdctl())('a member that is full', () => {
  let members: OperatedMembers;
  let ctl: Etcdctl;

  beforeAll(async () => {
    members = await startMembers({
      octet: QUOTA_OCTET,
      size: 1,
      extraFlags: ['--quota-backend-bytes=4194304'],
    });
    ({ ctl } = members);
  });

  afterAll(() => members.close());

  test('refuses writes with the alarm, serves reads and deletes, and works again after making room', async () => {
    const input = 'x'.repeat(500_000);
    const NO_SPACE = 'Error: etcdserver: mvcc: database space exceeded';
    let refused = '';
    for (let n = 0; n < 40 && refused === ''; n += 1)
      refused = (await ctl.run(['put', `fill/${n}`], { input })).stderr;
    expect(refused).toBe(NO_SPACE);
    // The refusal raises the alarm, which the members then have to agree on.
    await expect
      .poll(() => ctl.ok('alarm', 'list'), { timeout: RETRY_LIMIT_MS })
      .toMatch(/^memberID:\d+ alarm:NOSPACE \n$/);
    expect(await ctl.refusal('put', 'small', 'x')).toBe(NO_SPACE);
    expect(await ctl.refusal('lease', 'grant', '100')).toBe(
      'Error: failed to grant lease (etcdserver: mvcc: database space exceeded)',
    );
    expect(await ctl.ok('get', 'fill/0', '--keys-only')).toBe('fill/0\n\n');

    expect(await ctl.ok('del', 'fill/', '--prefix')).toMatch(/^\d+\n$/);
    const { header } = await ctl.json<{ header: { revision: number } }>('get', 'none');
    await ctl.ok('compact', String(header.revision), '--physical');
    await ctl.ok('defrag');
    expect(await ctl.refusal('put', 'small', 'x')).toBe(NO_SPACE);
    expect(await ctl.ok('alarm', 'disarm')).toMatch(/^memberID:\d+ alarm:NOSPACE \n$/);
    expect(await ctl.ok('alarm', 'list')).toBe('');
    expect(await ctl.ok('put', 'small', 'x')).toBe('OK\n');
    expect(await ctl.ok('endpoint', 'health')).toBe('');
  });
});
