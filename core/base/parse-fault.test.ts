import * as v from 'valibot';
import { expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { jsonFault, schemaFault, yamlFault } from './parse-fault.ts';

const PASSWORDS = 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n';
const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

test.each([
  ['a: "b', 'line 1, column 6: a character is missing, such as a closing quote, bracket, comma or colon'],
  ['a: 1\na: 2', 'line 2, column 1: a key occurs twice'],
  ['a:\n\tb: 1', 'line 2, column 1: a tab is used for indentation'],
  ['a: 1\n---\nb: 2', 'line 2, column 1: there is more than one document'],
  ['a: *secret', 'an alias is undefined or expands too far'],
])('%j is reported with position and reason', (text, told) => {
  expect(yamlFault(thrownBy(() => parse(text)))).toBe(told);
});

test('neither a YAML nor a JSON fault has a word of the text in it', () => {
  const document = parseDocument(`secret: "${PASSWORDS}\n  - token: [hunter2\n`);
  const told = [...document.errors.map(yamlFault), jsonFault(PASSWORDS)].join('\n');
  expect(told).not.toMatch(/root|daemon|bash|hunter2|secret|token:/);
});

test.each([
  ['', 'line 1, column 1: the text ends too early'],
  ['{"a": 1', 'line 1, column 8: the text ends too early'],
  ['{"a" 1}', 'line 1, column 6: ":" is expected'],
  ['{"a": 1,}', 'line 1, column 9: a key in double quotes is expected'],
  ['{\n  "a": hunter2\n}', 'line 2, column 8: a value is expected'],
  ['[1 2]', 'line 1, column 4: "," or a closing bracket is expected'],
  ['[]]', 'line 1, column 3: nothing more is expected'],
  ['{,}', 'line 1, column 2: a key in double quotes or "}" is expected'],
  ['["a\nb"]', 'line 1, column 2: a value or "]" is expected'],
])('JSON %j is refused as %s', (text, told) => {
  thrownBy(() => JSON.parse(text));
  expect(jsonFault(text)).toBe(told);
});

test('a schema fault names the place and what is expected, not what was found', () => {
  const schema = v.object({
    users: v.array(v.object({ name: v.string() })),
    age: v.pipe(
      v.number(),
      v.check((age) => age > 1, 'must be above 1'),
    ),
  });
  const told = (value: unknown): string => {
    const { issues } = v.safeParse(schema, value);
    return schemaFault(issues!);
  };
  expect([
    told('hunter2'),
    told({ users: [{ name: { a: 'hunter2' } }], age: 2 }),
    told({ users: [], age: 0 }),
  ]).toEqual(['Object is expected', 'users[0].name: string is expected', 'age: must be above 1']);
});
