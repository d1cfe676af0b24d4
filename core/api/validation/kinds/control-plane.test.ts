import { expect, test } from 'vitest';
import { eventErrors, eventUpdateErrors } from './event.ts';
import type { Obj } from '../read.ts';
import { cluster, namespaced, rules } from '../testing/kinds.ts';
import { stored, texts } from '../testing/objects.ts';

const ADMISSION = 'admissionregistration.k8s.io';
const STORAGE = 'storage.k8s.io';
const FLOW = 'flowcontrol.apiserver.k8s.io';
const NETWORKING = 'networking.k8s.io';
const AGGREGATION = 'apiregistration.k8s.io';

const created = (kind: string, group: string, object: Obj): string[] =>
  texts(rules(kind, group).create(object));
const updated = (kind: string, group: string, object: Obj, before: Obj): string[] =>
  texts(rules(kind, group).update(stored(object), stored(before)));

const rule = {
  operations: ['CREATE'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
  scope: '*',
};
const hook = (change: Obj = {}): Obj => ({
  name: 'a.example.com',
  rules: [rule],
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: 10,
  namespaceSelector: {},
  objectSelector: {},
  clientConfig: { service: { name: 's', namespace: 'n', port: 443 } },
  admissionReviewVersions: ['v1'],
  ...change,
});
const hooks = (...webhooks: Obj[]): Obj => cluster({ webhooks });
const constraints = (change: Obj = {}): Obj => ({
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [rule],
  ...change,
});
const policy = (spec: Obj = {}): Obj =>
  cluster({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: constraints(),
      validations: [{ expression: 'object.spec.replicas < 5' }],
      ...spec,
    },
  });
const mutatingPolicy = (spec: Obj = {}): Obj =>
  cluster({
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: constraints(),
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
      ...spec,
    },
  });
const binding = (spec: Obj = {}): Obj =>
  cluster({ spec: { policyName: 'p', validationActions: ['Deny'], ...spec } });
const driver = (spec: Obj = {}): Obj =>
  cluster({
    spec: {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      seLinuxMount: false,
      ...spec,
    },
  });
const csiNode = (driverChange: Obj = {}): Obj =>
  cluster({
    spec: { drivers: [{ name: 'd.example.com', nodeID: 'n', topologyKeys: ['zone'], ...driverChange }] },
  });
const attachment = (spec: Obj = {}, status: Obj = {}): Obj =>
  cluster({
    spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' }, ...spec },
    status,
  });
const ipAddress = (name: string, parentRef: Obj | undefined): Obj =>
  cluster({ spec: { ...(parentRef && { parentRef }) } }, name);
const parent = { resource: 'services', namespace: 'default', name: 'web' };
const serviceCidr = (...cidrs: string[]): Obj => cluster({ spec: { cidrs } });
const apiService = (spec: Obj = {}, name = 'v1.example.com'): Obj =>
  cluster(
    {
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, ...spec },
    },
    name,
  );
const flowRule = (change: Obj = {}): Obj => ({
  subjects: [{ kind: 'User', user: { name: 'u' } }],
  nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
  ...change,
});
const flowSchema = (spec: Obj = {}, name = 'x'): Obj =>
  cluster(
    {
      spec: {
        priorityLevelConfiguration: { name: 'global-default' },
        matchingPrecedence: 1000,
        rules: [flowRule()],
        ...spec,
      },
    },
    name,
  );
const level = (limited: Obj = {}): Obj =>
  cluster({
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 30,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        ...limited,
      },
    },
  });

