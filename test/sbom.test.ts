import { expect, test } from 'vitest';
import { packageOfModule } from '../resources/setup/sbom/bundled-packages.mjs';
import { cycloneDx } from '../resources/setup/sbom/cyclonedx.mjs';
import { licenceList } from '../resources/setup/sbom/licences.mjs';
import { shippedPackages } from '../resources/setup/sbom/packages.mjs';

const LOCK = {
  packages: {
    '': {},
    'node_modules/vue': { version: '3.5.0', license: 'MIT', integrity: 'sha512-AAEC', dev: true },
    'node_modules/vite': { version: '8.0.0', license: 'MIT', dev: true },
    'node_modules/lmdb': { version: '3.5.6', license: 'MIT' },
    'node_modules/@lmdb/lmdb-linux-x64': { version: '3.5.6', license: 'MIT', os: ['linux'], cpu: ['x64'] },
    'node_modules/@lmdb/lmdb-win32-x64': { version: '3.5.6', license: 'MIT', os: ['win32'], cpu: ['x64'] },
    'node_modules/dual': { version: '1.0.0', license: '(MIT OR Apache-2.0)', dev: true },
  },
};
const LINUX = { platform: 'linux', arch: 'x64' };

test.each([
  ['/repo/core/a.ts', undefined],
  ['/repo/node_modules/vue/dist/vue.js', 'vue'],
  ['\0/repo/node_modules/@lmdb/x/node_modules/@a/b/c.js?worker', '@a/b'],
  ['C:\\repo\\node_modules\\vue\\x.js', 'vue'],
])('the module %s is of the package %s', (id, name) => {
  expect(packageOfModule(id)).toBe(name);
});

test('the package contains the bundle and the runtime dependencies of its platform only', () => {
  expect(shippedPackages(LOCK, ['vue', 'dual'], LINUX).map(({ name }) => name)).toEqual([
    '@lmdb/lmdb-linux-x64',
    'dual',
    'lmdb',
    'vue',
  ]);
  expect(() => shippedPackages(LOCK, ['left-pad'], LINUX)).toThrow('left-pad is in the build');
});

test('the bill of materials names packages, licences and digests, and is the same for the same input', () => {
  const input = {
    version: '1.2.3',
    packages: shippedPackages(LOCK, ['vue', 'dual'], LINUX),
    epoch: 1_700_000_000,
  };
  const bom = cycloneDx(input);
  expect(bom).toEqual(cycloneDx(input));
  expect([bom.bomFormat, bom.specVersion, bom.metadata.timestamp]).toEqual([
    'CycloneDX',
    '1.6',
    '2023-11-14T22:13:20.000Z',
  ]);
  expect(bom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(bom.components[3]).toEqual({
    type: 'library',
    'bom-ref': 'pkg:npm/vue@3.5.0',
    name: 'vue',
    version: '3.5.0',
    licenses: [{ license: { id: 'MIT' } }],
    purl: 'pkg:npm/vue@3.5.0',
    hashes: [{ alg: 'SHA-512', content: '000102' }],
  });
  expect(bom.components.map(({ purl }) => purl)[0]).toBe('pkg:npm/%40lmdb/lmdb-linux-x64@3.5.6');
  expect(bom.components[1]?.licenses).toEqual([{ expression: '(MIT OR Apache-2.0)' }]);
});

test('the licence list has the text of each package', () => {
  const [vue] = shippedPackages(LOCK, ['vue'], LINUX).filter(({ name }) => name === 'vue');
  const text = licenceList([vue!]);
  expect(text).toContain('vue 3.5.0: MIT');
  expect(text).toContain('Permission is hereby granted');
});
