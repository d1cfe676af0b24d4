import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveKubernetesTools } from '../../resources/setup/kubectl.mjs';
import { hasRealEtcd } from '../support/etcd-cluster.ts';
import {
  isBuilt,
  openKubectlCluster,
  rowsOf,
  type KubectlCluster,
  type Terminal,
} from './kubectl-cluster.ts';

/** Old kubectls on a member of ours, and the newest on three members of the real etcd. */
const PLANES = [
  { etcd: 'pilothouse', members: 1, apiServers: 1, octet: 145, minors: [20, 28, 31], isPresent: true },
  { etcd: 'etcd', members: 3, apiServers: 3, octet: 153, minors: [36], isPresent: hasRealEtcd() },
] as const;

/** From here on kubectl says where it deleted from. */
const FIRST_MINOR_NAMING_NAMESPACES = 34;
/** From here on kubectl leaves the check of unknown fields to the server. */
const FIRST_MINOR_OF_SERVER_VALIDATION = 25;

const missing = new Set<number>();
for (const minor of PLANES.flatMap(({ minors }) => [...minors])) {
  const tools = await resolveKubernetesTools(minor, { log: (line) => console.log(line) });
  if (!('missing' in tools)) continue;
  console.log(`without kubectl 1.${minor}: ${tools.missing}`);
  missing.add(minor);
}

const manifest = (image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: api, labels: {tier: back}}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;

describe.each(PLANES)('on $members members of $etcd', ({ minors, isPresent, ...options }) => {
  describe.skipIf(!isBuilt || !isPresent)('a control plane', () => {
    let cluster: KubectlCluster;

    beforeAll(async () => {
      cluster = await openKubectlCluster(options);
    });

    afterAll(() => cluster.close());

    describe.each(minors.filter((minor) => !missing.has(minor)))('serves kubectl 1.%i', (minor) => {
      let run: Terminal['run'];
      let start: Terminal['start'];
      const deleted = (what: string): string =>
        minor < FIRST_MINOR_NAMING_NAMESPACES
          ? `${what} deleted`
          : `${what} deleted from v${minor} namespace`;

      beforeAll(async () => {
        ({ run, start } = await cluster.terminal(minor, `v${minor}`));
      });

      test('creates, applies and prints', async () => {
        expect(await run('create configmap cm --from-literal=a=1')).toBe('configmap/cm created');
        expect(await run('apply -f -', manifest('nginx:1'))).toBe('deployment.apps/api created');
        expect(await run('apply -f -', manifest('nginx:1'))).toBe('deployment.apps/api unchanged');
        expect(await run('apply -f -', manifest('nginx:2'))).toBe('deployment.apps/api configured');
        expect(rowsOf(await run('get deploy -o wide'))).toEqual([
          ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'CONTAINERS', 'IMAGES', 'SELECTOR'],
          ['api', '0/2', '0', '0', 'c', 'nginx:2', 'app=api'],
        ]);
        expect(await run("get deploy -l tier=back -o 'jsonpath={.items[*].metadata.name}'")).toBe('api');
        expect(await run('get cm cm -o yaml')).toMatch(
          /^apiVersion: v1\ndata:\n {2}a: "1"\nkind: ConfigMap\n/,
        );
        expect(await run('get nope')).toBe(`error: the server doesn't have a resource type "nope"\n[exit 1]`);
        expect(await run('describe deploy api')).toMatch(/\nReplicas: +2 desired \| 0 updated/);
      });

      test('server-side apply tells conflicts', async () => {
        const ssa = 'apply --server-side --field-manager';
        expect(await run(`${ssa}=one -f -`, manifest('nginx:2'))).toBe(
          'deployment.apps/api serverside-applied',
        );
        expect(await run(`${ssa}=two -f -`, manifest('nginx:3'))).toContain('conflict');
        expect(await run(`${ssa}=two --force-conflicts -f -`, manifest('nginx:3'))).toBe(
          'deployment.apps/api serverside-applied',
        );
      });

      test('refuses what the server does not know or allow', async () => {
        const unknown = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"dataa":{}}';
        const refused = await run('apply -f -', unknown);
        if (minor < FIRST_MINOR_OF_SERVER_VALIDATION) expect(refused).toContain('unknown field "dataa"');
        else
          expect(refused).toBe(
            'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"\n[exit 1]',
          );
        expect(await run('scale deploy api --replicas=-1')).toContain('[exit 1]');
        expect(await run('create configmap cm')).toContain('configmaps "cm" already exists\n[exit 1]');
        expect(await run('get pods --as=nobody')).toBe(
          `Error from server (Forbidden): pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "v${minor}"\n[exit 1]`,
        );
      });

      test('explains, edits, patches, labels and scales', async () => {
        expect(await run('explain deployment.spec.replicas')).toMatch(/FIELD: +replicas <integer>/);
        expect(await run('edit deploy api', undefined, { EDITOR: 'sed -i s/nginx:3/nginx:4/' })).toBe(
          'deployment.apps/api edited',
        );
        expect(await run(`patch deploy api -p '{"spec":{"paused":true}}'`)).toBe(
          'deployment.apps/api patched',
        );
        expect(await run(`patch deploy api --type=json -p '[{"op":"remove","path":"/spec/paused"}]'`)).toBe(
          'deployment.apps/api patched',
        );
        expect(await run('label deploy api a=b')).toBe('deployment.apps/api labeled');
        expect(await run('scale deploy api --replicas=5')).toBe('deployment.apps/api scaled');
        expect(await run("get deploy api -o 'jsonpath={.spec.replicas} {..image}'")).toBe('5 nginx:4');
        expect(await run('auth can-i delete nodes')).toMatch(/(^|\n)yes(\n|$)/);
      });

      test('watches and deletes', async () => {
        const watch = start("get cm cm -w -o 'jsonpath={.data.a};'");
        try {
          await watch.until((text) => text === '1;');
          expect(await run(`patch cm cm --type=merge -p '{"data":{"a":"2"}}'`)).toBe('configmap/cm patched');
          expect(await watch.until((text) => text.length > 3)).toBe('1;2;');
        } finally {
          await watch.stop();
        }
        expect(await run('delete cm cm')).toBe(deleted('configmap "cm"'));
        expect(await run('delete deploy --all')).toBe(deleted('deployment.apps "api"'));
        expect(await run('get cm cm')).toBe(
          'Error from server (NotFound): configmaps "cm" not found\n[exit 1]',
        );
      });
    });
  });
});