test.each<[string, string, Obj]>([
  ['ValidatingWebhookConfiguration', ADMISSION, hooks(hook(), hook({ name: 'b.example.com' }))],
  ['MutatingWebhookConfiguration', ADMISSION, hooks(hook({ reinvocationPolicy: 'IfNeeded' }))],
  ['ValidatingAdmissionPolicy', ADMISSION, policy({ variables: [{ name: 'a', expression: '1' }] })],
  ['ValidatingAdmissionPolicyBinding', ADMISSION, binding({ validationActions: ['Warn', 'Audit'] })],
  ['MutatingAdmissionPolicy', ADMISSION, mutatingPolicy()],
  ['MutatingAdmissionPolicyBinding', ADMISSION, cluster({ spec: { policyName: 'p' } })],
  ['CSIDriver', STORAGE, driver({ fsGroupPolicy: 'File', volumeLifecycleModes: ['Ephemeral'] })],
  ['CSINode', STORAGE, csiNode({ allocatable: { count: 3 } })],
  ['CSIStorageCapacity', STORAGE, namespaced({ storageClassName: 'fast', capacity: '1Gi' })],
  ['VolumeAttachment', STORAGE, attachment()],
  ['VolumeAttributesClass', STORAGE, cluster({ driverName: 'd.example.com', parameters: { iops: '1' } })],
  ['IPAddress', NETWORKING, ipAddress('10.0.0.1', parent)],
  ['IPAddress', NETWORKING, ipAddress('2001:db8::1', parent)],
  ['ServiceCIDR', NETWORKING, serviceCidr('10.0.0.0/16', 'fd00::/112')],
  ['APIService', AGGREGATION, apiService()],
  ['FlowSchema', FLOW, flowSchema()],
  ['PriorityLevelConfiguration', FLOW, level()],
])('a good %s passes', (kind, group, object) => {
  expect(created(kind, group, object)).toEqual([]);
});

const DNS = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";

