/**
 * Writes the Kubernetes types that the API server serves from the models of the development dependency
 * `@kubernetes/client-node` into `core/api/schema/generated/`: one line a type in `models.ts`, and what the
 * fields are for in `descriptions.ts`, which only OpenAPI loads; and the same types for TypeScript in `types.ts`. Run it after an update of the dependency;
 * with `--check` it writes nothing and fails when the files are not what it would write.
 *
 * A line is `<package>.<version>.<Kind>|field:type,field!:type`, where `!` marks a required field. Types are
 * s string, b boolean, i int32, l int64, d double, y bytes, t time, u micro time, o int or string, j any
 * value, `@Kind` a type (of the same package and version unless it says another), `[]x` a list and `{}x` a map.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './paths.mjs';

const GENERATED = join(ROOT, 'core', 'api', 'schema', 'generated');
const SOURCE = join(ROOT, 'node_modules', '@kubernetes', 'client-node', 'dist', 'gen');

const META = [
  'APIGroup',
  'APIGroupList',
  'APIResource',
  'APIResourceList',
  'APIVersions',
  'Condition',
  'DeleteOptions',
  'FieldSelectorRequirement',
  'GroupResource',
  'GroupVersionForDiscovery',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
  'Preconditions',
  'ServerAddressByClientCIDR',
  'ShardInfo',
  'Status',
  'StatusCause',
  'StatusDetails',
  'WatchEvent',
];

/** Types that the calls of their own package do not mention, or that another package mentions first. */
const PACKAGE_OF = {
  ...Object.fromEntries(META.map((kind) => [`V1${kind}`, 'meta'])),
  V1Eviction: 'policy',
  V1Scale: 'autoscaling',
  V1ScaleSpec: 'autoscaling',
  V1ScaleStatus: 'autoscaling',
  AuthenticationV1TokenRequest: 'authentication',
  V1TokenRequestSpec: 'authentication',
  V1TokenRequestStatus: 'authentication',
  V1BoundObjectReference: 'authentication',
  V1TopologySelectorTerm: 'core',
  V1TopologySelectorLabelRequirement: 'core',
};

/** Only these are served; the others are known, so that what they are stored as can be read. */
const STABLE = /\.v\d+\.|^version\./;

/** Not served, but part of the wire. */
const VERSION_INFO = 'VersionInfo';

const PACKAGE_OF_CLASS = {
  InternalApiserver: 'apiserverinternal',
  RbacAuthorization: 'rbac',
  FlowcontrolApiserver: 'flowcontrol',
};

const MODEL = /^([A-Z][a-z]+)?(V\d+(?:alpha\d+|beta\d+)?)([A-Z].*)$/;
const API_CLASS = /^([A-Z][A-Za-z]*?)(V\d+(?:alpha\d+|beta\d+)?)Api\.d\.ts$/;

const packageOfClass = (name) => PACKAGE_OF_CLASS[name] ?? name.toLowerCase();

const modelsOf = (type) =>
  type
    .match(/\b(?:[A-Z][a-z]+)?V\d+(?:alpha\d+|beta\d+)?[A-Z]\w*/g)
    ?.filter((name) => name !== 'V1MicroTime') ?? [];

/** Which package each model belongs to: the first whose calls reach it, core before those that build on it. */
const assignPackages = (models) => {
  const packages = new Map(Object.entries(PACKAGE_OF).filter(([name]) => models.has(name)));
  const claim = (name, owner) => {
    if (!models.has(name)) return;
    const known = packages.get(name);
    if (known !== undefined && known !== owner) return;
    if (known === owner && claimed.has(name)) return;
    packages.set(name, owner);
    claimed.add(name);
    for (const { type } of models.get(name)) for (const used of modelsOf(type)) claim(used, owner);
  };
  const claimed = new Set();
  const classes = readdirSync(join(SOURCE, 'apis'))
    .map((file) => API_CLASS.exec(file))
    .filter((match) => match !== null)
    .sort(([, a], [, b]) => Number(b === 'Core') - Number(a === 'Core') || (a < b ? -1 : 1));
  for (const name of Object.keys(PACKAGE_OF)) claim(name, PACKAGE_OF[name]);
  for (const [file, group] of classes) {
    const text = readFileSync(join(SOURCE, 'apis', file), 'utf8');
    for (const name of modelsOf(text)) claim(name, packageOfClass(group));
  }
  return packages;
};

const SCALARS = {
  'string|': 's',
  'boolean|': 'b',
  'number|int32': 'i',
  'number|int64': 'l',
  'number|double': 'd',
  'string|byte': 'y',
  'Date|date-time': 't',
  'V1MicroTime|date-time-micro': 'u',
  'IntOrString|int-or-string': 'o',
  'any|': 'j',
};

const encodeType = (type, format, nameOf) => {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) return `[]${encodeType(list[1], format, nameOf)}`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) return `{}${encodeType(map[1], format, nameOf)}`;
  const scalar = SCALARS[`${type}|${format}`];
  if (scalar) return scalar;
  const name = nameOf(type);
  if (!name) throw new Error(`no code for type ${type} with format ${format}`);
  return `@${name}`;
};

const TYPESCRIPT = {
  s: 'string',
  b: 'boolean',
  i: 'number',
  l: 'number',
  d: 'number',
  y: 'string',
  t: 'string',
  u: 'string',
  o: 'number | string',
  j: 'unknown',
};

/** Metadata is written by hand, because everything is built on it. */
const BY_HAND = [
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'ManagedFieldsEntry',
  'ObjectMeta',
  'OwnerReference',
];

