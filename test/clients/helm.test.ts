import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pilothouse } from '../support/cluster.ts';
import type { KubernetesClient } from '../support/kubectl.ts';
import {
  CERTIFICATES,
  DELIVERY,
  MONITORING,
  startConversionWebhook,
  writeChart,
  type ChartName,
} from './chart-shapes.ts';
import { isBuilt, openKubectlCluster, type KubectlCluster } from './kubectl-cluster.ts';

const OCTET = 151;

/** No workloads: nothing here would make them ready. */
const TEMPLATES = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {image: "{{ .Values.image }}", namespace: "{{ (lookup "v1" "Namespace" "" "default").metadata.name }}"}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Release.Name }}"}
spec: {ports: [{port: {{ .Values.port }}}], selector: {app: demo}}
---
{{- if .Values.extra }}
apiVersion: v1
kind: Secret
metadata: {name: "{{ .Release.Name }}"}
stringData: {a: b}
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .Release.Name }}-hook"
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
data: {revision: "{{ .Release.Revision }}"}
`;

/** A chart in the shape of an operator's: definitions in crds/, objects of them among the templates. */
const definition = (kind: string): string => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${kind.toLowerCase()}s.operator.example.com}
spec:
  group: operator.example.com
  scope: Namespaced
  names: {plural: ${kind.toLowerCase()}s, singular: ${kind.toLowerCase()}, kind: ${kind}, categories: [operator]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [secretName]
            properties:
              secretName: {type: string, minLength: 1, maxLength: 253}
              duration: {type: string, default: 2160h}
              dnsNames: {type: array, maxItems: 50, x-kubernetes-list-type: set, items: {type: string, maxLength: 253}}
              usages: {type: array, items: {type: string, enum: [signing, "server auth"]}}
            x-kubernetes-validations:
            - {rule: "!has(self.dnsNames) || self.dnsNames.all(n, !n.startsWith('-'))", message: names must not begin with a hyphen}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`;
const OPERATOR_TEMPLATES = `apiVersion: operator.example.com/v1
kind: Certificate
metadata: {name: "{{ .Release.Name }}"}
spec: {secretName: tls, dnsNames: {{ .Values.names | toJson }}}
---
apiVersion: operator.example.com/v1
kind: Issuer
metadata: {name: "{{ .Release.Name }}"}
spec: {secretName: ca}
`;

const VERSIONS = [
  { minor: 31, version: /^v3\.17\./, atomic: '--atomic' },
  { minor: 36, version: /^v4\./, atomic: '--rollback-on-failure' },
];

