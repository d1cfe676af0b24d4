import { dirname, posix, relative, resolve, sep } from 'node:path';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { mayImport, mayUseNode, zoneOf } from './zones.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const fromRoot = (path) => relative(ROOT, path).split(sep).join(posix.sep);
const isTest = (path) => /\.test\.ts$/.test(path) || path.startsWith('test/');

/** Reports an import that goes against the directions in zones.mjs. */
const importZones = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      zone: '{{from}} may not import {{to}}: imports go down only',
      node: '{{from}} may not use {{to}}: this zone has no Node',
    },
  },
  create(context) {
    const from = fromRoot(context.filename);
    if (zoneOf(from) === undefined) return {};
    const check = (node, source) => {
      if (typeof source?.value !== 'string') return;
      const name = source.value;
      if (name.startsWith('.')) {
        const to = fromRoot(resolve(dirname(context.filename), name));
        if (!isTest(from) && !mayImport(from, to))
          context.report({ node, messageId: 'zone', data: { from: zoneOf(from), to: zoneOf(to) } });
      } else if ((isBuiltin(name) || name === 'electron') && !isTest(from)) {
        const electronAllowed = name === 'electron' && from.startsWith('main/');
        if (!electronAllowed && (name === 'electron' || !mayUseNode(from)))
          context.report({ node, messageId: 'node', data: { from: zoneOf(from), to: name } });
      }
    };
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => node.source && check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
    };
  },
};

export default { meta: { name: 'pilothouse' }, rules: { 'import-zones': importZones } };
