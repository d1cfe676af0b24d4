import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { inEnglish, verbatim } from '../../contract/index.ts';
import { actionDraft } from './action-draft.ts';
import type { Draft } from './draft.ts';
import { readTimeline } from './read-timeline.ts';
import { Timeline } from './timeline.ts';

let data = '';
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'pilothouse-timeline-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const warning = (name: string): Draft => ({
  lane: 'events',
  kind: 'event',
  severity: 'warn',
  about: [name],
  text: verbatim(name),
  source: null,
});
const lines = async (): Promise<readonly string[]> =>
  (await readTimeline(data, true)).entries.map(({ text }) => inEnglish(text));

test('observations from before the log opens are recorded after its first entry', async () => {
  const clock = manualClock();
  const timeline = new Timeline({ dataDirectory: data, clock, log: silentLog });
  timeline.see([warning('early')]);
  await timeline.start('v1.36.0');
  timeline.see([warning('late')]);
  await timeline.close();
  expect(await lines()).toEqual([
    'Recording began; nothing was recorded before',
    'Cluster running (v1.36.0)',
    'early',
    'late',
  ]);
  const again = new Timeline({ dataDirectory: data, clock, log: silentLog });
  clock.advance(7 * 60_000);
  await again.start('v1.36.0');
  await again.close();
  expect((await lines())[4]).toBe('Recording resumed; nothing was recorded for 7 min');
});

test('an action is recorded from its beginning to its end, also one that fails', async () => {
  const clock = manualClock();
  const timeline = new Timeline({ dataDirectory: data, clock, log: silentLog });
  await timeline.start('v1.36.0');
  const { draft, failed } = actionDraft({ kind: 'host.kill', host: 'cp-1' });
  await timeline.during(draft, failed, async () => clock.advance(2_000));
  const failure = timeline.during(draft, failed, () => Promise.reject(new Error('no such host')));
  await expect(failure).rejects.toThrow('no such host');
  await timeline.close();
  const actions = (await readTimeline(data, true)).entries.filter(({ lane }) => lane === 'operator');
  expect(
    actions.map(({ atMs, endMs, severity, text }) => [endMs! - atMs, severity, inEnglish(text)]),
  ).toEqual([
    [2_000, 'ok', 'pilothouse host kill cp-1'],
    [0, 'error', 'pilothouse host kill cp-1 failed: no such host'],
  ]);
});

test('a clock that jumped is said, one that drifts is not', async () => {
  const time = manualClock();
  let offMs = 0;
  const clock = { ...time, nowMs: () => time.nowMs() + offMs };
  const timeline = new Timeline({ dataDirectory: data, clock, log: silentLog });
  await timeline.start('v1.36.0');
  for (const stepMs of [500, 500, 500, 500, 500, 60_000, -120_000]) {
    offMs += stepMs;
    timeline.see([warning('tick')]);
  }
  await timeline.close();
  const { entries } = await readTimeline(data, true);
  const jumps = entries.filter(({ kind }) => kind === 'clockJumped').map(({ text }) => inEnglish(text));
  expect(jumps.toSorted()).toEqual([
    'The clock of this machine jumped ahead by 60 s, or the machine slept',
    'The clock of this machine jumped back by 120 s; entries overlap',
  ]);
});

test('a flood is cut, and how much of it is said', async () => {
  const clock = manualClock();
  const timeline = new Timeline({ dataDirectory: data, clock, log: silentLog });
  await timeline.start('v1.36.0');
  for (let index = 0; index < 1_000; index += 1) timeline.see([warning(`e${index}`)]);
  clock.advance(60_000);
  timeline.see([warning('next minute')]);
  await timeline.close();
  const told = await lines();
  expect(told.length).toBeLessThan(310);
  expect(told).toContain('702 more events were not recorded: too many within a minute');
});
