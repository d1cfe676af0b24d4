import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { TIMELINE_EVENTS_MAX, type EtcdMember, type EtcdView } from '../../../contract/index.ts';
import { TimelineRecorder } from './timeline-recorder.ts';
import { compareQuorum, NOTHING_SEEN, type QuorumMemory } from './timeline.ts';

type Role = EtcdMember['role'];

const view = (
  atMs: number,
  roles: Readonly<Record<string, Role>>,
  { term = 2, alarms = {} }: { readonly term?: number; readonly alarms?: Record<string, string[]> } = {},
): EtcdView => ({
  atMs,
  problem: null,
  members: Object.entries(roles).map(([name, role]) => ({
    id: name,
    name,
    host: name,
    clientUrl: '',
    role,
    version: '3.6.0',
    raftTerm: role === 'unreachable' ? 0 : term,
    raftIndex: 0,
    raftAppliedIndex: 0,
    lag: 0,
    revision: 0,
    dbBytes: 0,
    dbBytesInUse: 0,
    quotaBytes: null,
    alarms: alarms[name] ?? [],
    fsyncP99Ms: null,
    peerRoundTripMs: null,
    proposalsFailed: null,
    problem: null,
  })),
});

/** The events of a series of looks, each as one short text. */
const tell = (views: readonly EtcdView[]): string[] => {
  let memory: QuorumMemory = NOTHING_SEEN;
  return views.flatMap((one) => {
    const { memory: next, events } = compareQuorum(memory, one);
    memory = next;
    return events.map(({ atMs, kind, member, term, durationMs }) =>
      [atMs, kind, member, `term ${term}`, ...(durationMs === null ? [] : [`${durationMs} ms`])].join(' '),
    );
  });
};

const STEADY = { a: 'leader', b: 'follower', c: 'follower' } as const;

test('a start tells who came up and who leads, and nothing while all stays as it is', () => {
  expect(tell([view(0, {}), view(1, STEADY), view(2, STEADY)])).toEqual([
    '1 memberUp a term 2',
    '1 memberUp b term 2',
    '1 memberUp c term 2',
    '1 leader a term 2',
  ]);
});

test('the death of a leader is an election with a duration', () => {
  const dead = { a: 'unreachable', b: 'follower', c: 'follower' } as const;
  const elected = { a: 'unreachable', b: 'leader', c: 'follower' } as const;
  const back = { a: 'follower', b: 'leader', c: 'follower' } as const;
  const views = [
    view(0, STEADY),
    view(1_000, dead),
    view(1_100, dead),
    view(1_900, elected, { term: 3 }),
    view(9_000, back, { term: 3 }),
  ];
  expect(tell(views).slice(4)).toEqual([
    '1000 memberDown a term 2',
    '1000 leaderLost a term 2',
    '1900 leader b term 3 900 ms',
    '9000 memberUp a term 3',
  ]);
});

test('a leader that handed over was never lost', () => {
  const moved = { a: 'follower', b: 'leader', c: 'follower' } as const;
  expect(tell([view(0, STEADY), view(1_000, moved, { term: 3 })]).slice(4)).toEqual(['1000 leader b term 3']);
});

test('members that join and leave, and alarms, are reported once; silence ends no alarm', () => {
  const grown = { ...STEADY, d: 'learner' } as const;
  const silent = { a: 'unreachable', b: 'unreachable', c: 'unreachable', d: 'unreachable' } as const;
  const alarms = { b: ['NOSPACE'] };
  const views = [
    view(0, STEADY),
    view(1, grown, { alarms }),
    view(2, grown, { alarms }),
    view(3, silent),
    view(4, grown, { alarms }),
    view(5, STEADY),
  ];
  const kinds = tell(views).slice(4);
  expect(kinds.filter((text) => text.includes('larm') || /Added|Removed/.test(text))).toEqual([
    '1 memberAdded d term 2',
    '1 alarm b NOSPACE term 2',
    '5 memberRemoved d term 2',
    '5 alarmOver b NOSPACE term 2',
  ]);
});

const mayWrite = (): Promise<boolean> => Promise.resolve(true);

test('the timeline survives a restart, is bounded, and a damaged file is replaced', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'pilothouse-timeline-'));
  const file = join(parent, 'metrics', 'etcd-timeline.json');
  const clock = manualClock();
  try {
    const first = new TimelineRecorder({ file, clock, log: silentLog, mayWrite });
    for (let round = 0; round < TIMELINE_EVENTS_MAX; round += 1)
      first.observe(view(round, round % 2 === 0 ? STEADY : { ...STEADY, c: 'unreachable' }));
    const kept = await first.events();
    expect(kept.length).toBe(TIMELINE_EVENTS_MAX);
    await first.close();
    const second = new TimelineRecorder({ file, clock, log: silentLog, mayWrite });
    expect(await second.events()).toEqual(kept);
    second.observe(view(9_999, STEADY));
    expect((await second.events()).at(-1)).toMatchObject({ atMs: 9_999, kind: 'leader' });
    await second.close();
    await writeFile(file, '[{"atMs":');
    expect(await new TimelineRecorder({ file, clock, log: silentLog, mayWrite }).events()).toEqual([]);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});
