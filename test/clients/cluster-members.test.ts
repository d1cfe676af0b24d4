import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { CONFIG_MAP } from '../../core/client/index.ts';
import { forkLauncher } from '../../core/cluster/supervisor/host-launcher.ts';
import { inEnglish, type ClusterAction } from '../../core/contract/index.ts';
import { createHandlers, nodeProcessSource } from '../../main/ipc/handlers/index.ts';
import { startWriter } from '../support/idempotent-writer.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** A machine that does much else at the same time needs longer for a whole rehearsal. */
const TEST_LIMIT_MS = 900_000;

let cluster: OperatedCluster;

beforeAll(async () => {
  cluster = await operate('--network', '222', '--control-planes', '1', '--workers', '0');
}, TEST_LIMIT_MS);
afterAll(() => cluster?.close());

interface EtcdMember {
  /** etcdctl leaves it out where a member has not told it yet. */
  readonly name?: string;
  readonly isLearner?: boolean;
}

const labelOf = (name = '', isLearner = false): string => `${name}${isLearner ? ' (learner)' : ''}`;

/** As the real etcdctl sees them. */
const membersOf = async (): Promise<string[]> => {
  const { members } = JSON.parse(await cluster.etcdctl('member', 'list', '-w', 'json')) as {
    members: EtcdMember[];
  };
  return members.map(({ name, isLearner }) => labelOf(name, isLearner)).sort();
};

const hashesOf = async (): Promise<Set<number>> => {
  const list = JSON.parse(await cluster.etcdctl('endpoint', 'hashkv', '-w', 'json')) as {
    HashKV: { hash: number };
  }[];
  return new Set(list.map(({ HashKV }) => HashKV.hash));
};

const backendsOf = async (): Promise<string[]> =>
  ((await cluster.state()).loadBalancer?.backends ?? [])
    .filter(({ healthy }) => healthy)
    .map(({ name }) => name)
    .sort();

const servedSerial = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });

test(
  'a cluster grows from one control plane to three while it is written to',
  async () => {
    const writer = await startWriter(await cluster.client(), 'while-growing');
    expect(await cluster.run('member', 'add')).toContain('added cp-2; etcd has 2 voting members');
    expect(await cluster.run('member', 'add')).toContain('added cp-3; etcd has 3 voting members');
    const { failures } = await writer.stop();
    // The first API server restarts while it is the only one; after that no one notices.
    expect(failures.length).toBeLessThan(20);
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3']);
    expect(JSON.parse(await cluster.etcdctl('endpoint', 'status', '-w', 'json'))).toHaveLength(3);
    await until('three API servers', async () => (await backendsOf()).length === 3);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
    const flag = /--etcd-servers=(\S+)/.exec(
      readFileSync(join(cluster.data, 'hosts/cp-1/manifests/kube-apiserver.yaml'), 'utf8'),
    )?.[1];
    expect(flag?.split(',')).toHaveLength(3);
    const kubectl = await cluster.kubectl();
    const nodes = await kubectl?.ok(
      'get',
      'nodes',
      '-l',
      'node-role.kubernetes.io/control-plane',
      '-o',
      'name',
    );
    expect(nodes?.trim().split('\n').sort() ?? []).toEqual(
      kubectl ? ['node/cp-1', 'node/cp-2', 'node/cp-3'] : [],
    );
  },
  TEST_LIMIT_MS,
);

/** As our command tells them; etcdctl has to agree at every moment that nothing moves. */
const listed = async (): Promise<string[]> => {
  const rows = await cluster.json<EtcdMember[]>('member', 'list');
  const names = rows.map(({ name, isLearner }) => labelOf(name, isLearner)).sort();
  expect(await membersOf()).toEqual(names);
  return names;
};

const journalHas = (host: string): boolean => {
  const path = join(cluster.data, 'membership.json');
  return existsSync(path) && readFileSync(path, 'utf8').includes(host);
};

const pidOf = (host: string): Promise<number> =>
  until(
    `the process of ${host}`,
    async () =>
      (await cluster.state()).hosts.find(({ name, phase }) => name === host && phase === 'running')?.pid,
  );

const untilReady = (host: string): Promise<boolean> =>
  until(`everything on ${host} to be ready`, async () =>
    (await cluster.state()).hosts.some(
      ({ name, components }) =>
        name === host && components.length > 0 && components.every(({ phase }) => phase === 'ready'),
    ),
  );

