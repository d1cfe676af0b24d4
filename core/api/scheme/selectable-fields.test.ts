import { expect, test } from 'vitest';
import { parseFieldSelector } from '../selector/index.ts';
import { fieldLookupOf, resolveFieldLabel } from './index.ts';

const POD = { group: '', kind: 'Pod' };
const pod = {
  metadata: { name: 'a', namespace: 'n' },
  spec: { nodeName: 'w1' },
  status: { phase: 'Running', podIPs: [{ ip: '1' }, { ip: '2' }] },
};

test.each([
  ['spec.nodeName=w1', true],
  ['spec.nodeName=', false],
  ['status.phase!=Running', false],
  ['metadata.name=a,metadata.namespace=n', true],
  ['spec.hostNetwork=false', true],
  ['status.podIPs=1\\,2', true],
])('%s selects the pod: %s', (text, selected) => {
  expect(parseFieldSelector(text).matches(fieldLookupOf(POD, pod))).toBe(selected);
});

test.each([
  [POD, 'spec.host', { label: 'spec.nodeName' }],
  [POD, 'spec.foo', { refusal: 'field label not supported: spec.foo' }],
  [{ group: 'apps', kind: 'Deployment' }, 'metadata.name', { label: 'metadata.name' }],
  [
    { group: 'apps', kind: 'Deployment' },
    'spec.foo',
    { refusal: '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"' },
  ],
  [{ group: 'batch', kind: 'Job' }, 'x', { refusal: 'field label "x" not supported for Job' }],
  [{ group: 'events.k8s.io', kind: 'Event' }, 'regarding.name', { label: 'involvedObject.name' }],
  [{ group: '', kind: 'Node' }, 'constructor', { refusal: 'field label not supported: constructor' }],
])('%j offers %s: %j', (kind, label, expected) => {
  expect(resolveFieldLabel(kind, label)).toEqual(expected);
});
