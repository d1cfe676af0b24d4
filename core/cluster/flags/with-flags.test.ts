import { expect, test } from 'vitest';
import { withFlags } from './with-flags.ts';

const MANIFEST = `spec:
  containers:
    - command:
        - kube-apiserver
        # ours
        - --profiling=true
        - "--audit-log-path=/a b: c"
        - --anonymous-auth=false
      image: x
`;

test('a flag is replaced in its line, and everything else stays', () => {
  expect(withFlags(MANIFEST, [{ name: 'profiling', value: 'false' }])).toBe(
    MANIFEST.replace('--profiling=true', '--profiling=false'),
  );
});

test('a new flag comes after the last one, and a flag without a value is removed', () => {
  const changed = withFlags(MANIFEST, [
    { name: 'audit-log-path', value: null },
    { name: 'max-requests-inflight', value: '400' },
  ]);
  expect(changed).toBe(`spec:
  containers:
    - command:
        - kube-apiserver
        # ours
        - --profiling=true
        - --anonymous-auth=false
        - --max-requests-inflight=400
      image: x
`);
});

test('a text without flags, and a change that is there already, change nothing', () => {
  expect(withFlags('spec: {}\n', [{ name: 'a', value: 'b' }])).toBe('spec: {}\n');
  expect(withFlags(MANIFEST, [{ name: 'anonymous-auth', value: 'false' }])).toBe(MANIFEST);
  expect(withFlags(MANIFEST, [{ name: 'absent', value: null }])).toBe(MANIFEST);
});
