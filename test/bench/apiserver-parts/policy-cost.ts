import { silentLog } from '../../../core/base/log.ts';
import { Registry } from '../../../core/base/metrics/index.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { createDynamicAdmission } from '../../../core/apiserver/admission/dynamic.ts';
import { fakeInformer } from '../../../core/apiserver/admission/testing/fake-informer.ts';
import { readerOf, wish } from '../../../core/apiserver/admission/testing/fixtures.ts';
import { noOpinion } from '../../../core/apiserver/authz/authorizer.ts';

const WARM_UP = 5_000;
const REQUESTS = 20_000;

/** What policies say in practice: bounds, names, images, labels, selectors. */
const EXPRESSIONS = [
  'object.spec.replicas <= 5',
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example/'))",
  'object.spec.template.spec.containers.all(c, has(c.resources) && has(c.resources.limits))',
  '!has(object.spec.template.spec.hostNetwork) || !object.spec.template.spec.hostNetwork',
  "object.metadata.name.matches('^[a-z][a-z0-9-]*$')",
  'object.spec.selector.matchLabels.all(k, object.spec.template.metadata.labels[k] == object.spec.selector.matchLabels[k])',
  "request.operation in ['CREATE', 'UPDATE']",
  "request.userInfo.groups.exists(g, g == 'system:authenticated')",
  'oldObject == null || oldObject.spec.replicas <= object.spec.replicas + 10',
];

const container = (name: string) => ({
  name,
  image: `registry.example/${name}:1`,
  resources: { limits: { memory: '64Mi' } },
});

/** Microseconds of processor time that a bound policy of ten expressions adds to a request that it is about. */
export const measurePolicyUs = async (): Promise<number> => {
  const informer = fakeInformer();
  const dynamic = createDynamicAdmission({
    reader: readerOf([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } }]),
    authorizer: { authorize: () => noOpinion() },
    client: { post: () => Promise.reject(new Error('no webhooks here')), dispose: () => undefined },
    findResource: () => Promise.resolve(undefined),
    convertCustom: (objects) => Promise.resolve(objects),
    minor: 36,
    clock: systemClock,
    metrics: new Registry(),
    log: silentLog,
  });
  await dynamic.follow(informer).ready;
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['*'],
    resources: ['deployments'],
    scope: '*',
  };
  informer.upsert('validatingadmissionpolicies', {
    metadata: { name: 'ten' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] },
      validations: EXPRESSIONS.map((expression) => ({ expression })),
    },
  });
  informer.upsert('validatingadmissionpolicybindings', {
    metadata: { name: 'ten' },
    spec: { policyName: 'ten', validationActions: ['Deny'] },
  });
  const attributes = wish({
    of: 'deployments.apps',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'ns', name: 'web', labels: { app: 'web' } },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [container('main'), container('side')] },
        },
      },
    },
  });
  const plugin = dynamic.plugins.ValidatingAdmissionPolicy;
  const ask = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await plugin.validate?.(attributes);
  };
  await ask(WARM_UP);
  const before = process.cpuUsage();
  await ask(REQUESTS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
};
