import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startTestWebhook, type TestWebhook } from '../../core/apiserver/webhook/testing/webhook-server.ts';

/** Charts as large and as odd as those that people install, generated: nothing of theirs is copied. */

type Schema = Record<string, unknown>;

const SENTENCE =
  'What this field is for, told at length, as generated reference documentation tells it to readers. ';

/** Types as they alternate in schemas that are generated from Go. */
const leaf = (at: number): Schema => {
  const description = SENTENCE.repeat(1 + (at % 4));
  switch (at % 6) {
    case 0:
      return { type: 'string', description, maxLength: 63, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' };
    case 1:
      return { type: 'integer', format: 'int32', description, minimum: 0, default: at };
    case 2:
      return {
        description,
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
      };
    case 3:
      return {
        type: 'array',
        description,
        maxItems: 16,
        'x-kubernetes-list-type': 'set',
        items: { type: 'string', maxLength: 64 },
      };
    case 4:
      return {
        type: 'object',
        description,
        additionalProperties: { type: 'string' },
        'x-kubernetes-map-type': 'atomic',
      };
    default:
      return { type: 'boolean', description, nullable: true };
  }
};

/** An object of so many fields on each of so many levels; every tenth level-one field has a rule. */
const tree = (fields: number, levels: number): Schema => ({
  type: 'object',
  description: SENTENCE,
  properties: Object.fromEntries(
    Array.from({ length: fields }, (_unused, at) => [
      `${'abcdef'[levels]}${at}`,
      levels > 0 && at % 4 === 0 ? tree(fields, levels - 1) : leaf(at),
    ]),
  ),
});

/** Kilobytes of rules, within the cost that a schema may have. */
const rules = (count: number): object[] =>
  Array.from({ length: count }, (_unused, at) => ({
    rule: `!has(self.mode) || self.mode != 'mode-${at}' || (has(self.names) && self.names.all(n, n.size() > ${at % 5} && !n.startsWith('reserved-${at}')) && self.names.exists(n, n.matches('^[a-z]+-${at}$')))`,
    message: `mode-${at} needs names that fit it`,
  }));

interface KindOptions {
  readonly group: string;
  readonly kind: string;
  readonly spec: Schema;
  readonly versions?: readonly string[];
  readonly conversion?: object;
}

const definition = ({ group, kind, spec, versions = ['v1'], conversion }: KindOptions): object => {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${singular}s.${group}`,
      annotations: { 'controller-gen.kubebuilder.io/version': 'v0.16.1' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        listKind: `${kind}List`,
        categories: [group.split('.')[0]],
      },
      ...(conversion && { conversion }),
      versions: versions.map((name, at) => ({
        name,
        served: true,
        storage: at === 0,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Mode', type: 'string', jsonPath: '.spec.mode' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              metadata: { type: 'object' },
              spec,
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      })),
    },
  };
};

const specOf = (schema: Schema, ruleCount: number): Schema => ({
  ...schema,
  properties: {
    ...(schema['properties'] as Schema),
    mode: { type: 'string', maxLength: 20 },
    names: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 30 } },
  },
  ...(ruleCount > 0 && { 'x-kubernetes-validations': rules(ruleCount) }),
});

/** Monitoring: ten definitions, one of them of 1.4 MB, in `crds/`, and objects of them. */
export const MONITORING = 'monitoring.example.com';
export const largeDefinition = (): object =>
  definition({ group: MONITORING, kind: 'Prometheus', spec: specOf(tree(40, 2), 12) });

const object = (apiVersion: string, kind: string, name: string, spec: object): object => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

const monitoringChart = (): Record<string, string> => ({
  'crds/prometheus.json': JSON.stringify(largeDefinition()),
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_unused, at) => [
      `crds/kind${at}.json`,
      JSON.stringify(
        definition({ group: MONITORING, kind: `Monitor${'abcdefghi'[at]}`, spec: specOf(tree(30, 1), 5) }),
      ),
    ]),
  ),
  'templates/objects.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      object(`${MONITORING}/v1`, 'Prometheus', '{{ .Release.Name }}', {
        mode: 'mode-3',
        names: ['abc-3', 'abcd-9'],
      }),
      ...Array.from({ length: 9 }, (_unused, at) =>
        object(`${MONITORING}/v1`, `Monitor${'abcdefghi'[at]}`, `{{ .Release.Name }}-${at}`, {
          b2: '10%',
          b3: ['x'],
        }),
      ),
    ],
  }),
});

/** Certificates: definitions among the templates, two versions with a conversion webhook, webhooks and a policy. */
export const CERTIFICATES = 'certificates.example.com';
const certificateChart = (): Record<string, string> => {
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { url: '{{ .Values.webhook.url }}', caBundle: '{{ .Values.webhook.caBundle }}' },
    },
  };
  const rule = {
    operations: ['CREATE', 'UPDATE'],
    apiGroups: [CERTIFICATES],
    apiVersions: ['*'],
    resources: ['*/*'],
  };
  const webhook = (name: string): object => ({
    name: `${name}.certificates.example.com`,
    rules: [rule],
    // Nothing runs here that could answer.
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 1,
    clientConfig: { service: { name: '{{ .Release.Name }}-webhook', namespace: 'default', path: '/mutate' } },
  });
  return {
    'values.yaml': 'webhook: {url: "", caBundle: ""}\nobjects: false\n',
    'templates/definitions.json': JSON.stringify(
      definition({
        group: CERTIFICATES,
        kind: 'Certificate',
        versions: ['v1', 'v1beta1'],
        spec: specOf(tree(30, 1), 20),
        conversion,
      }),
    ),
    'templates/admission.yaml': [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: '{{ .Release.Name }}' },
        webhooks: [webhook('validate')],
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: '{{ .Release.Name }}' },
        spec: {
          matchConstraints: { resourceRules: [rule] },
          validations: [{ expression: "object.metadata.name != 'forbidden'", message: 'not this name' }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: '{{ .Release.Name }}' },
        spec: { policyName: '{{ .Release.Name }}', validationActions: ['Deny'] },
      },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: '{{ .Release.Name }}' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: '{{ .Release.Name }}' },
        rules: [{ apiGroups: [CERTIFICATES], resources: ['*'], verbs: ['*'] }],
      },
    ]
      .map((one) => JSON.stringify(one))
      .join('\n---\n'),
    'templates/objects.yaml': `{{- if .Values.objects }}\n${JSON.stringify(
      object(`${CERTIFICATES}/v1beta1`, 'Certificate', '{{ .Release.Name }}', { mode: 'plain' }),
    )}\n{{- end }}\n`,
  };
};

/** Applications whose generators nest in each other, without a bound in the schema below the third level. */
export const DELIVERY = 'delivery.example.com';
const deliveryChart = (): Record<string, string> => {
  const generators = (levels: number): Schema => ({
    type: 'array',
    items: {
      type: 'object',
      properties: {
        list: tree(12, 0),
        git: tree(12, 0),
        selector: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        ...(levels > 0 && { matrix: { type: 'object', properties: { generators: generators(levels - 1) } } }),
        ...(levels === 0 && { merge: { 'x-kubernetes-preserve-unknown-fields': true } }),
      },
    },
  });
  return {
    'crds/applications.json': JSON.stringify(
      definition({ group: DELIVERY, kind: 'Application', spec: specOf(tree(40, 1), 0) }),
    ),
    'crds/applicationsets.json': JSON.stringify(
      definition({
        group: DELIVERY,
        kind: 'ApplicationSet',
        spec: {
          type: 'object',
          properties: { mode: { type: 'string' }, generators: generators(6), template: tree(40, 1) },
        },
      }),
    ),
    'templates/objects.json': JSON.stringify(
      object(`${DELIVERY}/v1`, 'ApplicationSet', '{{ .Release.Name }}', {
        mode: 'nested',
        generators: [{ matrix: { generators: [{ git: { a0: 'main' } }, { list: { a3: ['x', 'y'] } }] } }],
      }),
    ),
  };
};

export type ChartName = 'monitoring' | 'certificates' | 'delivery';
const CHARTS: Readonly<Record<ChartName, () => Record<string, string>>> = {
  monitoring: monitoringChart,
  certificates: certificateChart,
  delivery: deliveryChart,
};

/** Writes a chart into a folder of its own, and says where. */
export const writeChart = (name: ChartName): string => {
  const folder = mkdtempSync(join(tmpdir(), `pilothouse-${name}-`));
  const files = { 'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 0.1.0\n`, ...CHARTS[name]() };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
};

