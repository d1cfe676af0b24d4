import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, expect, test } from 'vitest';
import { readFixture } from '../support/forgotten-flag.ts';

/**
 * Every declared flag must be read. What counts is the type checker's word: a read of a property whose declaration is
 * the flag's own entry in its table, through whatever mapped or spread type it came. A name that only looks the same
 * elsewhere does not count, and neither does copying the whole table.
 */
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const FIXTURE = 'test/support/forgotten-flag.ts';
const FLAGS_FILE = 'core/base/flags.ts';
/** Flag tables of components and their configurations; the options of our own commands. */
const CONFIG_FILE = /^core\/(?!cluster\/)[a-z]+\/config\/[a-z-]+\.ts$/;
const COMMAND_FILE = /^main\/cli\/.*\.ts$/;

/** A computed name stands for all of its values; more than this many are a table that is copied, not read. */
const COMPUTED_NAMES_MAX = 8;

/** Answered by the command line before any flag is parsed. */
const ANSWERED: readonly string[] = ['core/etcd/config/flags.ts: help', 'core/etcd/config/flags.ts: version'];

interface Declared {
  readonly name: string;
  readonly where: string;
}

interface Audit {
  /** By the declaration of the flag. */
  readonly flags: ReadonlyMap<ts.Node, Declared>;
  /** Fields of the configurations that flags end in. */
  readonly fields: ReadonlyMap<ts.Node, Declared>;
  readonly options: ReadonlyMap<ts.Node, Declared>;
  /** Files that read a declaration. */
  readonly readers: ReadonlyMap<ts.Node, ReadonlySet<string>>;
}

const visit = (node: ts.Node, see: (node: ts.Node) => void): void => {
  see(node);
  node.forEachChild((child) => visit(child, see));
};

const program = (): ts.Program => {
  const read = (path: string) =>
    ts.parseConfigFileTextToJson(path, readFileSync(path, 'utf8')).config as unknown;
  const parsed = ts.parseJsonConfigFileContent(
    read(join(ROOT, 'main/tsconfig.json')),
    ts.sys,
    join(ROOT, 'main'),
  );
  const roots = [
    ...parsed.fileNames,
    ...ts.sys.readDirectory(join(ROOT, 'core'), ['.ts']),
    join(ROOT, FIXTURE),
  ];
  return ts.createProgram({
    rootNames: roots.filter((file) => !file.endsWith('.test.ts')),
    options: { ...parsed.options, noEmit: true, composite: false, incremental: false },
  });
};

const nameOf = (file: ts.SourceFile): string => relative(ROOT, file.fileName);

const propertyName = (name: ts.PropertyName): string | undefined =>
  ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : undefined;

/** `flag(oneOf('false'), ...)`: every other value is rejected, so there is nothing to read. */
const hasOneValue = (initializer: ts.Expression): boolean => {
  if (!ts.isCallExpression(initializer)) return false;
  const [kind] = initializer.arguments;
  if (!kind || !ts.isCallExpression(kind) || kind.expression.getText() !== 'oneOf') return false;
  const choices = kind.arguments.filter((choice) => ts.isStringLiteral(choice) && choice.text !== '');
  return choices.length === 1;
};

const isFlagType = (type: ts.Type): boolean => {
  const [symbol] = [type.aliasSymbol ?? type.getSymbol()];
  return (
    symbol?.name === 'Flag' &&
    (symbol.declarations ?? []).some((declaration) => nameOf(declaration.getSourceFile()) === FLAGS_FILE)
  );
};

/** The expression whose property is named, and the name. */
const readOf = (node: ts.Node): { readonly of: ts.Node; readonly name: string } | undefined => {
  const parent = node.parent as ts.Node | undefined;
  const isWritten =
    parent !== undefined &&
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  if (isWritten) return undefined;
  if (ts.isPropertyAccessExpression(node)) return { of: node.expression, name: node.name.text };
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
    return { of: node.expression, name: node.argumentExpression.text };
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken)
    return undefined;
  const name = node.propertyName ?? node.name;
  if (!ts.isIdentifier(name) && !ts.isStringLiteral(name)) return undefined;
  return { of: node.parent, name: name.text };
};

