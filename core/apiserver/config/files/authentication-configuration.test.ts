import { expect, test } from 'vitest';
import { parseAuthenticationConfiguration } from './authentication-configuration.ts';

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\n';

test.each([
  ['', { jwt: [] }],
  ['anonymous:\n  enabled: false\n', { jwt: [], anonymous: { enabled: false } }],
  ['anonymous:\n  enabled: true\n', { jwt: [], anonymous: { enabled: true } }],
  [
    'anonymous:\n  enabled: true\n  conditions:\n  - path: /livez\n  - path: /readyz\n',
    { jwt: [], anonymous: { enabled: true, paths: ['/livez', '/readyz'] } },
  ],
  ['jwt: []\n', { jwt: [] }],
])('%j is read', (text, expected) => {
  expect(parseAuthenticationConfiguration(HEAD + text)).toEqual(expected);
});

test.each([
  ['kind: Pod\n', 'is not a AuthenticationConfiguration of'],
  [`${HEAD}issuer: x\n`, 'unknown field "issuer"'],
  [`${HEAD}anonymous:\n  enable: true\n`, 'unknown field "anonymous.enable"'],
  [`${HEAD}anonymous:\n  enabled: "yes"\n`, 'anonymous.enabled: must be true or false'],
  [
    `${HEAD}anonymous:\n  enabled: false\n  conditions: [{path: /a}]\n`,
    'anonymous.conditions: enabled should be set to true when conditions are defined',
  ],
  [
    `${HEAD}anonymous:\n  enabled: true\n  conditions: [{path: ""}]\n`,
    'anonymous.conditions[0].path: must be a path such as /livez',
  ],
  [
    `${HEAD}anonymous:\n  enabled: true\n  conditions: [{host: a}]\n`,
    'unknown field "anonymous.conditions[0].host"',
  ],
  [`${HEAD}jwt: {}\n`, 'jwt: must be a list'],
  [`${HEAD}jwt:\n- issuers: {}\n`, 'unknown field "jwt[0].issuers"'],
  [`${HEAD}jwt:\n- issuer: {url: 1}\n`, 'jwt[0].issuer.url: must be a string'],
  [`${HEAD}jwt:\n- issuer: {egressSelectorType: cluster}\n`, 'this API server has no egress selector'],
  [
    `${HEAD}jwt:\n- claimMappings: {extra: [{value: a}]}\n`,
    'unknown field "jwt[0].claimMappings.extra[0].value"',
  ],
  ['{', 'is not valid YAML'],
  ['- a', 'must be an object'],
])('%j is rejected', (text, message) => {
  expect(() => parseAuthenticationConfiguration(text)).toThrow(message);
});
