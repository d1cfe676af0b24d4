import { beforeAll, describe, expect, test } from 'vitest';
import { hasRealEtcd } from '../support/etcd-cluster.ts';
import { hasEtcdctl } from '../support/etcd-ctl.ts';
import { PARITY_STEPS } from './etcdctl-parity-steps.ts';
import { runOnBoth, titleOf, type BothOutcomes } from './etcdctl-side.ts';

const OURS_OCTET = 71;
const REAL_OCTET = 61;
/** The script is 500 processes. */
const SCRIPT_LIMIT_MS = 600_000;

describe.skipIf(!hasRealEtcd() || !hasEtcdctl())('etcdctl cannot tell our member from a real etcd', () => {
  let outcomes: readonly BothOutcomes[] = [];

  beforeAll(async () => {
    outcomes = await runOnBoth(PARITY_STEPS, { ours: OURS_OCTET, real: REAL_OCTET });
  }, SCRIPT_LIMIT_MS);

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
