import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

/** An APIService that a Service of the namespace `ext` answers for. */
export const apiService = (
  spec: Record<string, unknown> = {},
  status?: 'True' | 'False',
): KubernetesObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1alpha1.wardle.example.com' },
  spec: {
    group: 'wardle.example.com',
    version: 'v1alpha1',
    groupPriorityMinimum: 1000,
    versionPriority: 15,
    service: { namespace: 'ext', name: 'api', port: 443 },
    ...spec,
  },
  ...(status && { status: { conditions: [{ type: 'Available', status }] } }),
});

export const extService = (spec: Record<string, unknown> = {}): KubernetesObject => ({
  metadata: { namespace: 'ext', name: 'api' },
  spec: { type: 'ClusterIP', ports: [{ name: 'https', port: 443 }], ...spec },
});

export const extSlice = (
  address: string,
  port: number,
  more: Record<string, unknown> = {},
): KubernetesObject => ({
  metadata: { namespace: 'ext', name: 'api-1', labels: { 'kubernetes.io/service-name': 'api' } },
  addressType: 'IPv4',
  ports: [{ name: 'https', port }],
  endpoints: [{ addresses: [address] }],
  ...more,
});

export const readerOf = (objects: {
  readonly services?: readonly KubernetesObject[];
  readonly slices?: readonly KubernetesObject[];
}): ObjectReader => ({
  get: ({ resource }, namespace, name) =>
    Promise.resolve(
      resource === 'services'
        ? objects.services?.find(
            ({ metadata }) => metadata?.namespace === namespace && metadata.name === name,
          )
        : undefined,
    ),
  list: (_resource, namespace) =>
    Promise.resolve((objects.slices ?? []).filter(({ metadata }) => metadata?.namespace === namespace)),
});
