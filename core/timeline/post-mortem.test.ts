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