/** Gateways: three versions, rules by the kilobyte, and a policy that guards the definitions themselves. */
export const GATEWAYS = 'gateways.example.com';
export const gatewayManifest = (): object => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ...['Gateway', 'Route'].map((kind) =>
      definition({
        group: GATEWAYS,
        kind,
        versions: ['v1', 'v1beta1', 'v1alpha2'],
        spec: specOf(tree(16, 1), 30),
      }),
    ),
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'safe-upgrades' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['apiextensions.k8s.io'],
              apiVersions: ['v1'],
              resources: ['customresourcedefinitions'],
              operations: ['CREATE', 'UPDATE'],
            },
          ],
        },
        validations: [
          {
            expression: `object.spec.group != '${GATEWAYS}' || !has(object.metadata.annotations) || !('experimental' in object.metadata.annotations)`,
            message: 'experimental definitions are not installed over standard ones',
          },
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'safe-upgrades' },
      spec: { policyName: 'safe-upgrades', validationActions: ['Deny'] },
    },
  ],
});

interface ConversionReview {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly { readonly spec: object }[];
  };
}

/** Converts by renaming the version, and says in the spec which way it went. */
export const startConversionWebhook = (): Promise<TestWebhook> =>
  startTestWebhook((body, response) => {
    const { apiVersion, request } = JSON.parse(body) as ConversionReview;
    const { uid, desiredAPIVersion, objects } = request;
    const convertedObjects = objects.map((one) => ({
      ...one,
      apiVersion: desiredAPIVersion,
      spec: { ...one.spec, names: [`for-${desiredAPIVersion.split('/')[1]}`] },
    }));
    const answer = { uid, result: { status: 'Success' }, convertedObjects };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ apiVersion, kind: 'ConversionReview', response: answer }));
  });
