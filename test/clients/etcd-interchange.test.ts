import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd, type ClusterCertificates } from '../support/etcd-cluster.ts';
import { etcdctlFor, hasEtcdctl, type Etcdctl } from '../support/etcd-ctl.ts';
import { runCommand, type Ended } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';
import { startRealEtcd, type RealEtcd } from './real-etcd.ts';

const OCTET = 65;
const BUMP = 1_000_000_000;

interface Answer {
  readonly header: { readonly revision: number };
  readonly kvs: readonly Readonly<Record<string, unknown>>[];
}
interface HashAnswer {
  readonly HashKV: { readonly hash: number; readonly compact_revision: number };
}

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('a cluster moves between etcd and ours by snapshot', () => {
  let directory: string;
  let certificates: ClusterCertificates;
  const clusters: EtcdCluster[] = [];
  const reals: RealEtcd[] = [];
  const ctls: Etcdctl[] = [];

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-interchange-'));
    certificates = makeCertificates(join(directory, 'pki'), OCTET);
    mkdirSync(join(directory, 'files'));
  });

  afterAll(async () => {
    await Promise.all(ctls.map((ctl) => ctl.close()));
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    await Promise.all(reals.map((real) => real.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  const cluster = (name: string): EtcdCluster => {
    const made = new EtcdCluster({
      flavour: 'pilothouse',
      size: 3,
      octet: OCTET,
      directory: join(directory, name),
      certificates,
    });
    clusters.push(made);
    return made;
  };
  const ctlOf = (endpoints: readonly string[], secure: boolean): Etcdctl => {
    const ctl = etcdctlFor(() => endpoints, secure ? certificates : undefined);
    ctls.push(ctl);
    return ctl;
  };
  const realFrom = async (name: string): Promise<Etcdctl> => {
    const real = await startRealEtcd(join(directory, name));
    reals.push(real);
    return ctlOf([real.endpoint], false);
  };
  const file = (name: string): string => join(directory, 'files', name);
  const everything = async (ctl: Etcdctl): Promise<Answer> => ctl.json('get', '', '--prefix');
  const leases = async (ctl: Etcdctl): Promise<string[]> =>
    (await ctl.ok('lease', 'list')).trim().split('\n').sort();

  /** Keys of many shapes: changed, deleted, made again, large, leased. */
  const fill = async (ctl: Etcdctl): Promise<void> => {
    const id = /lease ([0-9a-f]+)/.exec(await ctl.ok('lease', 'grant', '5000'))![1]!;
    for (let n = 0; n < 20; n += 1) await ctl.ok('put', `/registry/pods/p${n % 12}`, `value ${n}`);
    await ctl.ok('put', '/registry/leases/a', 'held', `--lease=${id}`);
    await ctl.run(['put', '/registry/large'], { input: 'x'.repeat(300_000) });
    await ctl.ok('del', '/registry/pods/p3');
    await ctl.ok('put', '/registry/pods/p3', 'again');
    await ctl.ok('del', '/registry/pods/p4');
    await ctl.ok('compact', '9');
    await ctl.ok('put', 'umlaut-äöü', 'ключ');
  };

  const restore = (
    snapshot: string,
    target: EtcdCluster,
    index: number,
    ...flags: string[]
  ): Promise<Ended> =>
    runCommand(
      'component',
      'etcdutl',
      'snapshot',
      'restore',
      snapshot,
      `--name=m${index + 1}`,
      `--data-dir=${join(target.options.directory, `m${index + 1}`)}`,
      `--initial-cluster=${[0, 1, 2].map((i) => `m${i + 1}=${target.peerUrl(i)}`).join(',')}`,
      `--initial-advertise-peer-urls=${target.peerUrl(index)}`,
      ...flags,
    );

  test('a real etcd takes over a snapshot of ours with keys, revisions and leases', async () => {
    const ours = cluster('ours');
    ours.start();
    await ours.healthy();
    const ctl = ctlOf(ours.endpoints, true);
    await fill(ctl);
    const before = await everything(ctl);
    const saved = await ctl.run(['snapshot', 'save', file('ours.db')], { endpoints: [ours.endpoints[1]!] });
    expect(saved).toMatchObject({ code: 0, stdout: `Snapshot saved at ${file('ours.db')}\n` });
    const data = join(directory, 'real-from-ours');
    await ctl.ok('snapshot', 'restore', file('ours.db'), `--data-dir=${data}`);
    const real = await realFrom('real-from-ours');

    const after = await everything(real);
    expect(after.kvs).toEqual(before.kvs);
    expect(after.header.revision).toBe(before.header.revision);
    expect(await leases(real)).toEqual(await leases(ctl));
    expect(await real.refusal('get', 'x', '--rev=8')).toBe(
      'Error: etcdserver: mvcc: required revision has been compacted',
    );
    const hashes = async (of: Etcdctl): Promise<number[]> =>
      (await of.json<HashAnswer[]>('endpoint', 'hashkv')).map(({ HashKV }) => HashKV.hash);
    const [expected] = await hashes(real);
    // A member that follows may be a moment behind.
    await expect.poll(() => hashes(ctl)).toEqual([expected, expected, expected]);
    await real.ok('put', '/registry/pods/p0', 'written by etcd');
    await ours.stop();
  });

  test('three members of ours take over the snapshot of a real etcd, and old watchers list again', async () => {
    const real = await realFrom('real');
    await fill(real);
    const before = await everything(real);
    await real.ok('snapshot', 'save', file('real.db'));

    const ours = cluster('from-real');
    for (const index of [0, 1, 2])
      expect(
        await restore(file('real.db'), ours, index, `--bump-revision=${BUMP}`, '--mark-compacted'),
      ).toMatchObject({ code: 0, stderr: '' });
    ours.start();
    await ours.healthy();
    const ctl = ctlOf(ours.endpoints, true);
    const after = await everything(ctl);
    expect(after.kvs).toEqual(before.kvs);
    expect(after.header.revision).toBe(before.header.revision + BUMP);
    expect(await leases(ctl)).toEqual(await leases(real));
    expect(await ctl.ok('member', 'list')).toMatch(/^(?:\w+, started, m\d, https.*\n){3}$/);

    const watch = ctl.start(['watch', '/registry/', '--prefix', `--rev=${before.header.revision}`]);
    expect(await watch.exited).not.toBe(0);
    expect(watch.output).toContain('etcdserver: mvcc: required revision has been compacted');
    await ctl.ok('put', '/registry/pods/p0', 'written by ours');
    const current = (await everything(ctl)).header.revision;
    const hashes = await Promise.all(
      ours.endpoints.map((endpoint) =>
        // A member that follows may be a moment behind.
        until(`the hash of ${endpoint}`, async () => {
          const { stdout } = await ctl.run(['endpoint', 'hashkv', `--rev=${current}`], {
            endpoints: [endpoint],
          });
          return stdout.split(', ')[1];
        }),
      ),
    );
    expect(new Set(hashes).size).toBe(1);
    await ours.stop();
  });

  test('without a bump the revision stays, and so does every member after a crash', async () => {
    const ours = cluster('same-revision');
    for (const index of [0, 1, 2])
      expect(await restore(file('real.db'), ours, index)).toMatchObject({ code: 0 });
    ours.start();
    await ours.healthy();
    const ctl = ctlOf(ours.endpoints, true);
    const before = await everything(ctl);
    await Promise.all(ours.members.map((member) => member.kill('SIGKILL')));
    ours.start();
    await ours.healthy();
    expect(await everything(ctl)).toMatchObject({
      kvs: before.kvs,
      header: { revision: before.header.revision },
    });
    await ours.stop();
  });

  describe('a restore that cannot be', () => {
    const refused = async (snapshot: string, name: string): Promise<string> => {
      const data = join(directory, 'refused', name);
      mkdirSync(join(directory, 'refused'), { recursive: true });
      const before = readdirSync(join(directory, 'refused'));
      const { code, stdout, stderr } = await runCommand(
        ...['component', 'etcdutl', 'snapshot', 'restore', snapshot, `--data-dir=${data}`],
      );
      expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2]);
      expect(readdirSync(join(directory, 'refused'))).toEqual(before);
      return stderr;
    };

    test('is refused for a flipped byte', async () => {
      const bytes = readFileSync(file('real.db'));
      const at = bytes.indexOf('value 19');
      bytes[at] = bytes[at]! ^ 1;
      writeFileSync(file('flipped.db'), bytes);
      expect(await refused(file('flipped.db'), 'flipped')).toMatch(/sha256|hash/);
    });

    test('is refused for a file that was cut off', async () => {
      copyFileSync(file('real.db'), file('short.db'));
      truncateSync(file('short.db'), 20_000);
      expect(await refused(file('short.db'), 'short')).toMatch(/^pilothouse: .*short\.db/);
    });

    test('is refused for no file, an empty one, and one that is something else', async () => {
      writeFileSync(file('empty.db'), '');
      writeFileSync(file('text.db'), 'not a database\n'.repeat(1000));
      expect(await refused(file('none.db'), 'none')).toMatch(/none\.db/);
      expect(await refused(file('empty.db'), 'empty')).toMatch(/empty\.db/);
      expect(await refused(file('text.db'), 'text')).toMatch(/text\.db/);
    });

    test('is refused for a folder that is there, which stays as it is', async () => {
      const data = join(directory, 'refused', 'taken');
      mkdirSync(data, { recursive: true });
      writeFileSync(join(data, 'precious'), 'mine');
      expect(await refused(file('real.db'), 'taken')).toBe(
        `pilothouse: data-dir "${data}" exists; move it away or choose another folder\n`,
      );
      expect(readFileSync(join(data, 'precious'), 'utf8')).toBe('mine');
    });

    test('is refused for half of a bump, and for the log of another life', async () => {
      const data = join(directory, 'refused', 'half');
      const attempt = (...flags: string[]): Promise<Ended> =>
        runCommand(
          ...['component', 'etcdutl', 'snapshot', 'restore', file('real.db'), `--data-dir=${data}`, ...flags],
        );
      for (const half of ['--mark-compacted', '--bump-revision=10'])
        expect((await attempt(half)).stderr).toContain(
          '--mark-compacted required if --bump-revision > 0, and not allowed otherwise',
        );
      const { code, stderr } = await attempt(`--wal-dir=${directory}`);
      expect([code, stderr]).toEqual([
        1,
        `pilothouse: wal-dir "${directory}" exists; move it away or choose another folder\n`,
      ]);
      expect(existsSync(data)).toBe(false);
    });

    test('is refused for a member that the cluster does not name', async () => {
      const data = join(directory, 'refused', 'stranger');
      const { code, stderr } = await runCommand(
        ...['component', 'etcdutl', 'snapshot', 'restore', file('real.db'), `--data-dir=${data}`],
        ...['--name=stranger', '--initial-cluster=m1=http://127.0.0.1:2380'],
      );
      expect([code, stderr.split('\n').length, existsSync(data)]).toEqual([1, 2, false]);
      expect(stderr).toContain('stranger');
    });
  });
});
