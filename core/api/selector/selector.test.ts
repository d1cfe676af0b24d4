import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageOf } from '../../base/errors.ts';
import { escapeFieldValue, parseFieldSelector, unescapeFieldValue } from './field-selector.ts';
import {
  formatLabelSelector,
  NOTHING,
  parseLabelSelector,
  requiredLabelValue,
  selectorFromObject,
  selectorFromSet,
} from './label-selector.ts';

const thrownBy = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return messageOf(error);
  }
  return 'nothing was thrown';
};

test.each<[string, string]>([
  ['', ''],
  ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
  ['y = b , x==a', 'x==a,y=b'],
  ['x!=a', 'x!=a'],
  ['x', 'x'],
  ['!x', '!x'],
  ['x in (c,a,b)', 'x in (a,b,c)'],
  ['x notin (,)', 'x notin ()'],
  ['x in ()', 'x in ()'],
  ['x=', 'x='],
  ['x>7,y<3', 'x>7,y<3'],
  ['in in (in,notin)', 'in in (in,notin)'],
  ['example.com/app=web', 'example.com/app=web'],
])('%j is read and written as %j', (text, written) => {
  expect(parseLabelSelector(text).toString()).toBe(written);
});

test.each<[string, string]>([
  ['x in a', "unable to parse requirement: found 'a' expected: '('"],
  ['x,', "found '', expected: identifier after ','"],
  ['x=a||y=b', 'unable to parse requirement: values[0][x]: Invalid value: "a||y": a valid label'],
  ['x y', "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
  ['(x', "found '(', expected: !, identifier, or 'end of string'"],
  ['!!x', "unable to parse requirement: found '!', expected: identifier"],
  ['x in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a$b', 'unable to parse requirement: <nil>: Invalid value: "a$b": name part must consist of'],
  [
    'x>a',
    `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
])('%j fails with upstream’s words', (text, message) => {
  expect(thrownBy(() => parseLabelSelector(text)).slice(0, message.length)).toBe(message);
});

test('requirements are matched by their operators', () => {
  const labels = { app: 'web', gen: '5', empty: '' };
  const verdict = (text: string): boolean => parseLabelSelector(text).matches(labels);
  expect(
    Object.fromEntries(
      [
        'app=web',
        'app!=web',
        'missing!=a',
        'missing notin (a)',
        'app in (a,web)',
        '!app',
        'gen>4',
        'gen<5',
        'empty=',
        'app>1',
        'missing=',
      ].map((text) => [text, verdict(text)]),
    ),
  ).toEqual({
    'app=web': true,
    'app!=web': false,
    'missing!=a': true,
    'missing notin (a)': true,
    'app in (a,web)': true,
    '!app': false,
    'gen>4': true,
    'gen<5': false,
    'empty=': true,
    'app>1': false,
    'missing=': false,
  });
});

test('names of the object prototype are no labels', () => {
  expect(parseLabelSelector('constructor').matches({})).toBe(false);
});

test('a missing selector selects nothing and an empty one everything', () => {
  expect([selectorFromObject(undefined), selectorFromObject({}).matches({})]).toEqual([NOTHING, true]);
});

test('matchLabels and matchExpressions are joined', () => {
  const object = {
    matchLabels: { b: '1' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['y', 'x'] },
      { key: 'c', operator: 'DoesNotExist' },
    ],
  };
  const selector = selectorFromObject(object);
  expect([
    formatLabelSelector(object),
    selector.matches({ a: 'x', b: '1' }),
    selector.matches({ a: 'x', b: '1', c: '' }),
  ]).toEqual(['a in (x,y),b=1,!c', true, false]);
});

test('an unknown operator is named', () => {
  expect(thrownBy(() => selectorFromObject({ matchExpressions: [{ key: 'a', operator: 'Near' }] }))).toBe(
    '"Near" is not a valid label selector operator',
  );
});

test('an exact demand can be asked for', () => {
  const selector = parseLabelSelector('a=1,b in (2),c in (3,4),d!=5');
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => requiredLabelValue(selector, key))).toEqual([
    '1',
    '2',
    undefined,
    undefined,
    undefined,
  ]);
});

const labelText = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,5}[a-z0-9])?$/);

test('a selector built from a set matches that set and can be serialised', () => {
  fc.assert(
    fc.property(fc.dictionary(labelText, labelText), (labels) => {
      const selector = selectorFromSet(labels);
      expect(selector.matches(labels)).toBe(true);
      expect(parseLabelSelector(selector.toString()).requirements).toEqual(selector.requirements);
    }),
  );
});

test('field selectors compare missing fields as empty', () => {
  const selector = parseFieldSelector('spec.nodeName!=,metadata.name=web-0');
  const fields = new Map([['metadata.name', 'web-0']]);
  expect([
    selector.toString(),
    selector.matches((field) => fields.get(field)),
    selector.matches((field) => (field === 'spec.nodeName' ? 'n1' : 'web-0')),
  ]).toEqual(['metadata.name=web-0,spec.nodeName!=', false, true]);
});

test('field selectors fail with upstream’s words', () => {
  expect(['a', 'a=b=c', 'a=\\b', 'a=b\\'].map((text) => thrownBy(() => parseFieldSelector(text)))).toEqual([
    "invalid selector: 'a'; can't understand 'a'",
    'invalid field selector: unescaped character in value: 61',
    'invalid field selector: invalid escape sequence: \\b',
    'invalid field selector: invalid escape sequence: \\',
  ]);
});

test('an escaped field value is read back', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      expect(unescapeFieldValue(escapeFieldValue(value))).toBe(value);
      expect(parseFieldSelector(`f=${escapeFieldValue(value)}`).requirements[0]?.value).toBe(value);
    }),
  );
});
