import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatewayManifest, largeDefinition } from './chart-shapes.ts';
import { isBuilt, openKubectlCluster, type KubectlCluster, type Terminal } from './kubectl-cluster.ts';

/** Custom resources as people meet them: with kubectl, at three API servers that learn of them on their own. */
const OCTET = 143;

const WIDGETS = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [toys]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Color, type: string, jsonPath: .spec.color, description: Which color it has.}
    selectableFields:
    - {jsonPath: .spec.color}
    schema:
      openAPIV3Schema:
        type: object
        description: Something that people make.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              color: {type: string, enum: [red, green], default: red}
              replicas: {type: integer, default: 1}
              parts:
                type: array
                maxItems: 10
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string, maxLength: 20}
                    weight: {type: integer}
            x-kubernetes-validations:
            - {rule: "self.size <= 50 || self.color == 'green'", message: large widgets must be green}
          status:
            type: object
            properties: {replicas: {type: integer}}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;

const widget = (name: string, spec: string, version = 'v1'): string =>
  `{"apiVersion":"example.com/${version}","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;

let cluster: KubectlCluster;

describe.skipIf(!isBuilt)('custom resources with kubectl', () => {
  beforeAll(async () => {
    cluster = await openKubectlCluster({ etcd: 'pilothouse', members: 1, apiServers: 3, octet: OCTET });
  });
  afterAll(() => cluster.close());

  const terminal = (minor: number, namespace: string): Promise<Terminal> =>
    cluster.terminal(minor, namespace);

  test('a definition is established and used through every server without a restart', async () => {
    const { run, rows, start, eventually } = await terminal(36, 'custom');
    expect(await run('apply -f -', WIDGETS)).toBe(
      'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created',
    );
    expect(await run('wait --for=condition=Established crd/widgets.example.com --timeout=30s')).toBe(
      'customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met',
    );
    for (const name of ['a', 'b', 'c'])
      expect(await run('create -f -', widget(name, '{"size":3}'))).toBe(`widget.example.com/${name} created`);
    expect(await rows('get wd')).toEqual([
      ['NAME', 'SIZE', 'COLOR'],
      ['a', '3', 'red'],
      ['b', '3', 'red'],
      ['c', '3', 'red'],
    ]);
    expect(await run('get toys -o name')).toBe(
      ['a', 'b', 'c'].map((name) => `widget.example.com/${name}`).join('\n'),
    );

    const watching = start('get widgets -w --no-headers');
    await watching.until((text) => /^c\b/m.test(text));
    expect(await run(`patch widget a --type=merge -p '{"spec":{"color":"green"}}'`)).toBe(
      'widget.example.com/a patched',
    );
    await watching.until((text) => /^a\s+3\s+green/m.test(text));
    await watching.stop();
    expect(await run('get widgets --field-selector=spec.color=green -o name')).toBe('widget.example.com/a');

    expect(await run('create -f -', widget('d', '{"size":60}'))).toBe(
      'The Widget "d" is invalid: spec: Invalid value: large widgets must be green\n[exit 1]',
    );
    const unknown = await run('create --validate=strict -f -', widget('d', '{"size":6,"odd":1}'));
    expect(unknown).toContain('strict decoding error: unknown field "spec.odd"');

    const explained = await eventually('explain widget.spec.size', (text) =>
      text.includes('How large it is.'),
    );
    expect(explained).toContain('FIELD: size <integer>');
    expect(await run('explain widget.spec --recursive')).toMatch(
      /\n {2}parts\s+<\[\]Object>\n {4}name\s+<string>/,
    );

    const apply = (manager: string, parts: string): Promise<string> =>
      run(`apply --server-side --field-manager=${manager} -f -`, widget('e', `{"size":1,"parts":${parts}}`));
    expect(await apply('one', '[{"name":"x","weight":1}]')).toBe('widget.example.com/e serverside-applied');
    expect(await apply('two', '[{"name":"y","weight":2}]')).toBe('widget.example.com/e serverside-applied');
    expect(await run(`get widget e -o 'jsonpath={.spec.parts[*].name}'`)).toBe('x y');

    expect(await run('scale widget e --replicas=4')).toBe('widget.example.com/e scaled');
    expect(await run(`get widget e -o 'jsonpath={.spec.replicas}'`)).toBe('4');
    expect(await run(`get widgets.v1beta1.example.com a -o 'jsonpath={.apiVersion} {.spec.color}'`)).toBe(
      'example.com/v1beta1 green',
    );
  });

  test('client-side apply and explain of an old kubectl work on them, too', async () => {
    const { run, eventually } = await terminal(20, 'custom-old');
    await eventually('explain widget.spec.size', (text) => text.includes('How large it is.'));
    expect(await run('apply -f -', widget('old', '{"size":3}'))).toBe('widget.example.com/old created');
    expect(await run('apply -f -', widget('old', '{"size":4}'))).toBe('widget.example.com/old configured');
    expect(await run('get widget old --no-headers')).toMatch(/^old\s+4\s+red$/);
  });

  test('a definition of more than a megabyte with hundreds of fields and many rules is taken', async () => {
    const { run } = await terminal(36, 'large');
    const text = JSON.stringify(largeDefinition());
    expect(text.length).toBeGreaterThan(1_400_000);
    expect(await run('create -f -', text)).toBe(
      'customresourcedefinition.apiextensions.k8s.io/prometheuss.monitoring.example.com created',
    );
    const giant = (value: string): string =>
      `{"apiVersion":"monitoring.example.com/v1","kind":"Prometheus","metadata":{"name":"g"},"spec":{"mode":"mode-1","names":["${value}"]}}`;
    expect(
      await run('wait --for=condition=Established crd/prometheuss.monitoring.example.com --timeout=60s'),
    ).toContain('condition met');
    expect(await run('create --validate=false -f -', giant('UPPER'))).toContain(
      'mode-1 needs names that fit it',
    );
    expect(await run('create --validate=false -f -', giant('lower-1'))).toBe(
      'prometheus.monitoring.example.com/g created',
    );
  });

  test.each([36, 20])(
    'gateways with kilobytes of rules and a policy are applied by kubectl 1.%i',
    async (minor) => {
      const { run } = await terminal(minor, `gateways-${minor}`);
      const applied = await run('apply -f -', JSON.stringify(gatewayManifest()));
      expect(applied.split('\n').map((line) => line.split(' ')[1])).toEqual(
        // An old kubectl sends a list again to which the server has added defaults.
        minor === 36
          ? Array.from({ length: 4 }, () => 'created')
          : ['unchanged', 'unchanged', 'configured', 'unchanged'],
      );
      expect(
        await run('wait --for=condition=Established crd/routes.gateways.example.com --timeout=30s'),
      ).toContain('condition met');
      const route = (spec: string): string =>
        `{"apiVersion":"gateways.example.com/v1beta1","kind":"Route","metadata":{"name":"r"},"spec":${spec}}`;
      expect(await run('apply -f -', route('{"mode":"mode-7","names":["abc-8"]}'))).toContain(
        'mode-7 needs names that fit it',
      );
      expect(await run('apply -f -', route('{"mode":"mode-7","names":["abc-7"]}'))).toBe(
        'route.gateways.example.com/r created',
      );
      expect(await run('annotate crd routes.gateways.example.com experimental=1')).toContain(
        'experimental definitions are not installed over standard ones',
      );
    },
  );

  test('a definition that is deleted takes its objects along, on every server', async () => {
    const { run, eventually } = await terminal(36, 'cleanup');
    expect(await run('delete crd widgets.example.com prometheuss.monitoring.example.com --timeout=60s')).toBe(
      'customresourcedefinition.apiextensions.k8s.io "widgets.example.com" deleted\n' +
        'customresourcedefinition.apiextensions.k8s.io "prometheuss.monitoring.example.com" deleted',
    );
    for (let turn = 0; turn < 3; turn += 1)
      await eventually('get --raw /apis/example.com/v1', (text) =>
        text.includes('could not find the requested resource'),
      );
  });
});
