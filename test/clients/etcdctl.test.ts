import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as proto from '../../core/etcd/proto/index.ts';
import type { EtcdCluster } from '../support/etcd-cluster.ts';
import { hasEtcdctl, type Etcdctl } from '../support/etcd-ctl.ts';
import { startMembers, type OperatedMembers } from '../support/etcd-members.ts';
import { until } from '../support/until.ts';

const OCTET = 73;
const LEASE = /lease ([0-9a-f]+) granted with TTL\((\d+)s\)/;

interface Header {
  readonly revision: number;
}

describe.skipIf(!hasEtcdctl())('etcdctl on three members over mTLS', () => {
  let members: OperatedMembers;
  let cluster: EtcdCluster;
  let ctl: Etcdctl;

  beforeAll(async () => {
    members = await startMembers({ octet: OCTET, size: 3 });
    ({ cluster, ctl } = members);
  });

  afterAll(() => members.close());

  const revision = async (): Promise<number> =>
    (await ctl.json<{ header: Header }>('get', 'none')).header.revision;
  const lease = async (ttlSeconds: number): Promise<string> =>
    LEASE.exec(await ctl.ok('lease', 'grant', String(ttlSeconds)))![1]!;

  test('a write acknowledged by one member is returned by every member', async () => {
    const [first, second, third] = cluster.endpoints as [string, string, string];
    await ctl.run(['put', 'shared', 'one'], { endpoints: [first] });
    const read = (endpoint: string) => ctl.run(['get', 'shared'], { endpoints: [endpoint] });
    const answers = await Promise.all([second, third].map(read));
    expect(answers.map(({ stdout }) => stdout)).toEqual(['shared\none\n', 'shared\none\n']);
  });

  test('protobuf output is a RangeResponse', async () => {
    await ctl.ok('put', 'proto', 'bytes');
    const bytes = Buffer.from(await ctl.ok('get', 'proto', '-w', 'protobuf'), 'latin1');
    const { count, kvs } = proto.RangeResponse.decode(bytes);
    expect([
      count,
      ...kvs.map((kv) => [Buffer.from(kv.key).toString(), Buffer.from(kv.value).toString()]),
    ]).toEqual([1, ['proto', 'bytes']]);
  });

  test('a watch from a past revision brings history, then what happens', async () => {
    const from = (await revision()) + 1;
    await ctl.ok('put', 'past/a', '1');
    await ctl.ok('put', 'past/b', '2');
    await ctl.ok('del', 'past/a');
    const watch = ctl.start(['watch', 'past/', '--prefix', `--rev=${from}`]);
    await watch.until(/DELETE\npast\/a\n/);
    await ctl.ok('put', 'past/c', '3');
    await watch.until(/past\/c\n3\n/);
    await watch.stop();
    expect(watch.output).toBe('PUT\npast/a\n1\nPUT\npast/b\n2\nDELETE\npast/a\n\nPUT\npast/c\n3\n');
  });

  test('a watch with previous values shows what was there', async () => {
    await ctl.ok('put', 'previous', 'old');
    const watch = ctl.start(['watch', 'previous', '--prev-kv', `--rev=${await revision()}`]);
    await watch.until(/old/);
    await ctl.ok('put', 'previous', 'new');
    await ctl.ok('del', 'previous');
    await watch.until(/DELETE[^]*previous\n\n/);
    await watch.stop();
    expect(watch.output).toBe(
      'PUT\nprevious\nold\nPUT\nprevious\nold\nprevious\nnew\nDELETE\nprevious\nnew\nprevious\n\n',
    );
  });

  test('a watch of a key range sees that range alone', async () => {
    const from = await revision();
    const watch = ctl.start(['watch', 'range/b', 'range/d', `--rev=${from + 1}`]);
    for (const key of ['a', 'b', 'c', 'd']) await ctl.ok('put', `range/${key}`, key);
    await watch.until(/range\/c\nc\n/);
    await watch.stop();
    expect(watch.output).toBe('PUT\nrange/b\nb\nPUT\nrange/c\nc\n');
  });

  test('an interactive watch serves several keys and progress on one stream', async () => {
    const watch = ctl.start(['watch', '-i']);
    watch.write('watch live/a\n');
    watch.write('watch live/b --prev-kv\n');
    watch.write('progress\n');
    await watch.until(/progress notify: \d+/);
    await ctl.ok('put', 'live/a', '1');
    await watch.until(/live\/a\n1\n/);
    await ctl.ok('put', 'live/b', '2');
    await watch.until(/live\/b\n2\n/);
    await watch.stop();
  });

  test('a watch runs a command for each event', async () => {
    const from = await revision();
    await ctl.ok('put', 'exec', 'value');
    const watch = ctl.start([
      'watch',
      'exec',
      `--rev=${from}`,
      '--',
      'sh',
      '-c',
      'echo ran $ETCD_WATCH_EVENT_TYPE $ETCD_WATCH_KEY',
    ]);
    await watch.until(/ran "?PUT"? "exec"/);
    await watch.stop();
  });

  test('compacted history is refused to reads and watches, with the revision it starts at', async () => {
    await ctl.ok('put', 'history', '1');
    const old = await revision();
    await ctl.ok('put', 'history', '2');
    const current = await revision();
    expect(await ctl.ok('compact', String(current), '--physical')).toBe(`compacted revision ${current}\n`);
    expect(await ctl.refusal('get', 'history', `--rev=${old}`)).toBe(
      'Error: etcdserver: mvcc: required revision has been compacted',
    );
    expect(await ctl.refusal('compact', String(old))).toBe(
      'Error: etcdserver: mvcc: required revision has been compacted',
    );
    const watch = ctl.start(['watch', 'history', `--rev=${old}`]);
    expect(await watch.exited).not.toBe(0);
    expect(watch.output).toContain(
      'watch was canceled (etcdserver: mvcc: required revision has been compacted)',
    );
  });

  test('an interactive transaction takes its branch', async () => {
    await ctl.ok('put', 'branch', 'left');
    const { stdout } = await ctl.run(['txn', '-i'], {
      input: 'value("branch") = "left"\n\nput branch right\n\nput branch wrong\n\n',
    });
    expect(stdout).toContain('SUCCESS\n\nOK\n');
    expect(await ctl.ok('get', 'branch', '--print-value-only')).toBe('right\n');
  });

  test('a lease that is not kept alive takes its keys with it, on every member', async () => {
    const from = (await revision()) + 1;
    // On a busy machine a lease of two seconds may be over before its key is put.
    const id = await until('a key with a lease', async () => {
      const granted = await lease(2);
      await ctl.ok('put', 'ephemeral', 'x', `--lease=${granted}`);
      return granted;
    });
    const watch = ctl.start(['watch', 'ephemeral', `--rev=${from}`]);
    await watch.until(/DELETE\nephemeral\n/);
    await watch.stop();
    const gone = cluster.endpoints.map((endpoint) =>
      ctl.run(['lease', 'timetolive', id], { endpoints: [endpoint] }),
    );
    for (const { stdout } of await Promise.all(gone)) expect(stdout).toBe(`lease ${id} already expired\n`);
  });

  test('a lease that is kept alive stays, and tells its keys', async () => {
    const id = await lease(6);
    const keeping = ctl.start(['lease', 'keep-alive', id]);
    await keeping.until(/keepalived with TTL\(6\)/);
    await ctl.ok('put', 'kept/a', 'x', `--lease=${id}`);
    await ctl.ok('put', 'kept/b', 'x', `--lease=${id}`);
    // Every two seconds: by the fifth it would be over.
    await keeping.until(/(?:keepalived with TTL\(6\)[^]*){5}/);
    expect(await ctl.ok('lease', 'timetolive', id, '--keys')).toMatch(
      /^lease [0-9a-f]+ granted with TTL\(6s\), remaining\([0-6]s\), attached keys\(\[kept\/a kept\/b\]\)\n$/,
    );
    expect(await ctl.ok('lease', 'list')).toContain(id);
    await ctl.ok('lease', 'revoke', id);
    await keeping.until(/expired or revoked/);
    expect(await ctl.ok('get', 'kept/', '--prefix')).toBe('');
  });

  test('locks are handed from one holder to the next in order', async () => {
    const queue = ctl.start(['watch', 'door/', '--prefix', `--rev=${(await revision()) + 1}`]);
    const first = ctl.start(['lock', 'door']);
    await first.until(/door\/[0-9a-f]+\n/);
    const second = ctl.start(['lock', 'door', 'echo', 'second holds']);
    await queue.until(/PUT[^]*PUT/);
    expect(second.output).toBe('');
    await first.stop();
    await second.until(/second holds/);
    expect(await second.exited).toBe(0);
    await queue.stop();
  });

  test('an election proclaims one leader, and the next when it resigns', async () => {
    const observer = ctl.start(['elect', 'throne', '--listen']);
    const first = ctl.start(['elect', 'throne', 'anna']);
    await first.until(/anna/);
    await observer.until(/anna/);
    const second = ctl.start(['elect', 'throne', 'bert']);
    await first.stop();
    await second.until(/bert/);
    await observer.until(/bert/);
    await second.stop();
    await observer.stop();
  });

  test('a mirror copies what is there and follows what comes', async () => {
    const from = (await revision()) + 1;
    await ctl.ok('put', 'source/a', '1');
    const [target] = cluster.endpoints as [string];
    const { caFile, clientCertFile, clientKeyFile } = cluster.options.certificates;
    const mirror = ctl.start([
      'make-mirror',
      '--prefix=source/',
      '--dest-prefix=copy/',
      `--dest-cacert=${caFile}`,
      `--dest-cert=${clientCertFile}`,
      `--dest-key=${clientKeyFile}`,
      target,
    ]);
    const copies = ctl.start(['watch', 'copy/', '--prefix', `--rev=${from}`]);
    await copies.until(/copy\/a\n1\n/);
    await ctl.ok('put', 'source/b', '2');
    await copies.until(/copy\/b\n2\n/);
    await ctl.ok('del', 'source/a');
    await copies.until(/DELETE\ncopy\/a\n/);
    await copies.stop();
    await mirror.stop();
  });
});
