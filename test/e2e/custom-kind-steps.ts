import { expect } from 'vitest';
import type { ConsolePlane } from '../support/console-plane.ts';
import { until } from '../support/until.ts';

/** A custom kind, and a policy of each sort that has a say about it. */

const COMPLETION_PAUSE_MS = 3_000;

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
          serial: { type: 'integer', format: 'int64' },
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

/** The details of the definition tell which versions are served, stored and deprecated. */
const seeVersions = async ({ page, go }: ConsolePlane): Promise<void> => {
  await go('/cluster?kind=customresourcedefinitions.apiextensions.k8s.io&open=/toys.toys.example.com');
  const versions = page.getByRole('complementary').getByRole('region', { name: 'Versions', exact: true });
  await versions.getByRole('row', { name: 'v1 Yes Yes – –', exact: true }).waitFor();
  await versions.getByRole('row', { name: 'v1alpha1 No No – use v1', exact: true }).waitFor();
};

/** The editor knows the fields of a custom kind and what they mean, and leaves the digits of its integers alone. */
export const editToy = async (plane: ConsolePlane): Promise<void> => {
  const { page, go, client } = plane;
  await seeVersions(plane);
  const serial = '9007199254740993';
  await client.text({
    method: 'PATCH',
    path: `${TOYS}/first`,
    contentType: 'application/merge-patch+json',
    body: `{"spec":{"serial":${serial}}}`,
  });
  await go('/editor?kind=toys.toys.example.com&open=default/first');
  await page.locator('.view-line').filter({ hasText: serial }).waitFor();
  await page.locator('.view-line').filter({ hasText: 'color' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Control+Shift+ArrowLeft');
  await page.keyboard.type('r');
  const red = page.locator('.suggest-widget').getByText('red', { exact: true });
  await until('the values of the schema', async () => {
    if (await red.isVisible()) return true;
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Space');
    return red.waitFor({ timeout: COMPLETION_PAUSE_MS }).then(() => true);
  });
  await page.keyboard.press('Tab');
  await page.locator('.view-line').filter({ hasText: 'color' }).getByText('color').hover();
  await page.locator('.monaco-hover').getByText('Of the paint.').waitFor();
  await page.keyboard.press('F5');
  await page.getByRole('radio', { name: /Take ownership/ }).click();
  await page.getByRole('cell', { name: 'red', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Apply 1 document' }).click();
  await page.getByText('Took ownership of 1 field').first().waitFor();
  expect(await client.text({ method: 'GET', path: `${TOYS}/first` })).toContain(
    `"spec":{"color":"red","serial":${serial}}`,
  );
};
