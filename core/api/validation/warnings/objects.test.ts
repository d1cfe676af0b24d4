import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { objectWarnings } from './objects.ts';

const MINOR = 36;
const pod = (spec: Obj, metadata: Obj = { name: 'p' }): readonly string[] =>
  objectWarnings({ group: '', kind: 'Pod' }, { metadata, spec }, undefined, MINOR);
const container = (fields: Obj): Obj => ({ containers: [{ name: 'c', image: 'i', ...fields }] });

// Each text is what kube-apiserver 1.36.4 answered to the same object.
test('variables, ports and paths of a pod that hide each other are reported', () => {
  expect(
    pod({
      ...container({
        env: [
          { name: 'A', value: 'b' },
          { name: 'A', value: 'c' },
          { name: 'A', value: '$(A)d' },
        ],
        ports: [
          { containerPort: 80, protocol: 'TCP', name: 'x' },
          { containerPort: 80, protocol: 'TCP', name: 'x', hostIP: '1.2.3.4' },
        ],
      }),
      volumes: [
        {
          name: 'v',
          configMap: {
            name: 'x',
            items: [
              { key: 'a', path: 'b' },
              { key: 'c', path: 'b/d' },
            ],
          },
        },
      ],
    }),
  ).toEqual([
    'volume "v" (ConfigMap "x"): overlapping paths: "b/d" with "b"',
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    'spec.containers[0].ports[1]: hostIP set without hostPort: {Name:x HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}',
    'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
    'spec.containers[0].ports[1]: duplicate port name "x" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
  ]);
});

test('deprecated labels, annotations and volumes are reported with their successor', () => {
  expect(
    pod(
      {
        ...container({ resources: { limits: { memory: '0.5' } } }),
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        volumes: [{ name: 'v', gitRepo: { repository: 'r' } }],
        topologySpreadConstraints: [{ topologyKey: 'z' }],
      },
      { name: 'a.b', annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'x' } },
    ),
  ).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
    'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
    'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
    'spec.containers[0].resources.limits[memory]: fractional byte value "500m" is invalid, must be an integer',
  ]);
});

test('templates are warned of when their object is created or its spec changes, pods only when they are created', () => {
  const kind = { group: 'apps', kind: 'Deployment' };
  const object = {
    metadata: { name: 'd' },
    spec: { template: { spec: { terminationGracePeriodSeconds: -1 } } },
  };
  const told = [
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ];
  const changed = { ...object, spec: { ...object.spec, replicas: 2 } };
  expect(objectWarnings(kind, object, undefined, MINOR)).toEqual(told);
  expect(objectWarnings(kind, object, object, MINOR)).toEqual([]);
  expect(objectWarnings(kind, changed, object, MINOR)).toEqual(told);
  expect(objectWarnings({ group: '', kind: 'Pod' }, { metadata: { name: 'a.b' } }, {}, MINOR)).toEqual([]);
});

test('a release tells what it deprecates, and not what a later one does', () => {
  const kind = { group: '', kind: 'Service' };
  const service = { spec: { type: 'ClusterIP', clusterIP: '10.0.0.9', externalIPs: ['1.2.3.4'] } };
  expect(objectWarnings(kind, service, undefined, 36)).toEqual([
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  ]);
  expect(objectWarnings(kind, service, undefined, 34)).toEqual([]);
});
