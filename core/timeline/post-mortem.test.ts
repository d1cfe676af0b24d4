import { expect, test } from 'vitest';
import { inEnglish, verbatim, type TimelineEntry } from '../contract/index.ts';
import { timelinePicture } from './picture.ts';
import { postMortem, type ReportWords } from './post-mortem.ts';
import { rootsOf } from './story.ts';

const entry = (id: number, text: string, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
  id,
  atMs: id * 1000,
  endMs: null,
  isOpen: false,
  lane: 'processes',
  kind: 'hostKilled',
  severity: 'error',
  about: [],
  text: verbatim(text),
  source: null,
  cause: null,
  ...more,
});
const words: ReportWords = {
  title: (cluster) => `Post-mortem: ${cluster}`,
  impact: 'Impact',
  noImpact: 'no impact',
  impairment: (kind) => kind,
  impactText: ({ count, total, longest }) => `${count}x ${total} (${longest})`,
  notOver: 'lasts',
  unknown: 'Unknown',
  chains: 'Causes',
  noChains: 'none',
  timeline: 'Timeline',
  columns: ['Time', 'Lane', 'What', 'Duration', 'Cause'],
  followUp: 'Follow-up',
  followUpText: '-',
  pictureLabel: 'Lanes',
  more: (count) => `${count} more`,
  effectsMore: (count) => `${count} more`,
  range: (from, to, count) => `${from} to ${to}: ${count}`,
  damaged: (count) => `${count} damaged`,
  laneName: (lane) => lane,
  say: inEnglish,
  timeText: (atMs) => `${atMs / 1000} s`,
  durationText: (ms) => `${ms} ms`,
};
const range = { fromMs: 0, toMs: 10_000 };

test('a report tells the chain from its beginning, and every entry with its cause', () => {
  const entries = [
    entry(1, 'kill cp-1'),
    entry(2, 'cp-1 died', { cause: 1, endMs: 4_000 }),
    entry(3, 'election', { cause: 2 }),
    entry(20, 'much later'),
  ];
  const text = postMortem(entries, { cluster: 'desk', ...range, damagedLines: 0, picture: 'a b.svg', words });
  expect(text).toContain('- **1 s** kill cp-1\n  - 2 s cp-1 died\n  - 3 s election');
  expect(text).toContain('| 2 s | processes | cp-1 died | 2000 ms | kill cp-1 |');
  expect(text).toContain('![Lanes](a%20b.svg)');
  expect(text).not.toContain('much later');
});

test('text of a cluster cannot break the table or add links and images', () => {
  const nasty = entry(1, 'a | b\n| c | <img src=x> [x](http://evil) `d`');
  const text = postMortem([nasty], { cluster: 'x', ...range, damagedLines: 2, picture: 'p.svg', words });
  expect(text).toContain('a \\| b \\| c \\| \\<img src=x\\> \\[x\\](http://evil) \\`d\\`');
  expect(text).toContain('2 damaged');
  const picture = timelinePicture([nasty], { ...range, laneName: () => '<x>', timeText: () => '"' });
  expect(picture).toContain('&lt;x&gt;');
  expect(picture).not.toContain('<x>');
});

test('chains with the gravest effects come first, and a circle ends', () => {
  const entries = [
    entry(1, 'small'),
    entry(2, 'effect', { cause: 1, severity: 'info' }),
    entry(3, 'large'),
    entry(4, 'effect', { cause: 3 }),
    entry(5, 'effect', { cause: 4 }),
    entry(6, 'circle', { cause: 7 }),
    entry(7, 'circle', { cause: 6 }),
  ];
  expect(rootsOf(entries).map(({ root }) => root.id)[0]).toBe(3);
});

test('overlapping impairments count once, what is cut by the range is counted within it, and what lasts says so', () => {
  const down = { kind: 'nodeNotReady', lane: 'nodes' } as const;
  const entries = [
    entry(1, 'a', { ...down, endMs: 4_000 }),
    entry(2, 'b', { ...down, endMs: 6_000 }),
    entry(8, 'c', { ...down, isOpen: true }),
    entry(3, 'no leader', { kind: 'noLeader', lane: 'etcd', endMs: 3_500 }),
    entry(4, 'a rollout that worked', { kind: 'rollout', lane: 'workloads', severity: 'ok', endMs: 5_000 }),
  ];
  const text = postMortem(entries, { cluster: 'x', ...range, damagedLines: 0, picture: 'p.svg', words });
  expect(text).toContain(
    '## Impact\n\n- noLeader: 1x 500 ms (500 ms)\n- nodeNotReady: 3x 7000 ms (4000 ms); lasts\n\n## Causes',
  );
  expect(text).not.toContain('## Unknown');
});

test('a report says what it cannot know: gaps, clocks that jumped, lines that are damaged', () => {
  const entries = [
    entry(1, 'nothing was recorded for 5 min', { kind: 'recordingBegan' }),
    entry(2, 'the clock jumped', { kind: 'clockJumped' }),
  ];
  const text = postMortem(entries, { cluster: 'x', ...range, damagedLines: 3, picture: 'p.svg', words });
  expect(text).toContain(
    '## Unknown\n\n- 3 damaged\n- 1 s nothing was recorded for 5 min\n- 2 s the clock jumped\n\n## Follow-up',
  );
  expect(text).toContain('## Impact\n\nno impact');
});

test('a hundred thousand effects of one cause are told without a stall', () => {
  const entries = Array.from({ length: 100_000 }, (_, id) => entry(id, 'x', { cause: id === 0 ? null : 0 }));
  expect(rootsOf(entries).map(({ effects }) => effects.length)).toEqual([99_999]);
});
