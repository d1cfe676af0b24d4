import * as v from 'valibot';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { schemaFault, yamlFault } from '../../base/parse-fault.ts';
import { DRILL_CHARACTERS_MAX, SaidError, say, type Said } from '../../contract/index.ts';
import { drillSchema, OBJECT_VERBS, verbOf, type Drill, type Step } from './document.ts';

type Path = readonly (string | number)[];

const bad = (what: Said): SaidError<'BadDrill'> => new SaidError('BadDrill', what);

/** The line of the innermost node on the path that exists. */
const lineOf = (document: Document, lines: LineCounter, path: Path): number => {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
};

const show = (path: Path): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');

interface Excess {
  readonly path: Path;
  readonly what: Said;
}

/** Where a step writes: a namespace, or a kind of the cluster. */
const placeOf = (one: Step): { readonly namespace?: string; readonly kind?: string } => {
  if (one.fill) return { namespace: one.fill.namespace };
  if (one.restore) return { namespace: one.restore.namespace };
  const object = one.patch ?? one.delete;
  const [kind = '', namespace, name] = one.apply
    ? [one.apply.kind, one.apply.metadata.namespace, one.apply.metadata.name]
    : [object?.kind, object?.namespace, object?.name];
  if (namespace !== undefined) return { namespace };
  return kind === 'Namespace' ? { namespace: name ?? '' } : { kind };
};

/** What a document would do beyond what it declares. */
const excessOf = ({ spec }: Drill): Excess | undefined => {
  const { allows } = spec;
  for (const part of ['setup', 'solution'] as const)
    for (const [index, one] of spec[part].entries()) {
      const verb = verbOf(one);
      const path: Path = ['spec', part, index, verb];
      if (!OBJECT_VERBS.includes(verb)) {
        if (!allows.steps.includes(verb)) return { path, what: say('drill.excess.step', { step: verb }) };
        continue;
      }
      const { namespace, kind } = placeOf(one);
      if (namespace !== undefined && !allows.namespaces.includes(namespace))
        return { path, what: say('drill.excess.namespace', { namespace }) };
      if (kind !== undefined && !allows.clusterKinds.includes(kind))
        return { path, what: say('drill.excess.kind', { kind }) };
    }
  return undefined;
};

const translationFault = ({ spec }: Drill): Excess | undefined => {
  const german = spec.translations.de;
  if (!german) return undefined;
  for (const part of ['symptoms', 'hints', 'assertions'] as const)
    if (german[part].length !== spec[part].length)
      return {
        path: ['spec', 'translations', 'de', part],
        what: say('drill.translation', { part, count: spec[part].length }),
      };
  return undefined;
};

/** A drill from its document, or one line that says where it is wrong and why. `from` names the document. */
export const parseDrill = (text: string, from: string): Drill => {
  if (text.length > DRILL_CHARACTERS_MAX)
    throw bad(say('drill.tooLong', { from, max: DRILL_CHARACTERS_MAX }));
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true });
  const [error] = document.errors;
  if (error) throw bad(say('drill.yaml', { from, why: yamlFault(error) }));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    throw bad(say('drill.yaml', { from, why: yamlFault(cause) }));
  }
  const parsed = v.safeParse(drillSchema, value);
  if (!parsed.success) {
    const path = (parsed.issues[0].path ?? []).map(({ key }) => key as string | number);
    const line = lineOf(document, lines, path);
    throw bad(say('drill.field', { from, line, why: schemaFault(parsed.issues) }));
  }
  const excess = excessOf(parsed.output) ?? translationFault(parsed.output);
  if (excess) {
    const line = lineOf(document, lines, excess.path);
    throw bad(say('drill.excess', { from, line, path: show(excess.path), why: excess.what }));
  }
  return parsed.output;
};
