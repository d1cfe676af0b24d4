import { expect, test } from 'vitest';
import { say } from '../../contract/index.ts';
import * as record from './drill-record.ts';
import { gradeOf, stepsIn, storyOf } from './grade.ts';
import { undoOrder } from './undo.ts';
import { valueAt } from './value-at.ts';

const PAR = { parSeconds: 100, parSteps: 2 };
const grade = gradeOf({ ...PAR, seconds: 50, steps: 1, hints: 0, isScripted: false });
const passed = { isPassed: true, detail: null };
const failing = { isPassed: false, detail: say('drill.found.fault') };

const broken = () =>
  record.broke(record.owing(record.begin('text', 1), [{ kind: 'heal' }], ['cp-1', 'cp-1']), 5);

test('a run goes from its preparation to its grade', () => {
  const checked = record.checked(record.hinted(broken(), 2), [passed], 9);
  expect(record.undone(record.solved(checked, { grade, story: [] }), null)).toMatchObject({
    phase: 'solved',
    hosts: ['cp-1'],
    brokenAtMs: 5,
    endedAtMs: 9,
    hintsShown: 1,
    undo: [],
    grade: { score: 100 },
  });
});

test('a run that has failed assertions is not solved, and one that ended takes no more requests', () => {
  const checked = record.checked(broken(), [passed, failing], 9);
  expect(() => record.solved(checked, { grade, story: [] })).toThrow('not solved yet');
  const over = record.abandoned(checked, 10);
  expect(over).toMatchObject({ phase: 'abandoned', endedAtMs: 10, undo: [{ kind: 'heal' }] });
  expect(() => record.hinted(over, 2)).toThrow('no drill is running');
  expect(() => record.checked(over, [passed], 11)).toThrow('no drill is running');
  expect(() => record.abandoned(over, 11)).toThrow('no drill is running');
});

test('there are as many hints as the document has', () => {
  expect(() => record.hinted(record.hinted(broken(), 1), 1)).toThrow('no more hints');
});

test('a preparation that was cut off can be given up', () => {
  expect(record.abandoned(record.begin('text', 1), 2).phase).toBe('abandoned');
});

test('time, steps and hints beyond par cost points, each within a bound', () => {
  const score = (more: Partial<Parameters<typeof gradeOf>[0]>): number =>
    gradeOf({ ...PAR, seconds: 100, steps: 2, hints: 0, isScripted: false, ...more }).score;
  expect(score({})).toBe(100);
  expect(score({ seconds: 200 })).toBe(85);
  expect(score({ seconds: 100_000 })).toBe(70);
  expect(score({ steps: 4 })).toBe(90);
  expect(score({ hints: 2 })).toBe(80);
  expect(score({ seconds: 100_000, steps: 99, hints: 9 })).toBe(10);
});

test('steps are what the person did between the two moments', () => {
  const text = say('timeline.recordingBegan');
  const write = { verb: 'patch', resource: 'deployments', namespace: 'a', name: 'b' };
  const story = storyOf(
    [
      { atMs: 1, lane: 'operator', kind: 'action', text },
      { atMs: 12, lane: 'operator', kind: 'action', text },
      { atMs: 13, lane: 'operator', kind: 'snapshot', text },
      { atMs: 14, lane: 'processes', kind: 'hostKilled', text },
    ],
    [
      { ...write, atMs: 11, code: 200 },
      { ...write, atMs: 15, code: 403 },
      { ...write, atMs: 99, code: 200 },
    ],
    { fromMs: 10, toMs: 20 },
  );
  expect(story.map(({ atMs, isStep }) => [atMs, isStep])).toEqual([
    [11, true],
    [12, true],
    [13, false],
    [14, false],
    [15, false],
  ]);
  expect(stepsIn(story)).toBe(2);
});

test('hosts and certificates come back before objects, the newest object first', () => {
  const object = (name: string) =>
    ({ kind: 'object', apiVersion: 'v1', objectKind: 'Pod', namespace: null, name, before: null }) as const;
  const undo = undoOrder([object('a'), { kind: 'host', host: 'cp-1' }, object('b'), { kind: 'heal' }]);
  expect(undo.map((one) => ('name' in one ? one.name : one.kind))).toEqual(['heal', 'host', 'b', 'a']);
});

test('a path leads through fields, indices and selectors', () => {
  const pod = { status: { conditions: [{ type: 'Ready', status: 'True' }] }, spec: { list: [{ a: 1 }] } };
  expect(valueAt(pod, 'status.conditions[type=Ready].status')).toBe('True');
  expect(valueAt(pod, 'spec.list[0].a')).toBe(1);
  expect(valueAt(pod, 'spec.nope.a')).toBeUndefined();
  expect(valueAt(pod, 'constructor')).toBeUndefined();
  expect(valueAt(pod, 'a..b')).toBeUndefined();
});
