import { expect, test } from 'vitest';
import type { CallResult } from './useCall.ts';
import { useDryRun } from './useDryRun.ts';

/** A server whose responses come when the test says so. */
const server = () => {
  const open: { readonly name: string; respond(): Promise<void> }[] = [];
  const change = (name: string) => (dryRun: boolean) =>
    new Promise<CallResult<string>>((resolve) =>
      open.push({
        name,
        async respond() {
          resolve({ ok: true, value: `${name} ${dryRun ? 'would change' : 'changed'}` });
          await new Promise(setImmediate);
        },
      }),
    );
  return { open, change };
};

test('a late dry run is never shown for another change, whichever response comes first', async () => {
  const { open, change } = server();
  const run = useDryRun<string>();
  run.begin(change('a'));
  run.begin(change('b'));
  const [ofA, ofB] = open;
  await ofA!.respond();
  expect([run.report.value, run.pending.value]).toEqual([undefined, true]);
  await ofB!.respond();
  expect([run.report.value, run.pending.value]).toEqual(['b would change', false]);
  run.begin(change('a'));
  run.begin(change('b'));
  await open[3]!.respond();
  await open[2]!.respond();
  expect(run.report.value).toBe('b would change');
});

test('a change whose dialog was closed is not reported as done in the next one', async () => {
  const { open, change } = server();
  const run = useDryRun<string>();
  run.begin(change('a'));
  await open[0]!.respond();
  const applied = run.apply();
  run.begin(undefined);
  run.begin(change('b'));
  await open[1]!.respond();
  expect(await applied).toEqual({ report: 'a changed', isShown: false });
  expect([run.isDone.value, run.report.value]).toEqual([false, undefined]);
  await open[2]!.respond();
  await Promise.all([run.apply(), open[3]!.respond()]);
  expect([run.isDone.value, run.report.value]).toEqual([true, 'b changed']);
});
