import type { Schema } from './kube-schema.ts';
import { ITEM, positionAt, type Step, type YamlPosition } from './yaml-position.ts';

/** What can be written at the cursor. */
export interface Completion {
  readonly label: string;
  readonly kind: 'field' | 'value';
  /** The type of a field, in a word. */
  readonly detail: string;
  readonly documentation: string;
  /** Plain text; the cursor stands at its end afterwards. */
  readonly text: string;
  /** Something can be chosen after it, too. */
  readonly asksOn: boolean;
  readonly isRequired: boolean;
}

export interface Completions {
  /** Columns, counted from zero, that a chosen text replaces. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Completion[];
}

const INDENT = '  ';
const REF = '#/definitions/';
/** Schemas of CRDs refer to themselves; a path that is typed is never this long. */
const REFS_MAX = 16;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Follows references; a reference with a description beside it is written as `allOf` with one member. */
const resolved = (root: Schema, start: unknown): Schema | undefined => {
  let schema = start;
  const beside: Schema = {};
  for (let step = 0; step < REFS_MAX && isSchema(schema); step += 1) {
    const { allOf } = schema;
    const reference =
      schema['$ref'] ?? (Array.isArray(allOf) && isSchema(allOf[0]) ? allOf[0]['$ref'] : undefined);
    if (typeof reference !== 'string') return { ...schema, ...beside };
    if (typeof schema['description'] === 'string') beside['description'] ??= schema['description'];
    const definitions = root['definitions'];
    schema = isSchema(definitions) ? definitions[reference.slice(REF.length)] : undefined;
  }
  return undefined;
};

interface Rule {
  readonly apiVersion: string;
  readonly kind: string | undefined;
  readonly then: Schema;
}

const constOf = (schema: unknown, name: string): string | undefined => {
  const properties = isSchema(schema) ? schema['properties'] : undefined;
  const field = isSchema(properties) ? properties[name] : undefined;
  return isSchema(field) && typeof field['const'] === 'string' ? field['const'] : undefined;
};

const rulesOf = (root: Schema): readonly Rule[] =>
  (Array.isArray(root['allOf']) ? root['allOf'] : []).flatMap((rule: unknown) => {
    if (!isSchema(rule) || !isSchema(rule['then'])) return [];
    const apiVersion = constOf(rule['if'], 'apiVersion');
    return apiVersion === undefined
      ? []
      : [{ apiVersion, kind: constOf(rule['if'], 'kind'), then: rule['then'] }];
  });

const kindsOf = ({ then }: Rule): readonly string[] => {
  const { properties } = then;
  const kind = isSchema(properties) ? properties['kind'] : undefined;
  return isSchema(kind) ? textsOf(kind['enum']) : [];
};

/** Before the kind is known, and until its schema has come, every object has these. */
const ANY_OBJECT: Schema = {
  required: ['apiVersion', 'kind', 'metadata'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        namespace: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        annotations: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};

/** The schema of the object that the document describes; undefined while it is not here. */
const objectSchema = (schema: Schema, { root }: YamlPosition): Schema | undefined => {
  const rule = rulesOf(schema).find(
    (each) =>
      each.kind !== undefined && each.kind === root.get('kind') && each.apiVersion === root.get('apiVersion'),
  );
  return rule && resolved(schema, rule.then);
};

const schemaAt = (root: Schema, start: Schema, path: readonly Step[]): Schema | undefined => {
  let schema: Schema | undefined = start;
  for (const step of path) {
    if (!schema) return undefined;
    const properties: unknown = schema['properties'];
    if (step === ITEM) schema = resolved(root, schema['items']);
    else if (isSchema(properties) && Object.hasOwn(properties, step))
      schema = resolved(root, properties[step]);
    else schema = resolved(root, schema['additionalProperties']);
  }
  return schema;
};

const typeOf = (schema: Schema): string => {
  if (schema['format'] === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return 'integer or string';
  if (typeof schema['type'] === 'string') return schema['type'];
  return isSchema(schema['properties']) ? 'object' : '';
};

const choicesOf = (schema: Schema): readonly string[] =>
  typeOf(schema) === 'boolean' ? ['true', 'false'] : textsOf(schema['enum']);

/** A scalar that YAML would read as something else is put in quotes. */
const scalar = (text: string, type: string): string =>
  type === 'string' && /^(true|false|null|yes|no|on|off|~|[-+.\d].*|)$/i.test(text)
    ? JSON.stringify(text)
    : text;

const fieldText = (name: string, schema: Schema, column: number): Pick<Completion, 'text' | 'asksOn'> => {
  const below = `\n${' '.repeat(column)}${INDENT}`;
  const type = typeOf(schema);
  if (type === 'array') return { text: `${name}:${below}- `, asksOn: true };
  if (type === 'object') return { text: `${name}:${below}`, asksOn: isSchema(schema['properties']) };
  return { text: `${name}: `, asksOn: choicesOf(schema).length > 0 };
};

const fieldsOf = (root: Schema, object: Schema, position: YamlPosition): readonly Completion[] => {
  const { properties } = object;
  if (!isSchema(properties)) return [];
  const required = new Set(textsOf(object['required']));
  // Before a colon that is there already, the name alone is changed.
  const isRenamed = /^[\w.-]*\s*:/.test(position.rest);
  return Object.keys(properties)
    .filter((name) => !position.siblings.includes(name) && name !== 'status')
    .map((name) => {
      const schema = resolved(root, properties[name]) ?? {};
      const isAtRoot = position.path.length === 0 && (name === 'apiVersion' || name === 'kind');
      const written = isRenamed ? { text: name, asksOn: false } : fieldText(name, schema, position.column);
      return {
        ...written,
        asksOn: written.asksOn || (isAtRoot && !isRenamed),
        label: name,
        kind: 'field',
        detail: typeOf(schema),
        documentation: typeof schema['description'] === 'string' ? schema['description'] : '',
        isRequired: required.has(name) || isAtRoot,
      };
    });
};

const value = (label: string, detail: string, type = 'string'): Completion => ({
  label,
  kind: 'value',
  detail,
  documentation: '',
  text: scalar(label, type),
  asksOn: false,
  isRequired: false,
});

/** Either narrows the other, whichever was written first. */
const identityValues = (
  schema: Schema,
  name: string,
  root: ReadonlyMap<string, string>,
): readonly Completion[] => {
  const rules = rulesOf(schema).filter(({ kind }) => kind === undefined);
  if (name === 'apiVersion') {
    const kind = root.get('kind') ?? '';
    const offered = rules.filter((rule) => kindsOf(rule).includes(kind));
    return (offered.length > 0 ? offered : rules).map(({ apiVersion }) => value(apiVersion, ''));
  }
  const mine = rules.filter(({ apiVersion }) => apiVersion === root.get('apiVersion'));
  const offered = mine.length > 0 ? mine : rules;
  return offered.flatMap((rule) => kindsOf(rule).map((kind) => value(kind, rule.apiVersion)));
};

const valuesOf = (schema: Schema | undefined): readonly Completion[] =>
  schema ? choicesOf(schema).map((choice) => value(choice, '', typeOf(schema))) : [];

const itemsAt = (schema: Schema, position: YamlPosition): readonly Completion[] => {
  const { path, place, root } = position;
  const [name] = path;
  if (place === 'value' && path.length === 1 && (name === 'apiVersion' || name === 'kind'))
    return identityValues(schema, name, root);
  const found = schemaAt(schema, objectSchema(schema, position) ?? ANY_OBJECT, path);
  if (!found) return [];
  if (place === 'value' || (path.at(-1) === ITEM && !isSchema(found['properties']))) return valuesOf(found);
  return fieldsOf(schema, found, position);
};

/** Line and column are counted from zero. */
export const completionsAt = (
  schema: Schema,
  text: string,
  line: number,
  column: number,
): Completions | undefined => {
  const position = positionAt(text, line, column);
  if (!position) return undefined;
  const more = position.place === 'value' ? /^[^\s#]*/ : /^[\w./-]*/;
  const to = column + (more.exec(position.rest)?.[0].length ?? 0);
  return { from: position.column, to, items: itemsAt(schema, position) };
};

/** The kind that is written is one of the server's, but its schema is not here yet. */
export const isSchemaMissing = (schema: Schema, text: string, line: number, column: number): boolean => {
  const position = positionAt(text, line, column);
  if (!position) return false;
  const kind = position.root.get('kind') ?? '';
  const isServed = rulesOf(schema).some(
    (rule) => rule.apiVersion === position.root.get('apiVersion') && kindsOf(rule).includes(kind),
  );
  return isServed && objectSchema(schema, position) === undefined;
};
