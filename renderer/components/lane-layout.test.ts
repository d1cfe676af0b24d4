// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { fitText, heightOf, placeBars, placeMarks, stopsOf, type LaneBar } from './lane-layout.ts';

const scale = { fromMs: 0, toMs: 1000, width: 1000 };
const lanes = [
  { id: 'cp-1', label: 'cp-1' },
  { id: 'term', label: 'Term', isCaption: true },
];
const bar = (more: Partial<LaneBar>): LaneBar => ({
  id: 'bar',
  lane: 'cp-1',
  fromMs: 0,
  toMs: 500,
  tone: 'past',
  text: 'Leads term 3',
  ...more,
});

test('bars are in the middle of their lane, covered ones first', () => {
  const placed = placeBars(
    lanes,
    [
      bar({ id: 'lead', tone: 'now', fromMs: 500, toMs: 1000 }),
      bar({ id: 'there', tone: 'track', text: '' }),
    ],
    scale,
  );
  expect(placed.map(({ id, x, y, width, height }) => ({ id, x, y, width, height }))).toEqual([
    { id: 'there', x: 0, y: 16, width: 500, height: 4 },
    { id: 'lead', x: 500, y: 6, width: 500, height: 24 },
  ]);
});

test('a failure is shown however short it was', () => {
  expect(placeBars(lanes, [bar({ tone: 'missing', fromMs: 500, toMs: 501 })], scale)[0]?.width).toBe(6);
});

test('a bar of an unknown lane, or before the window, is left out', () => {
  const late = { ...scale, fromMs: 600 };
  expect([placeBars(lanes, [bar({ lane: 'cp-9' })], scale), placeBars(lanes, [bar({})], late)]).toEqual([
    [],
    [],
  ]);
});

test('text is whole, cut at its end, or not there', () => {
  expect([fitText('Leads term 12', 120), fitText('Leads term 12', 60), fitText('Leads term 12', 30)]).toEqual(
    ['Leads term 12', 'Leads …', ''],
  );
});

test('of close marks the newest has its label on the right, the oldest on the left', () => {
  const mark = (id: string, atMs: number) => ({ id, atMs, text: 'cp-2 down, 1.3 s', label: id });
  const placed = placeMarks([mark('old', 480), mark('middle', 500), mark('new', 520)], scale);
  expect(placed.map(({ id, shownText, anchor }) => [id, shownText && anchor])).toEqual([
    ['old', 'end'],
    ['middle', ''],
    ['new', 'start'],
  ]);
});

test('labels on the left precede all marks that crowd theirs', () => {
  const mark = (id: string, atMs: number) => ({ id, atMs, text: `${id} down, 1.3 s`, label: id });
  const placed = placeMarks([mark('old', 500), mark('near', 985), mark('new', 992)], scale);
  expect(placed.map(({ shownText, textX }) => [shownText, textX])).toEqual([
    ['old down, 1.3 s', 500],
    ['', 985],
    ['new down, 1.3 s', 985],
  ]);
});

test('a mark at the right edge has its words at the left', () => {
  const [placed] = placeMarks([{ id: 'new', atMs: 990, text: 'cp-3 down, 1.1 s', label: '' }], scale);
  expect([placed?.anchor, placed?.shownText]).toEqual(['end', 'cp-3 down, 1.1 s']);
});

test('one steps through bars and marks in the order of time; grounds are no stops', () => {
  const stops = stopsOf(
    [bar({ id: 'b', fromMs: 200, label: 'second' }), bar({ id: 'ground', tone: 'track' })],
    [{ id: 'm', atMs: 100, text: '', label: 'first' }],
  );
  expect(stops.map(({ label }) => label)).toEqual(['first', 'second']);
});

test('a lane of captions is lower', () => {
  expect(heightOf(lanes)).toBe(56);
});