/** A change that something cuts off; its one line. */
const cutOff = async (
  change: readonly string[],
  host: string,
  cut: () => Promise<void> | void,
): Promise<string> => {
  const changing = cluster.attempt(...change);
  await until('the change to begin', () => journalHas(host));
  await cut();
  const { code, stdout, stderr } = await changing;
  expect([code, stdout]).toEqual([1, '']);
  return stderr.trim().split('\n').at(-1) ?? '';
};

test(
  'a host that is killed between the addition of its member and its vote joins by the command that the error names',
  async () => {
    // Its member cannot listen: it stays a learner that has not started.
    const squatter = createServer().listen(2380, '127.222.0.4');
    await once(squatter, 'listening');
    const line = await cutOff(['member', 'add'], 'cp-4', async () => {
      await until('the learner', async () => (await membersOf()).includes(' (learner)'));
      process.kill(await pidOf('cp-4'), 'SIGKILL');
    });
    squatter.close();
    expect(line).toMatch(/cp-4 has not joined yet: host cp-4 is killed.*; resume with pilothouse member add/);
    expect(await listed()).toEqual([' (learner)', 'cp-1', 'cp-2', 'cp-3']);
    expect(await cluster.refused('member', 'remove', 'cp-1')).toContain('resume with pilothouse member add');
    expect(await cluster.run('member', 'add')).toContain('added cp-4; etcd has 4 voting members');
    expect(await listed()).toEqual(['cp-1', 'cp-2', 'cp-3', 'cp-4']);
  },
  TEST_LIMIT_MS,
);

test(
  'a voter that is killed while another is added, and one that is killed while another leaves, cost a command each',
  async () => {
    const before = await pidOf('cp-2');
    const adding = await cutOff(['member', 'add'], 'cp-5', () => void process.kill(before, 'SIGKILL'));
    expect(adding).toMatch(/cp-5 has not joined yet: .*resume with pilothouse member add/);
    // No one has asked for its end, so it comes back on its own.
    await untilReady('cp-2');
    expect(await cluster.run('member', 'add')).toContain('added cp-5; etcd has 5 voting members');
    expect(await listed()).toEqual(['cp-1', 'cp-2', 'cp-3', 'cp-4', 'cp-5']);

    const now = await pidOf('cp-2');
    const removing = await cutOff(
      ['member', 'remove', 'cp-5'],
      'cp-5',
      () => void process.kill(now, 'SIGKILL'),
    );
    expect(removing).toMatch(/cp-5 is not removed yet: .*resume with pilothouse member remove cp-5/);
    expect(await cluster.refused('member', 'add')).toContain('resume with pilothouse member remove cp-5');
    await listed();
    // No one has asked for its end, so it comes back on its own.
    await untilReady('cp-2');
    expect(await cluster.run('member', 'remove', 'cp-5')).toContain(
      'removed cp-5; etcd has 4 voting members',
    );
    expect(await listed()).toEqual(['cp-1', 'cp-2', 'cp-3', 'cp-4']);
  },
  TEST_LIMIT_MS,
);

