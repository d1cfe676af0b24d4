import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { DiscoveryCatalog } from '../../core/apiserver/discovery/catalog.ts';
import { discoveryStage } from '../../core/apiserver/discovery/discovery-stage.ts';
import { writeKubeconfig } from '../../core/pki/index.ts';
import { resolveKubernetesTools } from '../../resources/setup/kubectl.mjs';
import { authority, clientOf, startTestServer, type TestServer } from '../support/apiserver.ts';
import { kubernetesClient, type KubernetesClient } from '../support/kubectl.ts';

/** The oldest, one that reads the binary OpenAPI 2 for all it does, one of OpenAPI 3, and the newest. */
const MINORS = [20, 22, 31, 36];
/** From here on kubectl explains from OpenAPI 3. */
const FIRST_MINOR_OF_OPENAPI_3 = 27;

const cases: [minor: number, isMissing: boolean][] = [];
for (const minor of MINORS) {
  const tools = await resolveKubernetesTools(minor, { log: (line) => console.log(line) });
  if ('missing' in tools) console.log(`without kubectl 1.${minor}: ${tools.missing}`);
  cases.push([minor, 'missing' in tools]);
}

let server: TestServer;

beforeAll(async () => {
  const catalog = new DiscoveryCatalog(36);
  const stage = discoveryStage({
    catalog,
    serverAddress: '127.0.0.1:6443',
    version: 'v1.36.0',
    clock: systemClock,
  });
  server = await startTestServer({ handlers: [stage] });
});

afterAll(() => server.server.shutdown());

const describeClient = (minor: number): void => {
  let client: KubernetesClient;

  beforeAll(async () => {
    const kubeconfig = writeKubeconfig({
      clusterName: 'test',
      server: `https://127.0.0.1:${server.port}`,
      authorityPem: authority.certificatePem,
      userName: 'admin',
      credential: clientOf(authority, 'admin', ['system:masters']),
    });
    client = (await kubernetesClient(minor, kubeconfig))!;
  });

  afterAll(() => client.close());

  test('lists what can be done to every resource', async () => {
    const wide = (await client.ok('api-resources', '-o', 'wide', '--sort-by=kind')).split('\n');
    const rowOf = (kind: string): string | undefined => wide.find((line) => line.includes(` ${kind} `));
    expect(rowOf('Deployment')).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment +\[?create/);
    expect(rowOf('ClusterRole')).toMatch(/^clusterroles +rbac.authorization.k8s.io\/v1 +false/);
    expect((await client.ok('api-resources', '-o', 'name')).split('\n')).toContain('cronjobs.batch');
  });

  test('lists the versions of every group', async () => {
    const versions = (await client.ok('api-versions')).trim().split('\n');
    expect(versions).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'autoscaling/v1', 'autoscaling/v2']));
  });

  test('explains a field', async () => {
    const text = await client.ok('explain', 'deployment.spec.strategy');
    expect(text).toMatch(/KIND: +Deployment/);
    expect(text).toMatch(/rollingUpdate\s+<(Object|RollingUpdateDeployment)>/);
  });

  test('explains all of a pod', async () => {
    const text = await client.ok('explain', 'pods', '--recursive');
    for (const field of ['containers', 'topologySpreadConstraints', 'hostIPs', 'managedFields'])
      expect(text).toMatch(new RegExp(`^ +${field}\\s+<`, 'm'));
  });

  test('checks a manifest against the schemas before it is sent', async () => {
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      dataa: {},
    });
    // Newer ones leave it to the server, which they know from the parameters of a patch.
    const dryRun = minor < FIRST_MINOR_OF_OPENAPI_3 ? 'client' : 'server';
    const { stderr, code } = await client.kubectl(['create', `--dry-run=${dryRun}`, '-f', '-'], {
      input: manifest,
    });
    expect(code).toBe(1);
    if (minor < FIRST_MINOR_OF_OPENAPI_3) expect(stderr).toContain('unknown field "dataa"');
    else expect(stderr).toContain('the server could not find the requested resource');
  });
};

for (const [minor, isMissing] of cases)
  describe.skipIf(isMissing)(`kubectl 1.${minor}`, () => describeClient(minor));
