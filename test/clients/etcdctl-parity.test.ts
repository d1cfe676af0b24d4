import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { hasEtcdctl, type CtlOutcome } from '../support/etcd-ctl.ts';
import { PARITY_STEPS } from './etcdctl-parity-steps.ts';
import { Side, titleOf } from './etcdctl-side.ts';

const OURS_OCTET = 71;
const REAL_OCTET = 61;
/** The script is 500 processes. */
const SCRIPT_LIMIT_MS = 600_000;

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('etcdctl cannot tell our member from a real etcd', () => {
  let directory: string;
  const clusters: EtcdCluster[] = [];
  const outcomes: { readonly ours: CtlOutcome; readonly real: CtlOutcome }[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-parity-'));
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
    const [ours, real] = [make('pilothouse', OURS_OCTET), make('etcd', REAL_OCTET)];
    await Promise.all([ours.healthy(), real.healthy()]);
    const [ourSide, realSide] = [new Side(ours), new Side(real)];
    for (const step of PARITY_STEPS) {
      const [our, their] = await Promise.all([ourSide.run(step), realSide.run(step)]);
      outcomes.push({ ours: our, real: their });
    }
  }, SCRIPT_LIMIT_MS);

  afterAll(async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test('most commands of the script are of the kind that succeeds', () => {
    const succeeded = outcomes.filter(({ real }) => real.code === 0).length;
    expect(succeeded).toBeGreaterThan(outcomes.length / 2);
  });

  test.each(PARITY_STEPS.map((step, index) => ({ title: titleOf(step), index })))(
    '$index: $title',
    ({ index }) => {
      const { ours, real } = outcomes[index]!;
      expect(ours).toEqual(real);
    },
  );
});
