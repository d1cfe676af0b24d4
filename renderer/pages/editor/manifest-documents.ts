import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { exactIntegers, hasLongDigits, jsonText } from '../../../core/api/meta/json-text.ts';
import type { Refusal } from '../../../core/contract/index.ts';
import type { ServerProblem } from '../../editor/ManifestEditor.vue';
import { fieldsOf, textAt } from '../../kinds/kube-object.ts';
import { t } from '../../locales/i18n.ts';

export const DOCUMENTS_MAX = 200;
const ALIASES_MAX = 64;

/** One document of a text, as far as it can be understood. */
export interface ManifestDocument {
  readonly index: number;
  readonly line: number;
  readonly endLine: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined when it is no YAML, or no object. */
  readonly object: Record<string, unknown> | undefined;
  readonly error: string | undefined;
  readonly source: Document.Parsed;
  readonly lines: LineCounter;
}

/** The parser repeats where it is, in the middle of the line, and draws the place below. */
const withoutPlace = (message: string): string =>
  (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');

/** The documents of a text; what is empty between two separators is none. */
export const readManifest = (text: string): ManifestDocument[] => {
  const lines = new LineCounter();
  const intAsBigInt = hasLongDigits(text);
  const parsed = parseAllDocuments(text, { lineCounter: lines, logLevel: 'silent', intAsBigInt });
  if (!Array.isArray(parsed)) return [];
  const found: ManifestDocument[] = [];
  for (const source of parsed.slice(0, DOCUMENTS_MAX)) {
    const [problem] = source.errors;
    const isNothing =
      source.contents === null || (isScalar(source.contents) && source.contents.value === null);
    if (isNothing && !problem) continue;
    const [start = 0, , end = 0] = source.contents?.range ?? source.range ?? [];
    let value: unknown;
    const line = problem && String(lines.linePos(problem.pos[0]).line);
    let error = problem && t('editor.error.line', { line: line!, why: withoutPlace(problem.message) });
    if (!problem)
      try {
        value = source.toJS({ maxAliasCount: ALIASES_MAX, ...(intAsBigInt && { reviver: exactIntegers }) });
      } catch (thrown) {
        error = String(thrown);
      }
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!error && !isObject) error = t('editor.error.notObject');
    found.push({
      index: found.length,
      line: lines.linePos(start).line,
      endLine: lines.linePos(Math.max(start, end - 1)).line,
      apiVersion: textAt(value, 'apiVersion'),
      kind: textAt(value, 'kind'),
      namespace: textAt(value, 'metadata', 'namespace'),
      name: textAt(value, 'metadata', 'name'),
      object: isObject ? (value as Record<string, unknown>) : undefined,
      error,
      source,
      lines,
    });
  }
  return found;
};

/** `spec.template.spec.containers[0].image`, `metadata.labels[app.kubernetes.io/name]`, `.spec.replicas`. */
export const fieldPath = (field: string): (string | number)[] => {
  const parts: (string | number)[] = [];
  for (const [, plain, bracketed] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (plain !== undefined) parts.push(plain);
    else if (bracketed !== undefined) {
      const inner = bracketed.replaceAll('"', '');
      parts.push(/^\d+$/.test(inner) ? Number(inner) : inner);
    }
  }
  return parts;
};

/** The deepest node of the path that the document has: a missing field is shown at its parent. */
const nodeAt = (document: ManifestDocument, path: readonly (string | number)[]): Node | undefined => {
  let node: unknown = document.source.contents;
  let deepest: Node | undefined;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (!pair) break;
      deepest = pair.key as Node;
      node = pair.value;
    } else if (isSeq(node)) {
      const wanted = typeof part === 'number' ? part : node.items.findIndex((item) => matches(item, part));
      const item = node.items[wanted];
      if (item === undefined) break;
      deepest = item as Node;
      node = item;
    } else break;
  }
  return deepest ?? (document.source.contents as Node | null) ?? undefined;
};

/** Managers name items of a list by their keys: `containers[name="app"]`, `ports[containerPort=80,protocol="TCP"]`. */
const keysOf = (part: string): (readonly [key: string, value: string])[] =>
  part.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return [key, value] as const;
  });
const matches = (item: unknown, part: string): boolean =>
  isMap(item) && keysOf(part).every(([key, value]) => String(item.get(key)) === value);

/** The value of a field in an object, as one line; undefined where the object does not have it. */
export const valueAt = (object: unknown, field: string): string | undefined => {
  let value = object;
  for (const part of fieldPath(field)) {
    if (Array.isArray(value))
      value =
        typeof part === 'number'
          ? value[part]
          : value.find((item: unknown) =>
              keysOf(part).every(([key, wanted]) => String(fieldsOf(item)[key]) === wanted),
            );
    else value = fieldsOf(value)[String(part)];
    if (value === undefined) return undefined;
  }
  return typeof value === 'object' ? jsonText(value) : String(value);
};

export const problemAt = (document: ManifestDocument, field: string, message: string): ServerProblem => {
  const node = nodeAt(document, fieldPath(field));
  const start = document.lines.linePos(node?.range?.[0] ?? 0);
  const end = document.lines.linePos(node?.range?.[1] ?? 0);
  const endColumn = end.line === start.line ? Math.max(end.col, start.col + 1) : start.col + 200;
  return { line: start.line, column: start.col, endColumn, message };
};

/** Some refusals name their field in the text alone: `... : .spec.minimal: field not declared in schema`. */
const FIELD_IN_TEXT = /(?:^|\s)\.([^\s:]+): (.+)$/;

/** Each cause of a refusal at its field; a refusal that names none at the document. */
export const problemsOf = (document: ManifestDocument, refusal: Refusal): ServerProblem[] => {
  if (refusal.causes.length > 0)
    return refusal.causes.map(({ field, message }) => problemAt(document, field, `${field}: ${message}`));
  const [, field = '', message = ''] = FIELD_IN_TEXT.exec(refusal.message) ?? [];
  return [problemAt(document, field, field === '' ? refusal.message : `${field}: ${message}`)];
};

export const titleOf = (document: ManifestDocument): string => {
  const where = document.namespace === '' ? document.name : `${document.namespace}/${document.name}`;
  return [document.kind, where].filter(Boolean).join(' ');
};

const TITLES_TOLD_MAX = 3;
/** `Deployment web, Service web`: enough to know an apply again by. */
export const titlesOf = (documents: readonly ManifestDocument[]): string => {
  const titles = documents.slice(0, TITLES_TOLD_MAX).map(titleOf).join(', ');
  return documents.length > TITLES_TOLD_MAX ? `${titles} …` : titles;
};
