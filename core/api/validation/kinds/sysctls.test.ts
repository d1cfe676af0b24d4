import { expect, test } from 'vitest';
import { sysctls } from './sysctls.ts';

const problems = (names: readonly string[], spec: Record<string, unknown> = {}): string[] =>
  sysctls('spec.securityContext.sysctls', { sysctls: names.map((name) => ({ name, value: '1' })) }, spec).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );
const FORMAT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

test.each(['a.b.c.d', 'a', 'a_b', 'a-b', 'abc', 'abc.def', 'a/b/c/d', 'net/ipv4/conf/eno2.100/rp_filter'])(
  '%s is a name',
  (name) => {
    expect(problems([name])).toEqual([]);
  },
);

test.each(['a.', '.a', 'a..b', '/', 'Ä', 'ab.*', 'a$b', 'A', `${'a.'.repeat(130)}b`])(
  '%s is none',
  (name) => {
    expect(problems([name])).toEqual([`spec.securityContext.sysctls[0].name: ${FORMAT}`]);
  },
);

test('a name is required, and given once', () => {
  expect(problems(['', 'a.b', 'a.b'])).toEqual([
    'spec.securityContext.sysctls[0].name: ',
    'spec.securityContext.sysctls[2].name: ',
  ]);
});

test('sysctls shared with the host are rejected', () => {
  const names = [
    'net.ipv4.tcp_syncookies',
    'net/ipv4/conf/eno2.100/rp_filter',
    'kernel.shmmax',
    'vm.swappiness',
  ];
  expect([problems(names, { hostNetwork: true }), problems(names, { hostIPC: true })]).toEqual([
    [0, 1].map(
      (i) => `spec.securityContext.sysctls[${i}].name: may not be specified when 'hostNetwork' is true`,
    ),
    ["spec.securityContext.sysctls[2].name: may not be specified when 'hostIPC' is true"],
  ]);
});
