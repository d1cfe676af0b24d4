import { expect, test } from 'vitest';
import { privilegedContainers } from './privileged.ts';

const privileged = { name: 'a', securityContext: { privileged: true } };
const spec = { containers: [{ name: 'b' }, privileged], initContainers: [privileged] };

test.each([
  ['', 'Pod', { spec }, 'spec'],
  ['apps', 'Deployment', { spec: { template: { spec } } }, 'spec.template.spec'],
  [
    'batch',
    'CronJob',
    { spec: { jobTemplate: { spec: { template: { spec } } } } },
    'spec.jobTemplate.spec.template.spec',
  ],
])('privileged containers of %s %s are found', (group, kind, object, path) => {
  expect(
    privilegedContainers({ group, kind }, object).map(({ type, field, detail }) => [type, field, detail]),
  ).toEqual(
    ['initContainers[0]', 'containers[1]'].map((at) => [
      'FieldValueForbidden',
      `${path}.${at}.securityContext.privileged`,
      'disallowed by cluster policy',
    ]),
  );
});

test('other kinds and other containers are left alone', () => {
  expect([
    ...privilegedContainers({ group: '', kind: 'ConfigMap' }, { spec }),
    ...privilegedContainers({ group: '', kind: 'Pod' }, { spec: { containers: [{ name: 'b' }] } }),
  ]).toEqual([]);
});
