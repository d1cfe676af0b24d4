import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { goYaml } from './go-yaml.ts';

test('YAML is written as a kube-apiserver writes it', () => {
  const value = {
    kind: 'Widget',
    items: [{ b: [], a: {} }, 'x'],
    'f:spec': { '.': {}, 'f:color': {} },
    number: 1.5,
    large: 9007199254740993n,
    nothing: null,
    texts: [
      '1',
      '1e3',
      '0x1F',
      '1_000',
      'yes',
      'y',
      '',
      '~',
      '2026-11-18T11:33:25Z',
      '12:30',
      '1.2.3',
      '10.0.0.1',
    ],
    quoted: ['a: b', '- a', '#a', 'tab\there'],
    block: 'one\ntwo\n',
  };
  const text = goYaml(value);
  expect(text).toBe(`block: |
  one
  two
f:spec:
  .: {}
  f:color: {}
items:
- a: {}
  b: []
- x
kind: Widget
large: 9007199254740993
nothing: null
number: 1.5
quoted:
- 'a: b'
- '- a'
- '#a'
- "tab\\there"
texts:
- "1"
- "1e3"
- "0x1F"
- "1_000"
- "yes"
- "y"
- ""
- "~"
- "2026-11-18T11:33:25Z"
- "12:30"
- 1.2.3
- 10.0.0.1
`);
  expect(parse(text, { intAsBigInt: true })).toEqual({ ...value, number: 1.5 });
});
