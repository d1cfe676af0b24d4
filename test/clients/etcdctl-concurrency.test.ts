import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { etcdctlFor, hasEtcdctl, type Etcdctl } from '../support/etcd-ctl.ts';
import { until } from '../support/until.ts';

const OURS_OCTET = 55;
const REAL_OCTET = 57;
const SCRIPT_LIMIT_MS = 300_000;
/** The key and its empty value, each a line that is written apart. */
const LOCKED = /l\/[0-9a-f]+\n\n/;

/** One after the other: what etcdctl said, with the leases in its keys by the order in which they appear. */
class Transcript {
  readonly lines: string[] = [];
  readonly #leases: string[] = [];

  add(what: string, said: string): void {
    const named = said.replace(/\b(l|e)\/([0-9a-f]{8,})/g, (_whole, name: string, lease: string) => {
      if (!this.#leases.includes(lease)) this.#leases.push(lease);
      return `${name}/<lease ${this.#leases.indexOf(lease) + 1}>`;
    });
    this.lines.push(`${what}: ${named}`);
  }
}

const keysOf = (ctl: Etcdctl, name: string): Promise<string> =>
  ctl.ok('get', `${name}/`, '--prefix', '--keys-only', '--sort-by=CREATE');

const untilInLine = (ctl: Etcdctl, name: string, count: number): Promise<unknown> =>
  until(`${count} in line for ${name}`, async () => {
    const keys = (await keysOf(ctl, name)).split('\n').filter((line) => line !== '');
    return keys.length === count;
  });

const runLocks = async (ctl: Etcdctl, transcript: Transcript): Promise<void> => {
  for (const command of [
    ['echo', 'held'],
    ['sh', '-c', 'exit 3'],
    ['sh', '-c', 'echo $ETCD_LOCK_KEY'],
  ]) {
    const { code, stdout, stderr } = await ctl.run(['lock', 'l', ...command]);
    transcript.add(command.join(' '), `${code} ${stdout} ${stderr}`);
  }
  transcript.add('after commands', await keysOf(ctl, 'l'));
  const first = ctl.start(['lock', 'l', '--ttl=30']);
  transcript.add('first', await first.until(LOCKED));
  const second = ctl.start(['lock', 'l', '--ttl=30']);
  await untilInLine(ctl, 'l', 2);
  const third = ctl.start(['lock', 'l', '--ttl=30']);
  await untilInLine(ctl, 'l', 3);
  transcript.add('in line', await keysOf(ctl, 'l'));
  // The one in the middle gives up: the third must not take what the first holds.
  await second.stop('SIGINT');
  await untilInLine(ctl, 'l', 2);
  transcript.add('third waits', third.output);
  await first.stop('SIGINT');
  transcript.add('third', await third.until(LOCKED));
  await third.stop('SIGINT');
  await untilInLine(ctl, 'l', 0);
  transcript.add('in the end', await keysOf(ctl, 'l'));
};

const runElections = async (ctl: Etcdctl, transcript: Transcript): Promise<void> => {
  const observer = ctl.start(['elect', '-l', 'e']);
  const one = ctl.start(['elect', 'e', 'one']);
  transcript.add('one', await one.until(/e\/[0-9a-f]+\none\n/));
  transcript.add('observed', await observer.until(/one\n/));
  const two = ctl.start(['elect', 'e', 'two']);
  await untilInLine(ctl, 'e', 2);
  transcript.add('two waits', two.output);
  await one.stop('SIGINT');
  transcript.add('two', await two.until(/e\/[0-9a-f]+\ntwo\n/));
  transcript.add('observed', await observer.until(/two\n/));
  await two.stop('SIGINT');
  await untilInLine(ctl, 'e', 0);
  await observer.stop('SIGINT');
  transcript.add('without a name', (await ctl.run(['elect'])).stderr);
};

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('etcdctl lock and elect', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-concurrency-'));
  const clusters: EtcdCluster[] = [];
  const controls: Etcdctl[] = [];
  const transcripts: Transcript[] = [];

  beforeAll(async () => {
    const make = (flavour: 'pilothouse' | 'etcd', octet: number): EtcdCluster => {
      const cluster = new EtcdCluster({
        flavour,
        size: 1,
        octet,
        directory: join(directory, flavour),
        certificates: makeCertificates(join(directory, `${flavour}-pki`), octet),
      });
      cluster.start();
      clusters.push(cluster);
      return cluster;
    };
    const pair = [make('pilothouse', OURS_OCTET), make('etcd', REAL_OCTET)];
    await Promise.all(pair.map((cluster) => cluster.healthy()));
    await Promise.all(
      pair.map(async (cluster, index) => {
        const ctl = etcdctlFor(() => cluster.endpoints, cluster.options.certificates);
        controls.push(ctl);
        const transcript = (transcripts[index] = new Transcript());
        await runLocks(ctl, transcript);
        await runElections(ctl, transcript);
      }),
    );
  }, SCRIPT_LIMIT_MS);

  afterAll(async () => {
    await Promise.all(controls.map((ctl) => ctl.close()));
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test('our member and a real etcd give the same transcript', () => {
    const [ours, real] = transcripts;
    expect(ours!.lines).toEqual(real!.lines);
  });

  test('the one in line takes the lock when the holder is gone, not before', () => {
    const { lines } = transcripts[0]!;
    expect(lines).toContain('third waits: ');
    expect(lines.find((line) => line.startsWith('third: '))).toContain('l/<lease');
    expect(lines.find((line) => line.startsWith('two: '))).toContain('\ntwo');
  });
});
