import { beforeAll, describe, expect, test } from 'vitest';
import { hasRealEtcd } from '../support/etcd-cluster.ts';
import { hasEtcdctl } from '../support/etcd-ctl.ts';
import { AUTH_STEPS } from './etcdctl-auth-steps.ts';
import { runOnBoth, titleOf, type BothOutcomes } from './etcdctl-side.ts';

const OURS_OCTET = 79;
const REAL_OCTET = 67;
const SCRIPT_LIMIT_MS = 300_000;

/** etcd 3.4 forgets to translate this refusal of its maintenance calls; 3.6 does not. */
const asOf36 = (text: string): string =>
  text.replace('rpc error: code = Unknown desc = auth: permission denied', 'etcdserver: permission denied');

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('auth of our member and of a real etcd, by etcdctl', () => {
  let outcomes: readonly BothOutcomes[] = [];

  beforeAll(async () => {
    outcomes = await runOnBoth(AUTH_STEPS, { ours: OURS_OCTET, real: REAL_OCTET }, ['--bcrypt-cost=4']);
  }, SCRIPT_LIMIT_MS);

  test.each(AUTH_STEPS.map((step, index) => ({ title: titleOf(step), index })))(
    '$index: $title',
    ({ index }) => {
      const { ours, real } = outcomes[index]!;
      expect(ours).toEqual({ ...real, stderr: asOf36(real.stderr) });
    },
  );
});
