import { expect, test } from 'vitest';
import { LOAD_BALANCER_END } from '../../core/contract/index.ts';
import { ALL_ENDS, endsFor, faultAction, firstForm, kindsFor } from './fault-form.ts';
import { faultsOn, faultText } from './fault-words.ts';

test('a form becomes the action that it shows', () => {
  const form = firstForm();
  expect([
    faultAction('cp-1', form),
    faultAction('cp-1', { ...form, to: 'cp-2', isOneWay: true }),
    faultAction('cp-1', { ...form, kind: 'delay', to: LOAD_BALANCER_END }),
    faultAction('cp-1', { ...form, kind: 'slow-disk' }),
    faultAction('cp-1', { ...form, kind: 'clock', offsetMs: '-30000' }),
  ]).toEqual([
    { kind: 'fault.isolate', host: 'cp-1' },
    { kind: 'fault.add', fault: { kind: 'cut', from: 'cp-1', to: 'cp-2', isOneWay: true } },
    {
      kind: 'fault.add',
      fault: { kind: 'delay', from: 'cp-1', to: LOAD_BALANCER_END, isOneWay: false, delayMs: 100 },
    },
    { kind: 'fault.add', fault: { kind: 'slow-disk', host: 'cp-1', delayMs: 100 } },
    { kind: 'fault.add', fault: { kind: 'clock', host: 'cp-1', offsetMs: -30_000 } },
  ]);
  expect(form.to).toBe(ALL_ENDS);
});

test('only a host with a member has a disk to slow; a link goes to every other end', () => {
  expect(kindsFor({ components: [] })).not.toContain('slow-disk');
  expect(endsFor('cp-1', [{ name: 'cp-1' }, { name: 'cp-2' }])).toEqual(['cp-2', LOAD_BALANCER_END]);
});

test('a fault of a link is reported on both of its ends', () => {
  const cut = { id: 'f1', text: '', kind: 'cut', from: 'cp-1', to: 'cp-2', isOneWay: false } as const;
  expect(['cp-1', 'cp-2', 'cp-3'].map((host) => faultsOn([cut], host).length)).toEqual([1, 1, 0]);
  expect(faultText(cut)).toBe('cp-1 and cp-2 cannot reach each other');
  expect(faultText({ kind: 'clock', host: 'cp-1', offsetMs: -3_600_000 })).toMatch(
    /^The clock of cp-1 is .* behind$/,
  );
});
