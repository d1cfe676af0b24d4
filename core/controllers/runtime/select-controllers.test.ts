import { expect, test } from 'vitest';
import { selectControllers } from './select-controllers.ts';

const KNOWN = [
  { name: 'deployment-controller', aliases: ['deployment'], isOnByDefault: true },
  { name: 'ttl-controller', aliases: ['ttl'], isOnByDefault: true },
  { name: 'bootstrap-signer-controller', aliases: ['bootstrapsigner'], isOnByDefault: false },
];

test.each<[readonly string[], readonly string[]]>([
  [['*'], ['deployment-controller', 'ttl-controller']],
  [['*', '-ttl'], ['deployment-controller']],
  [
    ['*', 'bootstrapsigner'],
    ['deployment-controller', 'ttl-controller', 'bootstrap-signer-controller'],
  ],
  [['deployment-controller'], ['deployment-controller']],
  [['-deployment', 'deployment'], []],
  [[], []],
])('--controllers=%j selects %j', (patterns, names) => {
  expect(selectControllers(KNOWN, patterns).map(({ name }) => name)).toEqual(names);
});

test('a name that no one has is refused', () => {
  expect(() => selectControllers(KNOWN, ['*', '-deploymnet'])).toThrow('"-deploymnet" is not in the list');
});
