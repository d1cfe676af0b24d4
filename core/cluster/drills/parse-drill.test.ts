import { expect, test } from 'vitest';
import { messageOf } from '../../base/errors.ts';
import { builtInText, listDrills } from './library/index.ts';
import { parseDrill } from './parse-drill.ts';

const DOCUMENT = `apiVersion: pilothouse.dev/v1
kind: Drill
metadata: { name: own }
spec:
  title: Nothing works
  topic: etcd
  difficulty: easy
  allows:
    steps: [host]
    namespaces: [drill-own]
  symptoms: [Writes fail.]
  setup:
    - on: leader
      host: kill
    - apply: { apiVersion: v1, kind: Namespace, metadata: { name: drill-own } }
  assertions:
    - title: etcd is healthy
      etcd: healthy
  solution:
    - on: broken
      host: start
  grade: { parSeconds: 60, parSteps: 1 }
`;
const without = (line: string): string => DOCUMENT.replace(line, '');
const swap = (from: string, to: string): string => DOCUMENT.replace(from, to);
const refusal = (text: string): string => {
  try {
    parseDrill(text, 'own.yaml');
  } catch (error) {
    return messageOf(error);
  }
  throw new Error('it was taken');
};

test('every built-in drill is a document that parses, in two languages, with hints', () => {
  for (const { name, germanTitle, hints } of listDrills()) {
    expect(parseDrill(builtInText(name), name).metadata.name).toBe(name);
    expect([name, germanTitle !== null, hints > 0]).toEqual([name, true, true]);
  }
});

test('a document is taken with its defaults', () => {
  expect(parseDrill(DOCUMENT, 'own.yaml').spec).toMatchObject({
    brokenWithinSeconds: 30,
    hints: [],
    needs: { controlPlanes: 1, workers: 0 },
  });
});

test('a mistake is reported with its line', () => {
  expect(refusal(swap('host: kill', 'host: explode'))).toMatch(
    /^own\.yaml, line 14: spec\.setup\[0\]\.host: /,
  );
  expect(refusal(swap('  title: Nothing', '  tilte: Nothing'))).toContain('line 5');
  expect(refusal(without('  symptoms: [Writes fail.]\n'))).toContain('spec.symptoms');
  expect(refusal(swap('topic: etcd', 'topic: [etcd'))).toMatch(/^own\.yaml: line \d+/);
  expect(refusal(swap('etcd: healthy', 'etcd: healthy\n      hosts: running'))).toContain(
    'an assertion has exactly one of',
  );
  expect(refusal(swap('      host: kill', '      host: kill\n      heal: all'))).toContain('exactly one of');
});

test('a step that does more than the document declares is refused', () => {
  expect(refusal(swap('steps: [host]', 'steps: [fault]'))).toBe(
    'own.yaml, line 14: spec.setup[0].host: the drill does not declare this; add "host" to spec.allows.steps',
  );
  expect(refusal(swap('namespaces: [drill-own]', 'namespaces: []'))).toContain(
    'line 15: spec.setup[1].apply: the drill does not declare namespace "drill-own"',
  );
  const role = 'kind: ClusterRole, metadata: { name: drill-own } }';
  expect(refusal(swap('kind: Namespace, metadata: { name: drill-own } }', role))).toContain(
    'does not declare ClusterRole',
  );
});

test('no drill declares a namespace that is not its own', () => {
  expect(refusal(swap('namespaces: [drill-own]', 'namespaces: [kube-system]'))).toContain(
    'starts with "drill-"',
  );
});

test('a setup does not repair, and aliases do not multiply a document', () => {
  expect(refusal(swap('host: kill', 'host: restart'))).toContain('belongs in the solution');
  const bomb = swap('symptoms: [Writes fail.]', 'symptoms: &a [Writes fail.]\n  hints: *a');
  expect(refusal(bomb)).toContain('an alias is undefined or expands too far');
});

test('no step names a file: neither a component nor a flag is a path', () => {
  const step = (text: string): string =>
    refusal(
      swap('      host: kill', text).replace('steps: [host]', 'steps: [host, component, flags, image]'),
    );
  expect(step('      component: { name: ../../x, do: stop }')).toContain('spec.setup[0].component.name');
  expect(step('      image: { component: kube-apiserver, version: "v1.1.1\\n" }')).toContain('image.version');
  const flags = (value: string): string =>
    refusal(
      swap(
        '    - on: leader\n      host: kill',
        `    - flags: { component: etcd, set: { log-outputs: '${value}' } }`,
      ),
    );
  expect(flags('/home/ada/.bashrc')).toContain('has no path');
});

test('a document that is too long is not read', () => {
  expect(refusal(DOCUMENT.padEnd(70_000, '\n'))).toContain('is longer than');
});