test.each<[string, string, Obj, readonly string[]]>([
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ name: 'short.name' })),
    [
      'webhooks[0].name: Invalid value: "short.name": should be a domain with at least three segments separated by dots',
    ],
  ],
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook(), hook()),
    ['webhooks[1].name: Duplicate value: "a.example.com"'],
  ],
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ sideEffects: 'Some' })),
    ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  ],
  [
    'MutatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ sideEffects: undefined, timeoutSeconds: 31 })),
    [
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    ],
  ],
  [
    'MutatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ admissionReviewVersions: ['v9'] })),
    ['webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1'],
  ],
  [
    'MutatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ clientConfig: {} })),
    ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
  ],
  [
    'MutatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ clientConfig: { url: 'http://a@h/p?q#f' } })),
    [
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].clientConfig.url: Invalid value: "a": user information is not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
    ],
  ],
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ rules: [{ ...rule, operations: ['*', 'CREATE'] }] })),
    [
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    ],
  ],
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ rules: [{ ...rule, resources: ['pods/*', 'pods/log'] }] })),
    [
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
    ],
  ],
  [
    'ValidatingWebhookConfiguration',
    ADMISSION,
    hooks(hook({ matchConditions: [{ name: '', expression: ' ' }] })),
    [
      'webhooks[0].matchConditions[0].expression: Required value',
      'webhooks[0].matchConditions[0].name: Required value',
    ],
  ],
  [
    'ValidatingAdmissionPolicy',
    ADMISSION,
    policy({ validations: [] }),
    [
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ],
  ],
  [
    'ValidatingAdmissionPolicy',
    ADMISSION,
    policy({ matchConstraints: constraints({ resourceRules: [] }) }),
    ['spec.matchConstraints.resourceRules: Required value'],
  ],
  [
    'ValidatingAdmissionPolicy',
    ADMISSION,
    policy({ variables: [{ name: 'in', expression: '' }] }),
    [
      'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
      'spec.variables[0].expression: Required value: expression is not specified',
    ],
  ],
  [
    'ValidatingAdmissionPolicy',
    ADMISSION,
    policy({ validations: [{ expression: 'true', message: 'a\nb', reason: 'Gone' }] }),
    [
      'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
      'spec.validations[0].reason: Unsupported value: "Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    ADMISSION,
    binding({ policyName: '', validationActions: ['Deny', 'Warn'] }),
    [
      'spec.policyName: Required value',
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    ADMISSION,
    binding({ paramRef: { name: 'a', selector: {} } }),
    [
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.parameterNotFoundAction: Required value',
    ],
  ],
  [
    'MutatingAdmissionPolicy',
    ADMISSION,
    mutatingPolicy({ mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'x' } }] }),
    [
      'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    ],
  ],
  [
    'CSIDriver',
    STORAGE,
    driver({
      fsGroupPolicy: 'Bad',
      tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }],
    }),
    [
      'spec.fsGroupPolicy: Unsupported value: "Bad": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
    ],
  ],
  [
    'CSINode',
    STORAGE,
    csiNode({ nodeID: '', allocatable: { count: -1 } }),
    [
      'spec.drivers[0].nodeID: Required value',
      'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    'VolumeAttachment',
    STORAGE,
    attachment({ source: {} }),
    ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'VolumeAttachment',
    STORAGE,
    attachment({
      source: {
        inlineVolumeSpec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/' },
        },
      },
    }),
    [
      'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
      'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
    ],
  ],
  [
    'VolumeAttributesClass',
    STORAGE,
    cluster({ driverName: 'd.example.com' }),
    ['parameters: Required value: must contain at least one key/value pair'],
  ],
  [
    'IPAddress',
    NETWORKING,
    ipAddress('010.0.0.1', parent),
    [
      'metadata.name: Invalid value: "010.0.0.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    'IPAddress',
    NETWORKING,
    ipAddress('2001:DB8:0::1', { ...parent, name: '' }),
    [
      'metadata.name: Invalid value: "2001:DB8:0::1": must be in canonical form ("2001:db8::1")',
      'spec.parentRef.name: Required value',
    ],
  ],
  ['IPAddress', NETWORKING, ipAddress('10.0.0.1', undefined), ['spec.parentRef: Required value']],
  ['ServiceCIDR', NETWORKING, serviceCidr(), ['spec.cidrs: Required value: at least one CIDR required']],
  [
    'ServiceCIDR',
    NETWORKING,
    serviceCidr('10.0.0.1/16'),
    ['spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length'],
  ],
  [
    'ServiceCIDR',
    NETWORKING,
    serviceCidr('10.0.0.0/16', '10.1.0.0/16'),
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
  [
    'APIService',
    AGGREGATION,
    apiService({}, 'wrong'),
    ['metadata.name: Invalid value: "wrong": must be `spec.version+"."+spec.group`: "v1.example.com"'],
  ],
  [
    'APIService',
    AGGREGATION,
    apiService({ groupPriorityMinimum: 0, insecureSkipTLSVerify: true, caBundle: 'QUJD' }),
    [
      'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
      'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
  ],
  [
    'FlowSchema',
    FLOW,
    flowSchema({ matchingPrecedence: 1, priorityLevelConfiguration: {} }),
    [
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
    ],
  ],
  [
    'FlowSchema',
    FLOW,
    flowSchema({ rules: [flowRule({ subjects: [{ kind: 'Group', user: { name: 'u' } }] })] }),
    [
      "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
      "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
    ],
  ],
  [
    'FlowSchema',
    FLOW,
    flowSchema({
      rules: [flowRule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['a', '/a*'] }] })],
    }),
    [
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a*": wildcard can only do suffix matching',
    ],
  ],
  [
    'PriorityLevelConfiguration',
    FLOW,
    level({ limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 65, queueLengthLimit: 0 } } }),
    [
      'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive',
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)',
    ],
  ],
  [
    'PriorityLevelConfiguration',
    FLOW,
    level({ limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 11, queueLengthLimit: 5 } } }),
    [
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 11: required entropy bits of deckSize 64 and handSize 11 should not be greater than 60',
    ],
  ],
  [
    'PriorityLevelConfiguration',
    FLOW,
    cluster({ spec: { type: 'Exempt', limited: {} } }),
    [
      "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
      'spec.limited: Forbidden: must be nil if the type is not Limited',
    ],
  ],
])('an invalid %s is rejected with its error', (kind, group, object, expected) => {
  expect(created(kind, group, object)).toEqual(expected);
});

test('the name of an attacher is a domain', () => {
  const [only, ...more] = created('VolumeAttachment', STORAGE, attachment({ attacher: 'A_b' }));
  expect(more).toEqual([]);
  expect(only).toContain(`spec.attacher: Invalid value: "A_b": ${DNS}`);
});

