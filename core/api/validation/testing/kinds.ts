import type { Obj } from '../read.ts';
import { rulesOf } from '../validate.ts';
import { metadata, podSpec } from './objects.ts';

/** Valid objects of many kinds, each with a part that a test may change. */

export const rules = (kind: string, group = ''): NonNullable<ReturnType<typeof rulesOf>> => {
  const found = rulesOf({ group, kind });
  if (found === undefined) throw new Error(`no rules for ${kind}`);
  return found;
};

export const template = (spec: Obj = {}): Obj => ({
  metadata: { labels: { app: 'web' } },
  spec: podSpec(spec),
});
export const selector = { matchLabels: { app: 'web' } };
export const deployment = (spec: Obj = {}): Obj => ({
  metadata: metadata(),
  spec: {
    replicas: 1,
    selector,
    template: template(),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    progressDeadlineSeconds: 600,
    ...spec,
  },
});
export const cluster = (rest: Obj, name = 'x'): Obj => ({ metadata: { name }, ...rest });
export const namespaced = (rest: Obj): Obj => ({ metadata: metadata(), ...rest });
export const job = (spec: Obj = {}): Obj =>
  namespaced({
    spec: { selector, template: template({ restartPolicy: 'Never' }), completionMode: 'NonIndexed', ...spec },
  });
export const cronJob = (spec: Obj = {}): Obj =>
  namespaced({
    spec: {
      schedule: '*/5 * * * *',
      concurrencyPolicy: 'Allow',
      jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }) } },
      ...spec,
    },
  });
export const service = (spec: Obj = {}): Obj =>
  namespaced({
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      ...spec,
    },
  });
export const claim = (spec: Obj = {}, status: Obj = {}): Obj =>
  namespaced({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    status,
  });
export const ingress = (path: Obj): Obj =>
  namespaced({ spec: { rules: [{ host: 'a.example', http: { paths: [path] } }] } });
export const backend = { service: { name: 'web', port: { number: 80 } } };
export const RBAC = 'rbac.authorization.k8s.io';
