import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { contract, sentences } from '../core/contract/index.ts';
import type { Message } from '../core/contract/sentences/placeholders.ts';
import { german } from '../core/contract/sentences/de/index.ts';
import { said } from '../core/contract/sentences/said.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && existsSync(join(ROOT, file)));

const textOf = (message: Message): string =>
  typeof message === 'string' ? message : `${message.one} ${message.other}`;

test('every code of the host has a German sentence of its own', () => {
  // A command has one language.
  const isProse = (message: Message): boolean =>
    !textOf(message).startsWith('pilothouse ') &&
    /\p{Ll}{3,}.*\s.*\p{Ll}{3,}/u.test(textOf(message).replaceAll(/\{\w+\}/g, ''));
  const codes = Object.keys(sentences) as (keyof typeof sentences)[];
  expect(Object.keys(german).sort()).toEqual([...codes].sort());
  const copied = codes.filter(
    (code) => isProse(sentences[code]) && textOf(sentences[code]) === textOf(german[code]),
  );
  expect(copied).toEqual([]);
});

/** Free text of the contract that has one language, with whose words it is. */
const VERBATIM: Readonly<Record<string, string>> = {
  'extensions.list.extensions.title': 'of the manifest',
  'extensions.list.extensions.description': 'of the manifest',
  'extensions.allow.extensions.title': 'of the manifest',
  'extensions.allow.extensions.description': 'of the manifest',
  'extensions.revoke.extensions.title': 'of the manifest',
  'extensions.revoke.extensions.description': 'of the manifest',
  'access.rules.problem': "the API server's evaluation error",
  'access.whoCan.allowed.reason': "the authorizer's words",
  'audit.events.events.message': 'as recorded by the API server',
  'files.list.problem': 'what programs of the container complain about',
  'encryption.view.problem': "the configuration's error, as the API server words it",
  'controllers.view.managers.unsynced.error': "the client's words for a list that failed",
  'controllers.view.controllers.error': "the controller's own words",
  'controllers.view.controllers.recent.error': "the controller's own words",
  'controllers.view.controllers.failing.error': "the controller's own words",
  'drills.list.title': 'of the document, with its translation beside it',
  'drills.watch.run.words.title': 'of the document',
  'drills.watch.run.german.title': 'of the document, translated',
  'drills.request.run.words.title': 'of the document',
  'drills.request.run.german.title': 'of the document, translated',
  'cluster.state.faults.text': 'for command lines; the page describes a fault from its fields',
  'cluster.state.hosts.components.message': "the component's own words",
  'kube.apply.refusal.message': "the API server's Status",
  'kube.apply.refusal.reason': "the API server's Status",
  'kube.apply.refusal.causes.message': "the API server's Status",
  'kube.apply.refusal.causes.reason': "the API server's Status",
  'kube.apply.conflicts.message': "the API server's Status",
  'kube.exec.text': "a container's output",
  'kube.request.refusal.message': "the API server's Status",
  'kube.request.refusal.reason': "the API server's Status",
  'kube.request.refusal.causes.message': "the API server's Status",
  'kube.request.refusal.causes.reason': "the API server's Status",
  'metrics.health.targets.message': 'the failure of an HTTP request',
  'xray.requests.admission.message': "an admission plugin's words",
  'xray.requests.stages.reason': "the API server's words",
  'xray.scheduling.message': "the scheduler's words",
  'xray.scheduling.rows.reason': "the scheduler's words",
  'xray.whatIf.message': "the scheduler's words",
  'xray.whatIf.rows.reason': "the scheduler's words",
};
const PROSE_FIELD = /^(message|problem|reason|warnings?|title|detail|advice|why|text|error|note|label)$/;

interface AnySchema {
  readonly type?: string;
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly item?: AnySchema;
  readonly wrapped?: AnySchema;
  readonly value?: AnySchema;
  readonly options?: readonly AnySchema[];
  readonly pipe?: readonly AnySchema[];
}

/** Paths of fields that are named like prose and are plain strings. */
const proseIn = (schema: AnySchema, path: string, field = ''): string[] => {
  if (schema === (said as unknown as AnySchema)) return [];
  if (schema.type === 'string') return PROSE_FIELD.test(field) ? [path] : [];
  return [
    ...Object.entries(schema.entries ?? {}).flatMap(([name, one]) => proseIn(one, `${path}.${name}`, name)),
    ...[schema.item, schema.wrapped, schema.value, ...(schema.options ?? [])].flatMap((one) =>
      one && typeof one === 'object' ? proseIn(one, path, field) : [],
    ),
  ];
};

test('the host sends codes, and words only where they are of another program', () => {
  const found = Object.entries(contract).flatMap(([name, shape]) =>
    proseIn(
      ('output' in shape ? shape.output : shape.item) as unknown as AnySchema,
      // Requests and faults go the other way, or are shown as they were asked for.
      name,
    ),
  );
  const unexplained = [...new Set(found)].filter((path) => !(path in VERBATIM) && !/\.action\./.test(path));
  expect(unexplained).toEqual([]);
});

/** Folders whose failures a person reads in the console. */
const TOLD =
  /^(main\/(clusters|ipc|kube|monitor|windows)\/|core\/cluster\/((?:backup|checks\/items|config|data-folder|encryption|faults|flags|harden|membership|operation|supervisor|upgrade)\/|etcd-operator\/operations))/;

/** Sealing and opening key bundles is asked for on the command line alone. */
const COMMAND_LINE_ONLY = ['core/cluster/encryption/key-bundle.ts'];

test('expected failures of operations are reported by a code', () => {
  const found: string[] = [];
  const files = sources.filter((file) => TOLD.test(file) && !COMMAND_LINE_ONLY.includes(file));
  expect(files.length).toBeGreaterThan(100);
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (!/new (?:Reason|Contract|Said)Error\b|verbatim\(messageOf/.test(text)) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node) && /^(?:Reason|Contract|Said)Error$/.test(node.expression.getText())) {
        const [, words] = node.arguments ?? [];
        const isLiteral = words && (ts.isStringLiteralLike(words) || ts.isTemplateExpression(words));
        if (isLiteral) found.push(`${file}: ${words.getText().slice(0, 80)}`);
      }
      // An error may carry its sentence: saidOf keeps it.
      if (ts.isCallExpression(node) && node.getText().startsWith('verbatim(messageOf('))
        found.push(`${file}: ${node.getText()}`);
      node.forEachChild(visit);
    };
    visit(source);
  }
  expect(found).toEqual([]);
});