test(
  'three grow to five and back, and who was there before stays',
  async () => {
    expect(await cluster.run('member', 'add')).toContain('added cp-5; etcd has 5 voting members');
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3', 'cp-4', 'cp-5']);
    await until('five API servers', async () => (await backendsOf()).length === 5);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
    expect(await cluster.run('member', 'remove', 'cp-4')).toContain(
      'removed cp-4; etcd has 4 voting members',
    );
    expect(await cluster.run('member', 'remove', 'cp-5')).toContain(
      'removed cp-5; etcd has 3 voting members',
    );
    expect(await membersOf()).toEqual(['cp-1', 'cp-2', 'cp-3']);
    const kubectl = await cluster.kubectl();
    const nodes = await kubectl?.ok('get', 'nodes', '-o', 'name');
    expect(nodes?.trim().split('\n').sort()).toEqual(kubectl && ['node/cp-1', 'node/cp-2', 'node/cp-3']);
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

test(
  'with a member down no healthy one is removed, and an outage wants --yes',
  async () => {
    await cluster.run('host', 'kill', 'cp-3');
    expect(await cluster.refused('member', 'remove', 'cp-2')).toContain(
      'would lose quorum: 1 of 2 members healthy, 2 needed; recover members first',
    );
    expect(await cluster.refused('host', 'kill', 'cp-2')).toContain('this action causes an outage');
    await cluster.run('host', 'start', 'cp-3');
    await cluster.untilWell();
  },
  TEST_LIMIT_MS,
);

test(
  'when the leader leaves, writers only have to retry',
  async () => {
    await cluster.run('member', 'move-leader', 'cp-1');
    const writer = await startWriter(await cluster.client(), 'while-shrinking');
    expect(await cluster.run('member', 'remove', 'cp-1')).toContain(
      'removed cp-1; etcd has 2 voting members',
    );
    const { failures } = await writer.stop();
    expect(failures.filter((failure) => !failure.includes('please try again'))).toEqual([]);
    expect(failures.length).toBeLessThan(3);
    expect(await membersOf()).toEqual(['cp-2', 'cp-3']);
    expect((await cluster.state()).hosts.map(({ name }) => name)).toEqual(['cp-2', 'cp-3']);
    await until('equal hashes', async () => (await hashesOf()).size === 1);
  },
  TEST_LIMIT_MS,
);

test(
  'a removal that is cut off by kill -9 is ended by the next start',
  async () => {
    const removing = cluster.attempt('member', 'remove', 'cp-3');
    await until('the removal to begin', () => {
      try {
        return readFileSync(join(cluster.data, 'membership.json'), 'utf8').includes('cp-3');
      } catch {
        return false;
      }
    });
    await cluster.down('SIGKILL');
    await removing;
    await cluster.again();
    await until('one member', async () => (await membersOf()).join() === 'cp-2');
    await until('the end of it', async () => (await cluster.state()).hosts.length === 1);
    await cluster.untilWell();
    const client = await cluster.client();
    expect((await client.resource(CONFIG_MAP, 'default').get('while-shrinking')).data).toBeDefined();
  },
  TEST_LIMIT_MS,
);

test(
  'a console sees the cluster that up runs, operates it, and leaves it running',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pilothouse-console-'));
    const program = pathToFileURL(join(process.cwd(), 'dist/host/host.js'));
    const console = createHandlers({
      dataDirectory: folder,
      clock: systemClock,
      log: silentLog,
      version: 'test',
      shell: 'browser',
      processes: nodeProcessSource(systemClock),
      hosting: { program, launch: forkLauncher(program) },
    });
    const { signal } = new AbortController();
    const own = { cluster: cluster.data };
    const following = new AbortController();
    /** Its end, in the one sentence that the console tells. */
    const done = async (action: ClusterAction): Promise<string> => {
      const { operation } = await console.handlers['cluster.act']!({ ...own, action }, signal);
      for await (const batch of console.handlers['cluster.operations']!(own, following.signal)) {
        const found = batch.at(-1)?.find(({ id }) => id === operation);
        if (found && found.state !== 'running')
          return `${found.state}: ${found.message ? inEnglish(found.message) : ''}`;
      }
      return 'nothing was told';
    };
    const phaseOf = async (component: string): Promise<string | undefined> =>
      (await cluster.state()).hosts[0]?.components.find(({ name }) => name === component)?.phase;
    try {
      await console.hosted.attach(cluster.data);
      for await (const [state] of console.handlers['cluster.state']!(own, following.signal))
        if (state?.phase === 'ready' && state.hosts.some(({ phase }) => phase === 'running')) break;
      expect(console.hosted.require(cluster.data).isElsewhere).toBe(true);

      const scheduler = { host: 'cp-2', component: 'kube-scheduler' } as const;
      expect(await done({ kind: 'component.stop', ...scheduler })).toMatch(/^done: .*kube-scheduler on cp-2/);
      expect(await phaseOf('kube-scheduler')).not.toBe('ready');
      expect(await done({ kind: 'component.start', ...scheduler })).toMatch(/^done: /);
      expect(await done({ kind: 'snapshot.save' })).toMatch(/^done: Saved [\d,]+ keys at revision \d+ to /);
      await until('the scheduler', async () => (await phaseOf('kube-scheduler')) === 'ready');
      await expect(console.handlers['clusters.stop']!(own, signal)).rejects.toThrow('stop it there');
    } finally {
      following.abort();
      await console.close();
      console.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
    // Who leaves takes nothing along.
    await cluster.untilWell();
    expect(() => process.kill(cluster.process.pid, 0)).not.toThrow();
  },
  TEST_LIMIT_MS,
);

test(
  'a renewed certificate is served, and kubectl continues',
  async () => {
    const before = await servedSerial('127.222.0.2', 6443);
    await cluster.run('certs', 'renew', 'all');
    await until('another serial', async () => (await servedSerial('127.222.0.2', 6443)) !== before);
    const kubectl = await cluster.kubectl();
    expect((await kubectl?.ok('get', 'nodes', '-o', 'name')) ?? 'node/cp-2').toContain('node/cp-2');
  },
  TEST_LIMIT_MS,
);
