import { expect, test } from 'vitest';
import type { V1Pod } from '../../api/schema/index.ts';
import { refusal } from './admission.ts';

const input = { nodeName: 'n', labels: {}, allocatable: { cpu: '1', pods: '10' }, usedBy: [] };
const pod = (type: string): V1Pod => ({
  spec: { containers: [{ name: 'a', image: 'x', securityContext: { appArmorProfile: { type } } }] },
});

test('a profile that the machine would not enforce is refused in upstream’s words', () => {
  expect(refusal({ ...input, hasAppArmor: false, pod: pod('RuntimeDefault') })).toEqual({
    reason: 'AppArmor',
    message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host',
  });
  expect([
    refusal({ ...input, hasAppArmor: false, pod: pod('Unconfined') }),
    refusal({ ...input, hasAppArmor: true, pod: pod('RuntimeDefault') }),
    // Simulated machines have none to ask.
    refusal({ ...input, pod: pod('RuntimeDefault') }),
  ]).toEqual([undefined, undefined, undefined]);
});
