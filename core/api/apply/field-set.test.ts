import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEPLOYMENT } from '../patch/testing/types.ts';
import { FieldSet } from './field-set.ts';
import { fieldsV1ToSet, setToFieldsV1 } from './fields-v1.ts';
import type { Path } from './path-element.ts';
import { printPath } from './path-element.ts';
import { compareTyped } from './typed-compare.ts';
import { fieldSetOf, typeErrors } from './typed-fields.ts';

const WIRE = {
  'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} }, 'f:finalizers': { '.': {}, 'v:"x"': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:template': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"a"}': {
            '.': {},
            'f:image': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:hostPort': {} } },
          },
        },
      },
    },
  },
};

test('the wire form is read and written unchanged', () => {
  expect(setToFieldsV1(fieldsV1ToSet(WIRE))).toEqual(WIRE);
});

test('keys are brought into one spelling, unknown elements are skipped', () => {
  const set = fieldsV1ToSet({ 'f:a': { 'k:{ "b": 1, "a": "x" }': {}, 'z:future': {} } });
  expect([...set.paths()].map(printPath)).toEqual(['.a[a="x",b=1]']);
});

test('malformed elements are refused', () => {
  expect(() => fieldsV1ToSet({ f: {} })).toThrow('key must be 2 characters long:');
  expect(() => fieldsV1ToSet({ 'k:{"a"': {} })).toThrow('parsing key as path element');
});

test('an object owns its fields down to what is atomic', () => {
  const set = fieldSetOf(
    {
      metadata: { labels: { app: 'web' }, finalizers: ['x'], annotations: {} },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          spec: {
            containers: [{ name: 'a', args: ['1'], ports: [{ containerPort: 80 }] }],
            nodeSelector: { a: 'b' },
          },
        },
      },
    },
    DEPLOYMENT,
  );
  expect(setToFieldsV1(set)).toEqual({
    'f:metadata': { 'f:annotations': {}, 'f:finalizers': { 'v:"x"': {} }, 'f:labels': { 'f:app': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:selector': {},
      'f:template': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"a"}': {
              '.': {},
              'f:args': {},
              'f:name': {},
              'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
            },
          },
          'f:nodeSelector': {},
        },
      },
    },
  });
});

test('a comparison tells what was added, modified and removed', () => {
  const { added, modified, removed } = compareTyped(
    { spec: { replicas: 1, paused: true, template: { spec: { containers: [{ name: 'a', image: '1' }] } } } },
    { spec: { replicas: 2, template: { spec: { containers: [{ name: 'a', image: '1' }, { name: 'b' }] } } } },
    DEPLOYMENT,
  );
  const text = (set: FieldSet): string[] => [...set.paths()].map(printPath);
  expect([text(added), text(modified), text(removed)]).toEqual([
    ['.spec.template.spec.containers[name="b"]', '.spec.template.spec.containers[name="b"].name'],
    ['.spec.replicas'],
    ['.spec.paused'],
  ]);
});

test('a value of the wrong type is reported with its path', () => {
  expect(
    typeErrors(
      {
        spec: {
          foo: 1,
          template: { spec: { containers: [{ name: 'a' }, { name: 'a' }, { image: 'x' }], volumes: {} } },
        },
      },
      DEPLOYMENT,
    ),
  ).toEqual([
    '.spec.foo: field not declared in schema',
    '.spec.template.spec.containers: duplicate entries for key [name="a"]',
    `.spec.template.spec.containers: element 2: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    '.spec.template.spec.volumes: expected list, got &{map[]}',
  ]);
});

const elements = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1', 'i:0');
const sets = fc
  .array(fc.array(elements, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
  .map((paths: Path[]) => FieldSet.of(...paths));
const keysOf = (set: FieldSet): Set<string> => new Set([...set.paths()].map((path) => path.join('|')));

test('set operations agree with sets of paths', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const [left, right] = [keysOf(a), keysOf(b)];
      expect(keysOf(a.union(b))).toEqual(new Set([...left, ...right]));
      expect(keysOf(a.intersection(b))).toEqual(new Set([...left].filter((path) => right.has(path))));
      expect(keysOf(a.difference(b))).toEqual(new Set([...left].filter((path) => !right.has(path))));
      expect(keysOf(a.recursiveDifference(b))).toEqual(
        new Set(
          [...left].filter(
            (path) => ![...right].some((other) => path === other || path.startsWith(`${other}|`)),
          ),
        ),
      );
      expect(fieldsV1ToSet(setToFieldsV1(a)).equals(a.union(new FieldSet())) || a.isEmpty).toBe(true);
    }),
  );
});

test('leaves have nothing below them', () => {
  fc.assert(
    fc.property(sets, (set) => {
      const all = keysOf(set);
      expect(keysOf(set.leaves())).toEqual(
        new Set([...all].filter((path) => ![...all].some((other) => other.startsWith(`${path}|`)))),
      );
    }),
  );
});
