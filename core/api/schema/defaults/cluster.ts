import {
  ensureObject,
  fill,
  fillNonZero,
  fillPointers,
  listAt,
  objectAt,
  type Defaulter,
} from './defaulter.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const WEBHOOK_PORT = 443;

const webhook: Defaulter = (value) =>
  fillPointers(value, {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });

const mutatingWebhook: Defaulter = (value, context) => {
  webhook(value, context);
  fillPointers(value, { reinvocationPolicy: 'Never' });
};

const matchResources: Defaulter = (value) =>
  fillPointers(value, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });

const failurePolicy: Defaulter = (value) => fillPointers(value, { failurePolicy: 'Fail' });
const rule: Defaulter = (value) => fillPointers(value, { scope: '*' });
const servicePort: Defaulter = (value) => fill(value, { port: WEBHOOK_PORT });
const roleRef: Defaulter = (value) => fill(ensureObject(value, 'roleRef'), { apiGroup: RBAC_GROUP });

const networkPolicy: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  if (listAt(spec, 'policyTypes').length > 0) return;
  spec['policyTypes'] = listAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
};

const csiDriver: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  fillPointers(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
    seLinuxMount: false,
  });
  if (listAt(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
};

const customResourceDefinition: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const names = ensureObject(spec, 'names');
  const kind = (names['kind'] as string | undefined) ?? '';
  fill(names, { singular: kind.toLowerCase(), ...(kind !== '' && { listKind: `${kind}List` }) });
  fill(spec, { conversion: { strategy: 'None' } });
  const status = ensureObject(value, 'status');
  const stored = listAt(spec, 'versions').find((version) => version['storage'] === true);
  if (listAt(status, 'storedVersions').length === 0 && stored) status['storedVersions'] = [stored['name']];
};

const deviceRequest: Defaulter = (value) => {
  fill(value, { allocationMode: 'ExactCount' });
  if (value['allocationMode'] === 'ExactCount') fillNonZero(value, { count: 1 });
};

export const CLUSTER_DEFAULTERS: Readonly<Record<string, Defaulter>> = {
  'admissionregistration.v1.ValidatingWebhook': webhook,
  'admissionregistration.v1.MutatingWebhook': mutatingWebhook,
  'admissionregistration.v1.RuleWithOperations': rule,
  'admissionregistration.v1.NamedRuleWithOperations': rule,
  'admissionregistration.v1.ServiceReference': servicePort,
  'admissionregistration.v1.MatchResources': matchResources,
  'admissionregistration.v1.ValidatingAdmissionPolicySpec': failurePolicy,
  'admissionregistration.v1.MutatingAdmissionPolicySpec': failurePolicy,
  'apiextensions.v1.CustomResourceDefinition': customResourceDefinition,
  'apiextensions.v1.ServiceReference': servicePort,
  'apiregistration.v1.ServiceReference': servicePort,
  'authentication.v1.TokenRequestSpec': (value) => fill(value, { expirationSeconds: 3600 }),
  'discovery.v1.EndpointPort': (value) => {
    value['name'] ??= '';
    fillPointers(value, { protocol: 'TCP' });
  },
  'flowcontrol.v1.FlowSchemaSpec': (value) => fillNonZero(value, { matchingPrecedence: 1000 }),
  'flowcontrol.v1.ExemptPriorityLevelConfiguration': (value) =>
    fill(value, { nominalConcurrencyShares: 0, lendablePercent: 0 }),
  'flowcontrol.v1.LimitedPriorityLevelConfiguration': (value) =>
    fill(value, { nominalConcurrencyShares: 30, lendablePercent: 0 }),
  'flowcontrol.v1.QueuingConfiguration': (value) =>
    fillNonZero(value, { handSize: 8, queues: 64, queueLengthLimit: 50 }),
  'networking.v1.NetworkPolicy': networkPolicy,
  'networking.v1.NetworkPolicyPort': (value) => fillPointers(value, { protocol: 'TCP' }),
  'networking.v1.IngressClass': (value) => {
    const spec = objectAt(value, 'spec');
    const parameters = spec && objectAt(spec, 'parameters');
    if (parameters) fillPointers(parameters, { scope: 'Cluster' });
  },
  'rbac.v1.ClusterRoleBinding': roleRef,
  'rbac.v1.RoleBinding': roleRef,
  'rbac.v1.Subject': (value) => {
    if (value['kind'] === 'User' || value['kind'] === 'Group') fill(value, { apiGroup: RBAC_GROUP });
  },
  'resource.v1.ExactDeviceRequest': deviceRequest,
  'resource.v1.DeviceSubRequest': deviceRequest,
  'resource.v1.DeviceTaint': (value, { now }) => fill(value, { timeAdded: now }),
  'storage.v1.StorageClass': (value) =>
    fillPointers(value, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  'storage.v1.CSIDriver': csiDriver,
};
