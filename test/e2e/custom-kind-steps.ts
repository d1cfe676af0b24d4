/** A custom kind, and a policy of each sort that has a say about it. */

const GROUP = 'toys.example.com';
const SCHEMA = {
  openAPIV3Schema: {
    type: 'object',
    description: 'Something to play with.',
    properties: {
      spec: {
        type: 'object',
        properties: {
          color: { type: 'string', enum: ['red', 'green'], description: 'Of the paint.' },
        },
      },
    },
  },
};
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const TOYS = `/apis/${GROUP}/v1/namespaces/default/toys`;

export const TOY_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `toys.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'toys', singular: 'toy', kind: 'Toy' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
        schema: SCHEMA,
      },
      {
        name: 'v1alpha1',
        served: false,
        storage: false,
        deprecated: true,
        deprecationWarning: 'use v1',
        schema: SCHEMA,
      },
    ],
  },
};

export const toy = (name: string, color: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Toy',
  metadata: { name, namespace: 'default' },
  spec: { color },
});

const rule = { operations: ['CREATE'], apiGroups: [GROUP], apiVersions: ['v1'], resources: ['toys'] };
const policy = (type: string, name: string, spec: object): readonly (readonly [string, object])[] => {
  const path = `/apis/admissionregistration.k8s.io/v1/${type.toLowerCase()}admissionpolic`;
  const head = (kind: string): object => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}AdmissionPolicy${kind}`,
    metadata: { name },
  });
  return [
    [`${path}ies`, { ...head(''), spec: { matchConstraints: { resourceRules: [rule] }, ...spec } }],
    [
      `${path}ybindings`,
      {
        ...head('Binding'),
        spec: { policyName: name, ...(type === 'Validating' && { validationActions: ['Deny'] }) },
      },
    ],
  ];
};

/** Paths and bodies, in the order in which they are created. */
export const TOY_POLICIES = [
  ...policy('Mutating', 'label-toys', {
    reinvocationPolicy: 'Never',
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'toy': 'yes'}}}" },
      },
    ],
  }),
  ...policy('Validating', 'no-red-toys', {
    validations: [{ expression: "object.spec.color != 'red'", message: 'red toys are not allowed' }],
  }),
];
