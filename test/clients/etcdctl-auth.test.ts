import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { hasEtcdctl, type CtlOutcome } from '../support/etcd-ctl.ts';
import { AUTH_STEPS } from './etcdctl-auth-steps.ts';
import { Side, titleOf } from './etcdctl-side.ts';

const OURS_OCTET = 79;
const REAL_OCTET = 67;
const SCRIPT_LIMIT_MS = 300_000;

/** etcd 3.4 forgets to translate this refusal of its maintenance calls; 3.6 does not. */
const asOf36 = (text: string): string =>
  text.replace('rpc error: code = Unknown desc = auth: permission denied', 'etcdserver: permission denied');

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('auth of our member and of a real etcd, by etcdctl', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-auth-'));
  const clusters: EtcdCluster[] = [];
  const outcomes: { readonly ours: CtlOutcome; readonly real: CtlOutcome }[] = [];

  beforeAll(async () => {
    const make = (flavour: 'pilothouse' | 'etcd', octet: number): EtcdCluster => {
      const cluster = new EtcdCluster({
        flavour,
        size: 1,
        octet,
        directory: join(directory, flavour),
        certificates: makeCertificates(join(directory, `${flavour}-pki`), octet),
        extraFlags: ['--bcrypt-cost=4'],
      });
      cluster.start();
      clusters.push(cluster);
      return cluster;
    };
    const [ours, real] = [make('pilothouse', OURS_OCTET), make('etcd', REAL_OCTET)];
    await Promise.all([ours.healthy(), real.healthy()]);
    const [ourSide, realSide] = [new Side(ours), new Side(real)];
    for (const step of AUTH_STEPS) {
      const [our, their] = await Promise.all([ourSide.run(step), realSide.run(step)]);
      outcomes.push({ ours: our, real: their });
    }
  }, SCRIPT_LIMIT_MS);

  afterAll(async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test.each(AUTH_STEPS.map((step, index) => ({ title: titleOf(step), index })))(
    '$index: $title',
    ({ index }) => {
      const { ours, real } = outcomes[index]!;
      expect(ours).toEqual({ ...real, stderr: asOf36(real.stderr) });
    },
  );
});
