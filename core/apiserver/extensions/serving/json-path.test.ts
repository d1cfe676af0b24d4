import { expect, test } from 'vitest';
import { parseJsonPath } from './json-path.ts';

const DATA = {
  metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'web' } },
  spec: {
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ],
    list: [1, 2, 3, 4],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
};

test.each([
  ['.metadata.name', ['a']],
  ['.metadata.missing', []],
  ['.spec.ports[0].name', ['http']],
  ['.spec.ports[-1].name', ['https']],
  ['.spec.ports[9].name', []],
  ['.spec.ports[*].port', [80, 443]],
  ['.spec.list[1:3]', [2, 3]],
  ['.metadata.labels.app\\.kubernetes\\.io/name', ['web']],
  [".metadata.labels['app.kubernetes.io/name']", ['web']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type == 'Other')].status", ['False']],
  ['.spec.ports[?(@.port>100)].name', ['https']],
  ['..port', [80, 443]],
])('%s finds %j', (path, found) => {
  expect(parseJsonPath(path)?.(DATA)).toEqual(found);
});

test.each(['.a[', '.a[?(@.b', '.', '.a[x]'])('%s is no path', (path) => {
  expect(parseJsonPath(path)).toBeUndefined();
});