const typeScriptOf = (type, format) => {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) {
    const item = typeScriptOf(list[1], format);
    return item.includes('|') ? `(${item})[]` : `${item}[]`;
  }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) return `Record<string, ${typeScriptOf(map[1], format)}>`;
  const code = SCALARS[`${type}|${format}`];
  if (code) return TYPESCRIPT[code];
  return BY_HAND.includes(type.slice(2)) ? type.slice(2) : type;
};

/** Aliases, not interfaces: only those may stand where any object of the API may. */
const typeScriptAlias = (name, attributes, declaration) => {
  const fields = attributes.map(({ name: property, baseName, type, format }) => {
    const key = /^[A-Za-z_]\w*$/.test(baseName) ? baseName : `'${baseName}'`;
    const mark = declaration.fields.get(property).required ? '' : '?';
    return `${key}${mark}: ${typeScriptOf(type, format)}`;
  });
  return `export type ${name} = { ${fields.join('; ')} };`;
};

/** What the declaration of a model says: which fields must be there, and what each is for. */
const readDeclaration = (name) => {
  const text = readFileSync(join(SOURCE, 'models', `${name}.d.ts`), 'utf8');
  const clean = (comment) =>
    comment
      .split('\n')
      .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
      .join('\n')
      .trim()
      .replaceAll("\\'", "'")
      .replaceAll('\\"', '"')
      .replaceAll('*_/', '*/');
  const about = /\/\*\*\n((?:(?!\*\/)[\s\S])*?)\*\/\nexport declare class/.exec(
    text.slice(text.indexOf('*/') + 2),
  );
  const fields = new Map();
  const FIELD = /(?:\/\*\*\n((?:(?!\*\/)[\s\S])*?)\*\/\n)?    '([^']+)'(\??): /g;
  for (const [, comment, field, optional] of text.matchAll(FIELD))
    fields.set(field, { required: optional === '', description: comment ? clean(comment) : '' });
  return { description: about ? clean(about[1]) : '', fields };
};

const literal = (text) =>
  `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;

const headOf = (version) =>
  `// Generated by resources/setup/generate-api.mjs from @kubernetes/client-node ${version} (Apache-2.0). Not edited by hand.\n`;

const fileOf = (version, about, name, body) =>
  headOf(version) + `/** ${about} */\nexport const ${name} =\n  ${body};\n`;

const typeScriptFile = (version, aliases) => {
  const body = aliases.join('\n');
  const used = BY_HAND.filter((name) => new RegExp(`: ${name}\\b`).test(body));
  return `${headOf(version)}import type { ${used.join(', ')} } from '../../meta/object-meta.ts';\n\n${body}\n`;
};

/** The contents of the generated files by name. */
export const generateApi = async () => {
  const all = await import(pathToFileURL(join(SOURCE, 'models', 'all.js')).href);
  const { version } = JSON.parse(readFileSync(join(SOURCE, '..', '..', 'package.json'), 'utf8'));
  const models = new Map(Object.entries(all).map(([name, model]) => [name, model.attributeTypeMap]));
  const packages = assignPackages(models);
  const idOf = (name) => {
    if (name === VERSION_INFO) return 'version.Info';
    const [, , apiVersion, kind] = MODEL.exec(name);
    const owner = packages.get(name);
    if (owner === undefined) throw new Error(`no package for ${name}`);
    return `${owner}.${apiVersion.toLowerCase()}.${kind}`;
  };
  const lines = [];
  const descriptions = [];
  const aliases = [];
  const ids = [...models.keys()].map((name) => ({ name, id: idOf(name) }));
  for (const { name, id } of ids.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const home = id.slice(0, id.lastIndexOf('.') + 1);
    const nameOf = (type) => {
      if (!models.has(type)) return undefined;
      const target = idOf(type);
      return target.startsWith(home) ? target.slice(home.length) : target;
    };
    const declaration = readDeclaration(name);
    const fields = models.get(name).map(({ name: property, baseName, type, format }) => {
      const { required, description } = declaration.fields.get(property);
      return { field: baseName, required, description, code: encodeType(type, format, nameOf) };
    });
    fields.sort((a, b) => (a.field < b.field ? -1 : 1));
    lines.push(`${id}|${fields.map((f) => `${f.field}${f.required ? '!' : ''}:${f.code}`).join(',')}`);
    if (STABLE.test(id) && !BY_HAND.includes(name.slice(2)))
      aliases.push(typeScriptAlias(name, models.get(name), declaration));
    if (STABLE.test(id))
      descriptions.push([id, declaration.description, ...fields.map((f) => f.description)]);
  }
  return {
    'types.ts': typeScriptFile(version, aliases),
    'models.ts': fileOf(
      version,
      'Every type, one a line; see the generator for the form.',
      'MODELS',
      literal(lines.join('\n')),
    ),
    'descriptions.ts': fileOf(
      version,
      'What each type and then each of its fields, in the order of its line in MODELS, is for. One type a line, as JSON.',
      'DESCRIPTIONS',
      literal(descriptions.map((row) => JSON.stringify(row)).join('\n')),
    ),
  };
};

const main = async () => {
  const files = await generateApi();
  const check = process.argv.includes('--check');
  const stale = [];
  for (const [name, text] of Object.entries(files)) {
    const path = join(GENERATED, name);
    if (!check) writeFileSync(path, text);
    else if (readFileSync(path, 'utf8') !== text) stale.push(name);
  }
  if (stale.length > 0) {
    process.stderr.write(
      `${stale.join(', ')} is not what the dependency gives; run node resources/setup/generate-api.mjs\n`,
    );
    process.exitCode = 1;
  }
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
