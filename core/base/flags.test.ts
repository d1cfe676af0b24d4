import { expect, expectTypeOf, test } from 'vitest';
import { formatDuration, parseDurationMs } from './duration.ts';
import {
  boolean,
  durationMs,
  flag,
  integer,
  list,
  oneOf,
  parseFlags,
  text,
  type FlagValues,
} from './flags.ts';

const TABLE = {
  name: flag(text, 'default', 'human-readable name'),
  'pre-vote': flag(boolean, true, 'run an election before the election'),
  'snapshot-count': flag(integer({ min: 1 }), 10_000, 'entries between snapshots'),
  mode: flag(oneOf('periodic', 'revision'), 'periodic', 'how history is dropped'),
  interval: flag(durationMs, 600_000, 'time between notices'),
  urls: flag(list, [], 'where to listen'),
};

test('values have the type of their flag', () => {
  expectTypeOf<FlagValues<typeof TABLE>['mode']>().toEqualTypeOf<'periodic' | 'revision'>();
  expectTypeOf<FlagValues<typeof TABLE>['snapshot-count']>().toEqualTypeOf<number>();
});

test('every notation of a flag is parsed, and given values are distinguished from defaults', () => {
  const parsed = parseFlags(TABLE, [
    '--name=a=b',
    '-snapshot-count',
    '5',
    '--pre-vote=false',
    '--urls',
    'x,y',
    'rest',
  ]);
  expect({ ...parsed, given: [...parsed.given] }).toEqual({
    values: {
      name: 'a=b',
      'pre-vote': false,
      'snapshot-count': 5,
      mode: 'periodic',
      interval: 600_000,
      urls: ['x', 'y'],
    },
    given: ['name', 'snapshot-count', 'pre-vote', 'urls'],
    positional: ['rest'],
  });
});

test.each([
  [['--nmae=x'], 'unknown flag: --nmae'],
  [['--snapshotcount=x'], 'unknown flag: --snapshotcount; did you mean --snapshot-count?'],
  [['--constructor=x'], 'unknown flag: --constructor'],
  [['--snapshot-count=many'], 'invalid value "many" for --snapshot-count: must be an integer'],
  [['--snapshot-count=0'], 'invalid value "0" for --snapshot-count: must be at least 1'],
  [['--mode=never'], 'invalid value "never" for --mode: must be one of periodic, revision'],
  [['--interval=5'], 'invalid value "5" for --interval: must be a duration such as 10s or 1h30m'],
  [['--name'], 'flag requires a value: --name (string)'],
])('%j is refused in one line', (args, message) => {
  expect(() => parseFlags(TABLE, args)).toThrow(message);
});

test.each([
  ['0', 0],
  ['10s', 10_000],
  ['1h15m30.5s', 4_530_500],
  ['-250ms', -250],
  ['100us', 0.1],
  ['1.5h', 5_400_000],
  ['10', undefined],
  ['', undefined],
  ['s', undefined],
  ['1d', undefined],
])('the duration %j is %j ms', (written, ms) => {
  expect(parseDurationMs(written)).toBe(ms);
});

test.each([
  [0, '0s'],
  [1500, '1.5s'],
  [60_000, '1m0s'],
  [5_400_000, '1h30m0s'],
  [250, '250ms'],
  [0.1, '100µs'],
])('%j ms are printed as %j', (ms, written) => {
  expect(formatDuration(ms)).toBe(written);
});