describe.skipIf(!isBuilt)('helm', () => {
  let cluster: KubectlCluster;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-chart-'));
    mkdirSync(join(folder, 'templates'));
    writeFileSync(
      join(folder, 'Chart.yaml'),
      'apiVersion: v2\nname: demo\nversion: 0.1.0\nappVersion: "1"\n',
    );
    writeFileSync(join(folder, 'values.yaml'), 'image: nginx:1\nport: 80\nextra: false\n');
    writeFileSync(join(folder, 'templates/all.yaml'), TEMPLATES);
    cluster = await openKubectlCluster({ etcd: 'pilothouse', members: 1, apiServers: 1, octet: OCTET });
  });

  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each(VERSIONS)('of the package of kubectl 1.$minor', ({ minor, version, atomic }) => {
    const release = `demo-${minor}`;
    let client: KubernetesClient;

    beforeAll(async () => {
      client = await cluster.client(minor);
    });

    const helm = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await client.helm(args);
      return `${stdout}${stderr}${code === 0 ? '' : `[exit ${code}]`}`.trimEnd();
    };
    const data = async (name: string): Promise<unknown> =>
      (await client.json<{ data: unknown }>('get', 'configmap', name)).data;
    const history = async (): Promise<[number, string, string][]> => {
      const { stdout } = await client.helm(['history', release, '-o', 'json']);
      const revisions = JSON.parse(stdout) as { revision: number; status: string; description: string }[];
      return revisions.map((one) => [one.revision, one.status, one.description]);
    };

    test('installs a chart with definitions and objects of them', async () => {
      const operator = mkdtempSync(join(tmpdir(), 'pilothouse-operator-'));
      for (const part of ['templates', 'crds']) mkdirSync(join(operator, part));
      writeFileSync(join(operator, 'Chart.yaml'), 'apiVersion: v2\nname: operator\nversion: 0.1.0\n');
      writeFileSync(join(operator, 'values.yaml'), 'names: [example.com]\n');
      writeFileSync(join(operator, 'crds/certificates.yaml'), definition('Certificate'));
      writeFileSync(join(operator, 'crds/issuers.yaml'), definition('Issuer'));
      writeFileSync(join(operator, 'templates/all.yaml'), OPERATOR_TEMPLATES);
      const name = `operator-${minor}`;
      expect(await helm('install', name, operator)).toMatch(/\nSTATUS: deployed\nREVISION: 1\n/);
      const { spec } = await client.json<{ spec: unknown }>('get', 'certificate', name);
      expect(spec).toEqual({ secretName: 'tls', dnsNames: ['example.com'], duration: '2160h' });
      expect(await helm('upgrade', name, operator, '--set', 'names={-x}')).toContain(
        'names must not begin with a hyphen',
      );
      expect(await helm('uninstall', name)).toContain(`release "${name}" uninstalled`);
      expect(await client.ok('get', 'operator', '-o', 'name')).toBe('');
      rmSync(operator, { recursive: true, force: true });
    });

    /** With the folder of its chart gone again. */
    const install = async (name: ChartName, ...args: readonly string[]): Promise<string> => {
      const chart = writeChart(name);
      try {
        return await helm('upgrade', '--install', `${name}-${minor}`, chart, ...args);
      } finally {
        rmSync(chart, { recursive: true, force: true });
      }
    };
    const modeOf = (resource: string, name: string): Promise<string> =>
      client.ok('get', resource, name, '-o=jsonpath={.spec.mode}');

    test('installs a monitoring stack with a definition of 1.4 MB and ten kinds', async () => {
      expect(await install('monitoring')).toMatch(/\nSTATUS: deployed\nREVISION: 1\n/);
      expect(await modeOf(`prometheuss.${MONITORING}`, `monitoring-${minor}`)).toBe('mode-3');
      expect((await client.ok('get', 'monitoring', '-o', 'name')).trim().split('\n')).toHaveLength(10);
      expect(
        await client.refusal(
          'patch',
          `prometheuss.${MONITORING}`,
          `monitoring-${minor}`,
          '--type=merge',
          '-p={"spec":{"mode":"mode-4"}}',
        ),
      ).toContain('mode-4 needs names that fit it');
      expect(await helm('uninstall', `monitoring-${minor}`)).toContain('uninstalled');
    });

    test('installs certificates with a conversion webhook, admission webhooks and a policy', async () => {
      const webhook = await startConversionWebhook();
      const { caBundle } = webhook;
      const values = ['--set', `webhook.url=${webhook.url('/convert')},webhook.caBundle=${caBundle}`];
      const name = `certificates-${minor}`;
      try {
        expect(await install('certificates', ...values)).toMatch(/\nSTATUS: deployed\n/);
        expect(await install('certificates', ...values, '--set=objects=true')).toContain('has been upgraded');
        const names = async (version: string): Promise<string> =>
          client.ok('get', `certificates.${version}.${CERTIFICATES}`, name, '-o=jsonpath={.spec.names}');
        // Written as v1beta1, stored as v1: read as v1 it is what conversion to v1 made, and back again.
        expect([await names('v1'), await names('v1beta1')]).toEqual(['["for-v1"]', '["for-v1beta1"]']);
        const { stderr } = await client.kubectl(['create', '-f', '-'], {
          input: `{"apiVersion":"${CERTIFICATES}/v1","kind":"Certificate","metadata":{"name":"forbidden"},"spec":{}}`,
        });
        expect(stderr).toContain('not this name');
        expect(await helm('uninstall', name)).toContain('uninstalled');
        await client.ok('wait', '--for=delete', `crd/certificates.${CERTIFICATES}`, '--timeout=100s');
      } finally {
        await webhook.close();
      }
    });

    test('installs applications whose generators nest', async () => {
      expect(await install('delivery')).toMatch(/\nSTATUS: deployed\nREVISION: 1\n/);
      expect(
        await client.ok(
          'get',
          `applicationsets.${DELIVERY}`,
          `delivery-${minor}`,
          '-o=jsonpath={.spec.generators[0].matrix.generators[*].git.a0}',
        ),
      ).toBe('main');
      expect(await helm('uninstall', `delivery-${minor}`)).toContain('uninstalled');
    });

    test('is the one that is meant', async () => {
      expect(await helm('version', '--short')).toMatch(version);
    });

    test('shows what it would install, as the server sees it', async () => {
      const shown = await helm('install', release, folder, '--dry-run=server');
      expect(shown).toContain('data: {image: "nginx:1", namespace: "default"}');
      expect(await helm('status', release)).toMatch(/^Error: release: not found\n\[exit 1\]$/);
    });

    test('installs, upgrades and rolls back', async () => {
      expect(await helm('install', release, folder)).toMatch(/\nSTATUS: deployed\nREVISION: 1\n/);
      expect(await data(release)).toEqual({ image: 'nginx:1', namespace: 'default' });
      expect(await data(`${release}-hook`)).toEqual({ revision: '1' });
      const upgraded = await helm('upgrade', release, folder, '--set', 'image=nginx:2,extra=true');
      expect(upgraded).toContain(`Release "${release}" has been upgraded. Happy Helming!`);
      expect(await data(release)).toEqual({ image: 'nginx:2', namespace: 'default' });
      expect(await data(`${release}-hook`)).toEqual({ revision: '2' });
      expect(await client.ok('get', 'secret', release, '-o', 'name')).toBe(`secret/${release}\n`);
      expect(await helm('rollback', release, '1')).toBe('Rollback was a success! Happy Helming!');
      expect(await data(release)).toEqual({ image: 'nginx:1', namespace: 'default' });
      expect(await client.refusal('get', 'secret', release)).toBe(
        `Error from server (NotFound): secrets "${release}" not found`,
      );
      expect(await history()).toEqual([
        [1, 'superseded', 'Install complete'],
        [2, 'superseded', 'Upgrade complete'],
        [3, 'deployed', 'Rollback to 1'],
      ]);
      expect(await helm('status', release)).toMatch(/\nSTATUS: deployed\nREVISION: 3\n/);
    });

    test('takes back an upgrade that is refused', async () => {
      const refused = await helm('upgrade', release, folder, atomic, '--timeout=200s', '--set', 'port=99999');
      expect(refused).toContain(
        'spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive',
      );
      expect(refused).toContain('has been rolled back due to');
      expect((await history()).map(([revision, status]) => [revision, status])).toEqual([
        [1, 'superseded'],
        [2, 'superseded'],
        [3, 'superseded'],
        [4, 'failed'],
        [5, 'deployed'],
      ]);
      expect(await data(release)).toEqual({ image: 'nginx:1', namespace: 'default' });
    });

    test('continues from a revision that pilothouse rolled back to', async () => {
      const ours = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await pilothouse(
          'helm',
          ...args,
          '--kubeconfig',
          client.kubeconfigPath,
        );
        return `${stdout}${stderr}${code === 0 ? '' : `[exit ${code}]`}`;
      };
      expect(await ours('list')).toMatch(new RegExp(`^default/${release} +5 +deployed .* demo-0.1.0`));
      expect(await ours('values', release, '--revision', '2')).toBe('extra: true\nimage: nginx:2\n');
      expect(await ours('diff', release, '1', '2')).toContain(
        '+ data: {image: "nginx:2", namespace: "default"}',
      );
      expect(await ours('rollback', release, '2', '--dry-run')).toContain(
        `ConfigMap default/${release} applied (dry run)`,
      );
      expect(await ours('rollback', release, '2')).toContain('revision 6');
      expect(await data(release)).toEqual({ image: 'nginx:2', namespace: 'default' });
      expect(await ours('status', release)).toContain(`ok           Secret default/${release}`);
      expect((await history()).slice(-2)).toEqual([
        [5, 'superseded', expect.any(String)],
        [6, 'deployed', 'Rollback to 2'],
      ]);
    });

    test('lists and uninstalls', async () => {
      const { stdout } = await client.helm(['list', '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject([
        { name: release, namespace: 'default', revision: '6', status: 'deployed', chart: 'demo-0.1.0' },
      ]);
      expect(await helm('uninstall', release)).toBe(`release "${release}" uninstalled`);
      expect(await client.refusal('get', 'service', release)).toBe(
        `Error from server (NotFound): services "${release}" not found`,
      );
      expect(await helm('list', '--short')).toBe('');
    });
  });
});
