import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { forbidden } from '../../api/meta/index.ts';
import type { AdmissionPlugin } from './attributes.ts';
import { createAdmissionChain } from './chain.ts';
import { wish } from './testing/fixtures.ts';

const told: string[] = [];
const plugin = (name: string, rest: Partial<AdmissionPlugin> = {}): AdmissionPlugin => ({
  name,
  handles: () => true,
  admit: () => void told.push(`admit ${name}`),
  validate: () => void told.push(`validate ${name}`),
  ...rest,
});

test('plugins are asked in order, each for its operations, and the first refusal ends the phase', async () => {
  told.length = 0;
  const metrics = new Registry();
  const refusing = plugin('b', {
    validate: () => {
      throw forbidden({ group: '', resource: 'pods' }, 'p', 'no');
    },
  });
  const chain = createAdmissionChain(
    [
      plugin('a'),
      refusing,
      plugin('deletes', { handles: (operation) => operation === 'DELETE' }),
      plugin('c'),
    ],
    { clock: manualClock(), metrics },
  );
  await chain.admit(wish({}));
  await expect(chain.validate(wish({}))).rejects.toThrow('pods "p" is forbidden: no');
  expect(told).toEqual(['admit a', 'admit b', 'admit c', 'validate a']);
  expect(metrics.expose().match(/^\S+_count\S* .*$/gm)).toEqual([
    'apiserver_admission_controller_admission_duration_seconds_count{name="a",operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="a",operation="CREATE",rejected="false",type="validate"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="b",operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="b",operation="CREATE",rejected="true",type="validate"} 1',
    'apiserver_admission_controller_admission_duration_seconds_count{name="c",operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"} 1',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"} 1',
  ]);
});

test('the object that a plugin answers is the one that the next sees', async () => {
  const named = (name: string): NonNullable<AdmissionPlugin['admit']> => {
    return ({ object }) => ({ ...object, metadata: { name: `${object?.metadata?.name ?? ''}${name}` } });
  };
  const seen: unknown[] = [];
  const chain = createAdmissionChain(
    [
      plugin('a', { admit: named('a') }),
      plugin('keeps', { admit: ({ object }) => void seen.push(object?.metadata?.name) }),
      plugin('b', { admit: named('b') }),
    ],
    { clock: manualClock() },
  );
  const object = { metadata: { name: 'x' } };
  expect(await chain.admit(wish({ object }))).toEqual({ metadata: { name: 'xab' } });
  expect([seen, object]).toEqual([['xa'], { metadata: { name: 'x' } }]);
});

test('a plugin that asks for it is run a second time, once, with what it keeps', async () => {
  const runs: unknown[] = [];
  const asking = plugin('asks', {
    admit({ reinvocation }) {
      const state = reinvocation.state('asks', () => ({ count: 0 }));
      state.count += 1;
      runs.push([reinvocation.isReinvoked, state.count]);
      reinvocation.isWanted = true;
    },
  });
  await createAdmissionChain([asking], { clock: manualClock() }).admit(wish({ object: {} }));
  expect(runs).toEqual([
    [false, 1],
    [true, 2],
  ]);
});
