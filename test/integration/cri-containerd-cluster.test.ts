import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { socketPathOf } from '../../core/kubelet/runtimes/cri/cri-client.ts';
import { noContainers, startContainerd, type TestContainerd } from '../support/containerd.ts';
import { app } from '../support/cri-app.ts';
import { criReport } from '../support/cri-report.ts';
import { freeNetwork } from '../support/free-network.ts';
import type { KubernetesClient } from '../support/kubectl.ts';
import { mountsBelow, ownedFolder, removeWithMounts } from '../support/leftovers.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { pilothouse, startPilothouse } from '../support/cluster.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const REPLICAS = 6;
/** About as long as a rollout takes. */
const ROLLOUT_MS = 3_000;
/** Only what hangs takes as long. */
const WITHIN = '--timeout=200s';
const BROKEN_NETWORK = { cniVersion: '0.4.0', name: 'broken', plugins: [{ type: 'no-such-plugin' }] };

/** Skipped, with the reason in its name, where there is no root or no container runtime. */
describe.skipIf(noContainers !== undefined)(
  `a cluster on containerd${noContainers ? ` (${noContainers})` : ''}`,
  () => {
    let containerd: TestContainerd;
    let cluster: OperatedCluster;
    let kubectl: KubernetesClient;
    let folder: string;
    let network: number;

    const ok = (...args: string[]): Promise<string> => kubectl.ok(...args);
    const inWeb = (...command: string[]): Promise<string> => ok('exec', 'deploy/web', '--', ...command);
    const podNames = async (): Promise<string[]> =>
      (await ok('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].metadata.name}'))
        .split(' ')
        .sort();

    const withoutMounts = (below: string): Promise<unknown> =>
      until('no mounts of pods', async () => !(await readFile('/proc/self/mounts', 'utf8')).includes(below));

    const report = (): Promise<string> => criReport({ kubectl, data: cluster?.data, runtimes: [containerd] });

    beforeAll(async () => {
      containerd = await startContainerd();
      folder = ownedFolder('node');
      network = await freeNetwork();
      const flags = ['--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint];
      cluster = await operate(...flags, '--network', String(network), '--control-planes', '1');
      kubectl = (await cluster.kubectl())!;
      try {
        const input = app(containerd.image);
        const { code, stderr } = await kubectl.kubectl(['apply', '-f', '-'], { input });
        if (code !== 0) throw new Error(stderr);
        await ok('rollout', 'status', 'deploy/web', WITHIN);
      } catch (cause) {
        throw new Error(`the application does not run\n${await report()}`, { cause });
      }
    });
    beforeEach(({ onTestFailed }) => {
      onTestFailed(async () => console.error(await report()));
    });
    afterAll(async () => {
      const authority = cluster && readFileSync(join(cluster.data, 'pki', 'ca.crt'));
      await kubectl?.kubectl(['delete', 'deploy', '--all', '--cascade=foreground', WITHIN]);
      // Volumes in memory go with their pods; a folder with mounts cannot be removed.
      if (cluster) await withoutMounts(cluster.data);
      await cluster?.close();
      const id = authority && createHash('sha256').update(authority).digest('hex').slice(0, 16);
      await containerd?.close(id === undefined ? [] : [`/pilothouse-${id}`]);
      if (folder) await removeWithMounts(folder);
    });

    test('nodes say what they are, and pods have addresses of the range of pods', async () => {
      const nodes = await ok(
        'get',
        'nodes',
        '-o',
        'jsonpath={.items[*].status.nodeInfo.containerRuntimeVersion}',
      );
      expect(nodes.split(' ').every((version) => version.startsWith('containerd://'))).toBe(true);
      const addresses = await ok('get', 'pods', '-o', 'jsonpath={.items[*].status.podIP}');
      expect(addresses.split(' ').every((address) => address.startsWith(`10.${network + 1}.`))).toBe(true);
      const ranges = await ok('get', 'nodes', '-o', 'jsonpath={.items[*].spec.podCIDR}');
      expect(new Set(ranges.split(' '))).toEqual(new Set([`10.${network + 1}.0.0/17`]));
      const on = await ok('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}');
      expect(new Set(on.split(' '))).toEqual(new Set(['worker-1', 'worker-2']));
    });

    test('names, Services and the API are reached from a container', async () => {
      const lookup = await inWeb('nslookup', 'web.default.svc.cluster.local');
      const address = await ok('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
      expect(lookup).toContain(address);
      const seen = new Set<string>();
      await until('an answer of each pod', async () => {
        seen.add((await inWeb('wget', '-qO-', 'http://web')).trim());
        return seen.size === 3;
      });
      expect([...seen].sort()).toEqual(await podNames());
      // Pods are clients of no known node here, and are served all the same.
      const local = JSON.stringify({ spec: { internalTrafficPolicy: 'Local' } });
      await ok('patch', 'service', 'web', '-p', local);
      await until('an answer of the Service', async () => (await inWeb('wget', '-qO-', 'http://web')) !== '');
      const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
      expect(await inWeb('sh', '-c', `cat /page/motd.txt; test -s ${token} && echo token`)).toBe(
        'hello\ntoken\n',
      );
      expect(await inWeb('sh', '-c', 'nc -w 2 $KUBERNETES_SERVICE_HOST 443 </dev/null && echo open')).toBe(
        'open\n',
      );
    });

    test('logs -f, exec, cp, port-forward, top and debug work', async () => {
      const [pod = ''] = await podNames();
      const following = kubectl.start('logs', '-f', pod);
      await following.until((text) => text.includes('serving'));
      await following.stop();
      const terminal = ['exec', '-it', pod, '--', 'sh', '-c', 'test -t 0 && echo a terminal; exit 3'];
      const typed = await kubectl.terminal(terminal);
      expect(typed.stdout).toContain('a terminal');
      expect(typed.code).toBe(3);
      await writeFile(join(folder, 'sent'), 'over and back');
      await ok('cp', join(folder, 'sent'), `${pod}:/tmp/there`);
      await ok('cp', `${pod}:/tmp/there`, join(folder, 'back'));
      expect(await readFile(join(folder, 'back'), 'utf8')).toBe('over and back');
      const forward = kubectl.start('port-forward', pod, ':8080');
      const said = await forward.until((text) => text.includes('Forwarding from 127.0.0.1:'));
      const port = /127\.0\.0\.1:(\d+)/.exec(said)![1]!;
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe(`${pod}\n`);
      await forward.stop();
      await until('usage of pods', async () => (await ok('top', 'pods')).includes(pod));
      const debugging = ['debug', pod, '--image', containerd.image, '--target', 'web', '-c', 'look'];
      await ok(...debugging, '--', 'sh', '-c', 'grep -c httpd /proc/1/cmdline; sleep 600');
      await until('the look of the debug container', async () =>
        /^[1-9]/.test(await ok('logs', pod, '-c', 'look')),
      );
    });

    test('a pod that cannot start has the events of upstream', async () => {
      const broken = (name: string, spec: object) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec,
      });
      const quick = { terminationGracePeriodSeconds: 0, restartPolicy: 'Never' };
      const { image } = containerd;
      const mounts = { volumes: [{ name: 'v', emptyDir: {} }] };
      const linking = {
        name: 'linking',
        image,
        command: ['ln', '-s', '/etc', '/v/out'],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      };
      const leaving = {
        name: 'leaving',
        image,
        volumeMounts: [{ name: 'v', mountPath: '/x', subPath: 'out' }],
      };
      const items = [
        broken('no-image', {
          ...quick,
          imagePullSecrets: [{ name: 'none' }],
          containers: [{ name: 'a', image: 'localhost:1/none:1' }],
        }),
        broken('never', {
          ...quick,
          containers: [{ name: 'a', image: 'localhost/other:1', imagePullPolicy: 'Never' }],
        }),
        broken('users', { ...quick, hostUsers: false, containers: [{ name: 'a', image }] }),
        {
          apiVersion: 'node.k8s.io/v1',
          kind: 'RuntimeClass',
          metadata: { name: 'sandboxed' },
          handler: 'no-such-handler',
        },
        broken('handler', { ...quick, runtimeClassName: 'sandboxed', containers: [{ name: 'a', image }] }),
        broken('escape', { ...quick, ...mounts, initContainers: [linking], containers: [leaving] }),
      ];
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await kubectl.kubectl(['apply', '-f', '-'], { input });
      const expected = {
        'no-image': [
          'FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (none)',
          'Failed Failed to pull image "localhost:1/none:1"',
          'Failed Error: ErrImagePull',
          'BackOff Back-off pulling image "localhost:1/none:1"',
        ],
        never: [
          'ErrImageNeverPull Container image "localhost/other:1" is not present with pull policy of Never',
        ],
        users: ["FailedCreatePodSandBox Failed to create pod sandbox: can't set `spec.hostUsers: false`"],
        handler: ['FailedCreatePodSandBox Failed to create pod sandbox: rpc error: '],
        escape: ['Failed Error: failed to prepare subPath for volumeMount "v" of container "leaving"'],
      };
      for (const [name, texts] of Object.entries(expected))
        for (const text of texts)
          await until(`${name}: ${text}`, async () => {
            const path = 'jsonpath={range .items[*]}{.reason} {.message}{"\\n"}{end}';
            const told = await ok(
              'get',
              'events',
              '--field-selector',
              `involvedObject.name=${name}`,
              '-o',
              path,
            );
            if (!told.includes(text)) throw new Error(told);
            return true;
          });
      await ok('delete', 'pod', ...Object.keys(expected));
      await ok('delete', 'runtimeclass', 'sandboxed');
    });

    test('NetworkPolicies hold for real pods, directly and through Services', async () => {
      const sleeping = { command: ['sleep', '600'], image: containerd.image, name: 'a' };
      const [friend, stranger] = ['friend', 'stranger'].map((name) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { role: name } },
        spec: { terminationGracePeriodSeconds: 0, containers: [sleeping] },
      }));
      const policy = (name: string, spec: object) => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name },
        spec,
      });
      const byRole = (role: string) => ({ podSelector: { matchLabels: { role } } });
      const toWeb = policy('to-web', {
        podSelector: { matchLabels: { app: 'web' } },
        ingress: [{ from: [byRole('friend')], ports: [{ port: 8080 }] }],
      });
      const fromStranger = policy('from-stranger', {
        ...byRole('stranger'),
        policyTypes: ['Egress'],
        egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: 53, protocol: 'UDP' }] }],
      });
      const apply = async (...items: readonly unknown[]): Promise<void> => {
        const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
        const { code, stderr } = await kubectl.kubectl(['apply', '-f', '-'], { input });
        expect({ code, stderr }).toMatchObject({ code: 0 });
      };
      const urls = [
        `http://${await ok('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[0].status.podIP}')}:8080`,
        'http://web',
      ];
      /** Whether the pod gets through to a pod of web, and to its Service. */
      const reach = async (pod: string): Promise<readonly boolean[]> => {
        const asked = urls.map((url) =>
          kubectl.kubectl(['exec', pod, '--', 'timeout', '5', 'wget', '-qO-', url]),
        );
        return (await Promise.all(asked)).map(({ code }) => code === 0);
      };
      const all = async () => ({ friend: await reach('friend'), stranger: await reach('stranger') });
      const untilAll = (expected: Awaited<ReturnType<typeof all>>): Promise<unknown> =>
        until(JSON.stringify(expected), async () => {
          const seen = JSON.stringify(await all());
          if (seen !== JSON.stringify(expected)) throw new Error(seen);
          return true;
        });
      const tables = async (): Promise<string> => (await run('nft', ['list', 'tables'])).stdout;
      const yes = [true, true];
      const no = [false, false];
      const others = await containerd.tasks();
      await apply(friend, stranger);
      await ok('wait', '--for=condition=Ready', 'pod/friend', 'pod/stranger', WITHIN);
      expect(await all()).toEqual({ friend: yes, stranger: yes });
      await apply(toWeb);
      await untilAll({ friend: yes, stranger: no });
      await ok('label', 'pod', 'stranger', 'role=friend', '--overwrite');
      await untilAll({ friend: yes, stranger: yes });
      await ok('label', 'pod', 'stranger', 'role=stranger', '--overwrite');
      await apply(fromStranger);
      await ok('delete', 'networkpolicy', 'to-web');
      await untilAll({ friend: yes, stranger: no });
      // Its names are still resolved, by a server that is in the network of its host.
      expect(await ok('exec', 'stranger', '--', 'nslookup', 'web.default.svc.cluster.local')).toContain(
        'Address',
      );
      // Who starts under a policy is held by it from its first packet on.
      const early = { ...stranger!, metadata: { name: 'early', labels: { role: 'stranger' } } };
      const command = [
        'sh',
        '-c',
        `timeout 5 wget -qO- ${urls[0]} && echo through || echo denied; sleep 600`,
      ];
      await apply({ ...early, spec: { ...early.spec, containers: [{ ...sleeping, command }] } });
      await until('the word of the early pod', async () => (await ok('logs', 'early')).includes('denied\n'));
      await ok('delete', 'networkpolicy', 'from-stranger');
      await untilAll({ friend: yes, stranger: yes });
      await until('no rules', async () => !(await tables()).includes('table ip pilothouse-'));
      await ok('delete', 'pod', 'friend', 'stranger', 'early');
      await until('nothing of them to be left', async () =>
        (await containerd.tasks()).every((task) => others.includes(task)),
      );
    });

    describe('what is killed', () => {
      interface Web {
        readonly pods: readonly string[];
        readonly tasks: readonly string[];
      }
      /** Pods with their containers and restarts, and every task that containerd has of this cluster. */
      const web = async (): Promise<Web> => {
        const path =
          'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount} {.status.podIP}{"\\n"}{end}';
        const pods = (await ok('get', 'pods', '-l', 'app=web', '-o', path)).trim().split('\n').sort();
        return { pods, tasks: await containerd.tasks() };
      };
      const answers = async (pods: readonly string[]): Promise<void> => {
        for (const line of pods) {
          const [name = '', , , address = ''] = line.split(' ');
          expect(await (await fetch(`http://${address}:8080/`)).text()).toBe(`${name}\n`);
        }
      };
      const isReady = async (): Promise<boolean> =>
        (await ok('get', 'deploy', 'web', '-o', 'jsonpath={.status.readyReplicas}')) === '3';
      const readyMessage = (): Promise<string> =>
        ok('get', 'node', 'worker-1', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].message}');

      test('up and its hosts: containers continue, and the next one adopts them all', async () => {
        const before = await web();
        await cluster.killAll();
        await answers(before.pods);
        expect(await containerd.tasks()).toEqual(before.tasks);
        await cluster.again();
        await until('all pods to be ready', isReady);
        await until('a command in a pod', async () => (await inWeb('cat', '/page/motd.txt')) === 'hello\n');
        expect(await web()).toEqual(before);
        await ok(
          'run',
          'extra',
          '--image',
          containerd.image,
          '--restart=Never',
          '--command',
          '--',
          'sleep',
          '600',
        );
        await ok('wait', '--for=condition=Ready', 'pod/extra', WITHIN);
        await ok('delete', 'pod', 'extra', '--grace-period=1');
        await until(
          'the extra pod to leave nothing',
          async () => (await containerd.tasks()).join() === before.tasks.join(),
        );
      });

      test('containerd, then its network: both are reported, containers continue, and nothing starts twice', async () => {
        const before = await web();
        await containerd.kill();
        await rm(socketPathOf(containerd.endpoint));
        await until('a node that is not ready', async () =>
          (await readyMessage()).includes('container runtime is down'),
        );
        await answers(before.pods);
        // containerd reads it when it starts, and takes the first by name.
        const broken = join(containerd.folder, 'cni', '00-broken.conflist');
        await writeFile(broken, JSON.stringify(BROKEN_NETWORK));
        try {
          await containerd.again();
          await until('a ready node', async () => (await readyMessage()).includes('posting ready status'));
          await until('all pods to be ready', isReady);
          await until('a command in a pod', async () => (await inWeb('cat', '/page/motd.txt')) === 'hello\n');
          await ok('run', 'waiting', '--image', containerd.image, '--', 'sleep', '600');
          const selector = 'involvedObject.name=waiting,reason=FailedCreatePodSandBox';
          await until('the event', async () => {
            const message = 'jsonpath={.items[*].message}';
            const told = await ok('get', 'events', '--field-selector', selector, '-o', message);
            return /^Failed to create pod sandbox: rpc error: .*no-such-plugin/.test(told);
          });
          await answers(before.pods);
          expect(await web()).toEqual(before);
        } finally {
          await rm(broken);
        }
        await ok('wait', '--for=condition=Ready', 'pod/waiting', WITHIN);
        await ok('delete', 'pod', 'waiting', '--grace-period=1');
      });
    });

    test('kubelets, hosts and containerd killed at random during rollouts: nothing is lost or doubled', async () => {
      const seed = Date.now() % 2 ** 31;
      console.log(`seed ${seed}`);
      const random = seededRandom(seed);
      const starts = join(folder, 'starts');
      await mkdir(starts);
      // Every process leaves a line when it starts: two lines of a pod would be two starts.
      const container = {
        name: 'a',
        image: containerd.image,
        command: ['sh', '-c', 'echo $ROUND >> /starts/$HOSTNAME; exec sleep 600'],
        env: [{ name: 'ROUND', value: '0' }],
        volumeMounts: [{ name: 'starts', mountPath: '/starts' }],
      };
      const labels = { app: 'many' };
      const spec = {
        terminationGracePeriodSeconds: 0,
        volumes: [{ name: 'starts', hostPath: { path: starts } }],
        containers: [container],
      };
      const template = { metadata: { labels }, spec };
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'many' },
        spec: { replicas: REPLICAS, selector: { matchLabels: labels }, template },
      };
      const others = await containerd.tasks();
      const ends = [
        // The process of both kubelets, which the supervisor starts again.
        async () => {
          const { hosts } = await cluster.state();
          process.kill(hosts.find(({ role }) => role === 'workers')!.pid!, 'SIGKILL');
        },
        async () => {
          await cluster.killAll();
          await cluster.again();
        },
        async () => {
          await containerd.kill();
          await containerd.again();
        },
      ];
      await kubectl.kubectl(['apply', '-f', '-'], { input: JSON.stringify(deployment) });
      for (let round = 1; ends.length > 0; round += 1) {
        await until('a new round', () => ok('set', 'env', 'deploy/many', `ROUND=${round}`));
        await new Promise((resolve) => setTimeout(resolve, random.next() * ROLLOUT_MS));
        const end = ends.splice(Math.floor(random.next() * ends.length), 1)[0]!;
        await end();
      }
      await until('a last round', () => ok('set', 'env', 'deploy/many', 'ROUND=last'));
      await ok('rollout', 'status', 'deploy/many', WITHIN);
      const names = async (): Promise<string[]> =>
        (await ok('get', 'pods', '-l', 'app=many', '-o', 'jsonpath={.items[*].metadata.name}'))
          .split(' ')
          .sort();
      await until('the pods of the last round alone', async () => (await names()).length === REPLICAS);
      // One sandbox and one container each, and nothing of rounds before.
      await until('what is gone to leave nothing', async () => {
        const tasks = await containerd.tasks();
        if (tasks.length !== others.length + 2 * REPLICAS) throw new Error(`${tasks.length} tasks`);
        return others.every((task) => tasks.includes(task));
      });
      for (const name of await names()) expect(await readFile(join(starts, name), 'utf8')).toBe('last\n');
      for (const name of await readdir(starts))
        expect((await readFile(join(starts, name), 'utf8')).trim().split('\n'), name).toHaveLength(1);
      await until(
        'web to be ready',
        async () => (await ok('get', 'deploy', 'web', '-o', 'jsonpath={.status.readyReplicas}')) === '3',
      );
      await ok('delete', 'deploy', 'many');
    });

    test('a kubelet on its own joins by TLS bootstrap, and runs pods', async () => {
      const place = (name: string): string => join(folder, 'alone', name);
      await mkdir(place('root'), { recursive: true });
      await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'small', place('root')]);
      const flags = {
        // Its user may ask for certificates of nodes, as a bootstrap token may.
        'bootstrap-kubeconfig': join(cluster.data, 'kubeconfig', 'admin.conf'),
        kubeconfig: place('kubelet.conf'),
        'cert-dir': place('pki'),
        'root-dir': place('root'),
        'pod-logs-dir': place('logs'),
        'hostname-override': 'alone',
        'node-ip': `127.${network}.20.1`,
        'container-runtime-endpoint': containerd.endpoint,
        'cluster-dns': `10.${network}.64.10`,
        'cluster-domain': 'cluster.local',
        'rotate-server-certificates': 'true',
      };
      const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
      const kubelet = startPilothouse('component', 'kubelet', ...args);
      try {
        const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
        await until(
          'the node to be ready',
          async () => (await ok('get', 'node', 'alone', '-o', ready)) === 'True',
        );
        const names =
          'jsonpath={range .items[?(@.spec.signerName=="kubernetes.io/kubelet-serving")]}{.metadata.name}{end}';
        const request = await until(
          'its request',
          async () => (await ok('get', 'csr', '-o', names)) || undefined,
        );
        await ok('certificate', 'approve', request);
        const container = {
          name: 'a',
          image: containerd.image,
          command: ['sh', '-c', 'nslookup web; sleep 600'],
        };
        const spec = { nodeName: 'alone', terminationGracePeriodSeconds: 0, containers: [container] };
        const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'alone' }, spec };
        await kubectl.kubectl(['apply', '-f', '-'], { input: JSON.stringify(pod) });
        const address = await ok('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
        await until('the log of its pod', async () => (await ok('logs', 'alone')).includes(address));
        // A full disk of the kubelet ends pods, in upstream's words, and a node under pressure takes no others.
        await writeFile(join(place('root'), 'filler'), Buffer.alloc(60 * 2 ** 20));
        const told = 'jsonpath={.status.phase} {.status.reason} {.status.message}';
        await until('the eviction', async () =>
          (await ok('get', 'pod', 'alone', '-o', told)).includes('Evicted'),
        );
        expect(await ok('get', 'pod', 'alone', '-o', told)).toMatch(
          /^Failed Evicted The node was low on resource: ephemeral-storage\. Threshold quantity: \S+, available: \S+\. /,
        );
        const pressure = 'jsonpath={.status.conditions[?(@.type=="DiskPressure")].message}';
        expect(await ok('get', 'node', 'alone', '-o', pressure)).toBe('kubelet has disk pressure');
        const late = { ...pod, metadata: { name: 'late' } };
        await kubectl.kubectl(['apply', '-f', '-'], { input: JSON.stringify(late) });
        await until('the rejection', async () =>
          (await ok('get', 'pod', 'late', '-o', told)).includes(
            'Pod was rejected: The node had condition: [DiskPressure]. ',
          ),
        );
        await ok('delete', 'pod', 'alone', 'late');
        await until('volumes to be gone', async () => (await mountsBelow(place('root'))).length === 0);
      } catch (cause) {
        throw new Error(`the kubelet says: ${kubelet.stderr.slice(-4_000)}`, { cause });
      } finally {
        await kubelet.end('SIGTERM');
        await run('umount', ['-l', place('root')]);
        await ok('delete', 'node', 'alone', '--ignore-not-found');
      }
    });

    test('without a runtime one line says what to install', async () => {
      const nothing = `unix://${folder}/none.sock`;
      const flags = ['--runtime', 'cri', '--container-runtime-endpoint', nothing];
      const { code, stderr } = await pilothouse('up', '--data', join(folder, 'new'), ...flags);
      expect(code).not.toBe(0);
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringMatching(
          /no container runtime answers on .*install one, for example with apt-get install/,
        ),
      ]);
    });
  },
);