const isReference = (node: ts.Expression): boolean =>
  ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);

const audit = (): Audit => {
  const built = program();
  const checker = built.getTypeChecker();
  const own = built
    .getSourceFiles()
    .filter(
      (file) => !file.isDeclarationFile && (nameOf(file) === FIXTURE || /^(core|main)\//.test(nameOf(file))),
    );
  const flags = new Map<ts.Node, Declared>();
  const fields = new Map<ts.Node, Declared>();
  const options = new Map<ts.Node, Declared>();
  for (const file of own) {
    const where = nameOf(file);
    const mayHold = file.text.includes('flags.ts') || COMMAND_FILE.test(where) || CONFIG_FILE.test(where);
    if (!mayHold || where === FLAGS_FILE) continue;
    visit(file, (node) => {
      if (CONFIG_FILE.test(where) && ts.isInterfaceDeclaration(node))
        for (const member of node.members) {
          const name = ts.isPropertySignature(member) ? propertyName(member.name) : undefined;
          if (name !== undefined) fields.set(member, { name: `${node.name.text}.${name}`, where });
        }
      if (!ts.isPropertyAssignment(node)) return;
      const name = propertyName(node.name);
      if (name === undefined) return;
      if (ts.isObjectLiteralExpression(node.initializer)) {
        const type = node.initializer.properties.find(
          (property) => ts.isPropertyAssignment(property) && property.name.getText() === 'type',
        );
        const text = type && ts.isPropertyAssignment(type) ? type.initializer.getText() : '';
        if (COMMAND_FILE.test(where) && /^'(string|boolean)'$/.test(text)) options.set(node, { name, where });
      } else if (ts.isCallExpression(node.initializer) && !hasOneValue(node.initializer)) {
        if (isFlagType(checker.getTypeAtLocation(node.initializer))) flags.set(node, { name, where });
      }
    });
  }
  const declarations = [...flags, ...fields, ...options];
  const names = new Set(declarations.map(([, { name }]) => name.slice(name.indexOf('.') + 1)));
  const readers = new Map<ts.Node, Set<string>>();
  const markRead = (of: ts.Node, name: string, where: string): void => {
    const type = checker.getApparentType(checker.getTypeAtLocation(of));
    const symbol = checker.getPropertyOfType(checker.getNonNullableType(type), name);
    for (const declaration of symbol?.declarations ?? [])
      readers.set(declaration, (readers.get(declaration) ?? new Set()).add(where));
  };
  /** By the parameter that names the property: where it is read. */
  const named = new Map<ts.Node, ts.Node>();
  for (const file of own)
    visit(file, (node) => {
      const read = readOf(node);
      if (read !== undefined && names.has(read.name)) {
        markRead(read.of, read.name, nameOf(file));
        // The values of our own commands pass through casts; their tables are read in the file that declares them.
        for (const [declaration, { name, where }] of options)
          if (where === nameOf(file) && name === read.name)
            readers.set(declaration, (readers.get(declaration) ?? new Set()).add(where));
      }
      if (!ts.isElementAccessExpression(node) || ts.isLiteralExpression(node.argumentExpression)) return;
      if (!ts.isIdentifier(node.argumentExpression)) return;
      const given = checker.getTypeAtLocation(node.argumentExpression);
      const type = checker.getBaseConstraintOfType(given) ?? given;
      const literals = (type.isUnion() ? type.types : [type]).filter((one) => one.isStringLiteral());
      if (literals.length === 0) return;
      const parameter = checker.getSymbolAtLocation(node.argumentExpression)?.valueDeclaration;
      if (literals.length <= COMPUTED_NAMES_MAX)
        for (const { value } of literals) markRead(node.expression, value, nameOf(file));
      else if (parameter && ts.isParameter(parameter)) named.set(parameter, node.expression);
    });
  for (const file of own)
    visit(file, (node) => {
      if (!ts.isCallExpression(node) || !node.arguments.some(ts.isStringLiteral)) return;
      const { parameters = [] } = checker.getResolvedSignature(node)?.declaration ?? {};
      node.arguments.forEach((argument, index) => {
        const of = named.get(parameters[index]!);
        if (of && ts.isStringLiteral(argument)) markRead(of, argument.text, nameOf(file));
      });
    });
  // What is handed on under another type is read where that type is.
  const handedOn = new Map<ts.Node, Set<ts.Node>>();
  const handOn = (expression: ts.Expression, place: ts.Expression = expression): void => {
    const contextual = checker.getContextualType(place);
    const target = contextual && checker.getNonNullableType(contextual);
    if (!target || !(target.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return;
    for (const property of checker.getTypeAtLocation(expression).getProperties()) {
      const [from] = property.declarations ?? [];
      if (!from || !fields.has(from)) continue;
      for (const to of target.getProperty(property.name)?.declarations ?? [])
        if (to !== from) handedOn.set(from, (handedOn.get(from) ?? new Set()).add(to));
    }
  };
  for (const file of own.filter(({ text }) => text.includes('onfig')))
    visit(file, (node) => {
      if (ts.isCallExpression(node)) node.arguments.filter(isReference).forEach((given) => handOn(given));
      else if (ts.isPropertyAssignment(node) && isReference(node.initializer)) handOn(node.initializer);
      else if (ts.isSpreadAssignment(node) && isReference(node.expression))
        handOn(node.expression, node.parent);
    });
  for (const [from, targets] of handedOn)
    for (const to of targets)
      for (const reader of readers.get(to) ?? [])
        readers.set(from, (readers.get(from) ?? new Set()).add(reader));
  return { flags, fields, options, readers };
};

let audited: Audit;
beforeAll(() => {
  audited = audit();
});

const unread = (
  declared: ReadonlyMap<ts.Node, Declared>,
  counts: (reader: string, where: string) => boolean,
): string[] =>
  [...declared]
    .filter(
      ([node, { where }]) => ![...(audited.readers.get(node) ?? [])].some((reader) => counts(reader, where)),
    )
    .map(([, { name, where }]) => `${where}: ${name}`)
    .sort();

const isOurs = (text: string): boolean => !text.startsWith(FIXTURE);
const isNew = (text: string): boolean => isOurs(text) && !ANSWERED.includes(text);

test('the audit finds the flags of every component', () => {
  const files = new Set([...audited.flags.values()].map(({ where }) => where));
  expect([...files].filter(isOurs).sort()).toEqual([
    'core/apiserver/config/flags.ts',
    'core/base/node/tls-settings.ts',
    'core/cloud/config/flags.ts',
    'core/component/flags.ts',
    'core/controllers/config/flags.ts',
    'core/controllers/config/shared-flags.ts',
    'core/dns/config/flags.ts',
    'core/etcd/config/flags.ts',
    'core/kubelet/config/flags.ts',
    'core/proxy/config/flags.ts',
    'core/scheduler/config/flags.ts',
    'main/cli/commands/component-etcdutl.ts',
  ]);
  expect(audited.options.size).toBeGreaterThan(20);
});

test('a flag that is declared, copied and forgotten is reported', () => {
  expect(readFixture(['--used=x', '--forgotten=y'])).toEqual({
    used: 'x',
    all: { used: 'x', forgotten: 'y' },
  });
  const found = unread(audited.flags, () => true).filter((text) => !isOurs(text));
  expect(found).toEqual([`${FIXTURE}: forgotten`]);
});

test('every flag of every component is read', () => {
  expect(unread(audited.flags, () => true).filter(isNew)).toEqual([]);
});

test('every field that a flag ends in is read by another file', () => {
  expect(unread(audited.fields, (reader, where) => reader !== where).filter(isNew)).toEqual([]);
});

test('every option of our own commands is read', () => {
  expect(unread(audited.options, () => true)).toEqual([]);
});