test('mandatory flow schemas and priority levels keep their spec', () => {
  const catchAll = flowSchema({ matchingPrecedence: 10_000 }, 'catch-all');
  expect(created('FlowSchema', FLOW, catchAll).at(-1)).toMatch(
    /spec of 'catch-all' must equal the fixed value$/,
  );
  const exempt = cluster({ spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 5 } } }, 'exempt');
  expect(created('PriorityLevelConfiguration', FLOW, exempt)).toEqual([]);
});

test.each<[string, string, string, Obj, Obj, readonly string[]]>([
  [
    'the spec of an attachment stays',
    'VolumeAttachment',
    STORAGE,
    attachment({ nodeName: 'm' }),
    attachment(),
    [
      'spec: Invalid value: {"attacher":"d.example.com","nodeName":"m","source":{"persistentVolumeName":"pv"}}: field is immutable',
    ],
  ],
  [
    'the limits of a driver may move',
    'CSINode',
    STORAGE,
    csiNode({ allocatable: { count: 9 } }),
    csiNode(),
    [],
  ],
  [
    'a driver may not change whether it attaches',
    'CSIDriver',
    STORAGE,
    driver({ attachRequired: false }),
    driver(),
    ['spec.attachedRequired: Invalid value: false: field is immutable'],
  ],
  [
    'the parameters of a class stay',
    'VolumeAttributesClass',
    STORAGE,
    cluster({ driverName: 'd.example.com', parameters: { iops: '2' } }),
    cluster({ driverName: 'd.example.com', parameters: { iops: '1' } }),
    ['parameters: Forbidden: updates to parameters are forbidden.'],
  ],
  [
    'a range of the other family may join',
    'ServiceCIDR',
    NETWORKING,
    serviceCidr('10.0.0.0/16', 'fd00::/112'),
    serviceCidr('10.0.0.0/16'),
    [],
  ],
  [
    'a range may not be exchanged',
    'ServiceCIDR',
    NETWORKING,
    serviceCidr('10.1.0.0/16'),
    serviceCidr('10.0.0.0/16'),
    ['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable'],
  ],
])('%s', (_claim, kind, group, object, before, expected) => {
  expect(updated(kind, group, object, before)).toEqual(expected);
});

test.each<[string, Obj]>([
  ['side effects', { sideEffects: 'Unknown' }],
  ['a version nobody speaks', { admissionReviewVersions: ['v9'] }],
  [
    'a selector with a value that is none',
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] } },
  ],
  ['a condition without a name', { matchConditions: [{ name: '', expression: 'true' }] }],
])('a stored webhook with %s may stay so, a new one may not have it', (_what, change) => {
  const kind = 'ValidatingWebhookConfiguration';
  const old = hooks(hook(change));
  expect(created(kind, ADMISSION, old)).not.toEqual([]);
  expect(updated(kind, ADMISSION, hooks(hook({ ...change, timeoutSeconds: 5 })), old)).toEqual([]);
  expect(updated(kind, ADMISSION, old, hooks(hook()))).not.toEqual([]);
});

test('events of the younger group are held to more than those of the older', () => {
  const event = {
    metadata: { name: 'a', namespace: 'ns' },
    involvedObject: { namespace: 'other' },
    type: 'Odd',
    count: 1,
  };
  expect(texts(eventErrors(event, false))).toEqual([
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ]);
  expect(texts(eventErrors(event, true)).slice(1)).toEqual([
    'eventTime: Required value',
    'type: Invalid value: "": has invalid value: Odd',
    'count: Invalid value: "": needs to be unset',
  ]);
  const timed = { ...event, involvedObject: { namespace: 'ns' }, eventTime: '2026-01-01T00:00:00.000000Z' };
  expect(texts(eventErrors(timed, false)).filter((text) => text.endsWith('Required value'))).toEqual(
    ['reportingComponent', 'reportingInstance', 'action', 'reason'].map((name) => `${name}: Required value`),
  );
  const changed = { ...timed, metadata: { ...timed.metadata, resourceVersion: '1' }, reason: 'b' };
  expect(texts(eventUpdateErrors(changed, timed, true))).toContain(
    'reason: Invalid value: "b": field is immutable',
  );
});
