import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listeningSockets } from '../../core/cluster/checks/listening.ts';
import { startPilothouseIn, type RunningCluster } from '../support/cluster.ts';
import { noContainers, startContainerd, type TestContainerd } from '../support/containerd.ts';
import { criReport } from '../support/cri-report.ts';
import { freeNetwork } from '../support/free-network.ts';
import type { KubernetesClient } from '../support/kubectl.ts';
import { ownedFolder, removeWithMounts, sweepLeftovers } from '../support/leftovers.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { secondMachine, type SecondMachine } from '../support/second-machine.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
/** Longer than kubelets take to renew their leases. */
const GRACE = '16s';
/** Only what hangs takes as long. */
const WITHIN = '--timeout=200s';

/** One pod on each machine that says which it is, and goes to another soon after its machine is gone. */
const app = (image: string): string => {
  const gone = ['not-ready', 'unreachable'].map((what) => ({
    key: `node.kubernetes.io/${what}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }));
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      tolerations: gone,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'machine',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
      containers: [
        {
          name: 'web',
          image,
          command: ['/bin/sh', '-c', 'hostname > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'],
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          resources: { requests: { cpu: '10m', memory: '16Mi' } },
        },
      ],
    },
  };
  const items = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
};

describe.skipIf(noContainers !== undefined)(
  `a second machine${noContainers ? ` (${noContainers})` : ''}`,
  () => {
    let folder: string;
    let machine: SecondMachine;
    let runtimes: TestContainerd[] = [];
    let cluster: OperatedCluster;
    let node: RunningCluster;
    let kubectl: KubernetesClient;
    let network: number;
    let ranges: readonly string[] = [];

    const ok = (...args: string[]): Promise<string> => kubectl.ok(...args);
    const pods = async (): Promise<{ name: string; on: string; address: string }[]> => {
      const path =
        'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name} {.spec.nodeName} {.status.podIP} {.metadata.deletionTimestamp}{"\\n"}{end}';
      const lines = (await ok('get', 'pods', '-l', 'app=web', '-o', path)).split('\n').filter(Boolean);
      return lines.flatMap((line) => {
        const [name = '', on = '', address = '', isGoing = ''] = line.trim().split(' ');
        return isGoing === '' ? [{ name, on, address }] : [];
      });
    };
    const startNode = (...flags: string[]): RunningCluster =>
      startPilothouseIn(machine.in, 'join', ...flags, '--data', join(folder, 'node'));
    const fetched = (url: string): Promise<string> =>
      fetch(url, { signal: AbortSignal.timeout(2_000) }).then((one) => one.text());

    beforeAll(async () => {
      await sweepLeftovers();
      folder = ownedFolder('node');
      network = await freeNetwork();
      ranges = [`10.${network}.0.0/16`, `10.${network + 1}.0.0/16`];
      // Nothing that is meant for a pod leaves this machine, also where what is tested sets no route.
      for (const range of ranges)
        await run('ip', ['route', 'replace', 'unreachable', range, 'metric', '9999']);
      // Addresses for tests of networks, with the number of ours among them.
      machine = await secondMachine(`198.18.${network}`);
      runtimes = await Promise.all([startContainerd(), startContainerd({ inMachine: machine.in })]);
      cluster = await operate(
        ...['--runtime', 'cri', '--container-runtime-endpoint', runtimes[0]!.endpoint, '--workers', '1'],
        ...['--network', String(network), '--control-planes', '1', '--advertise-address', machine.here],
      );
      kubectl = (await cluster.kubectl())!;
    });
    beforeEach(({ onTestFailed }) => {
      onTestFailed(async () =>
        console.error(
          `${await criReport({ kubectl, data: cluster?.data, runtimes })}\n--- node\n${node?.stdout}${node?.stderr}`,
        ),
      );
    });
    afterAll(async () => {
      const authority = cluster && readFileSync(join(cluster.data, 'pki', 'ca.crt'));
      await node?.end('SIGTERM');
      await cluster?.down('SIGTERM');
      const id = authority && createHash('sha256').update(authority).digest('hex').slice(0, 16);
      // Pods that no one is left to delete.
      for (const runtime of runtimes) await runtime.close(id === undefined ? [] : [`/pilothouse-${id}`]);
      // And their volumes.
      for (const one of [folder, cluster?.data]) if (one) await removeWithMounts(one);
      await cluster?.close();
      await machine?.close();
      for (const range of ranges)
        await run('ip', ['route', 'delete', 'unreachable', range, 'metric', '9999']).catch(() => undefined);
      // Containers outlive the cluster, and so does their network.
      const [, pods = ''] = ranges;
      await run('ip', ['route', 'delete', 'unreachable', pods, 'proto', '201']).catch(() => undefined);
      const sources = ['-D', 'POSTROUTING', '-s', pods, '-d', pods, '-j', 'ACCEPT'];
      await run('iptables', ['-w', '-t', 'nat', ...sources]).catch(() => undefined);
    });

    test('one port is reached from it, and nothing else of the cluster', async () => {
      const sockets = (await listeningSockets()) ?? [];
      const open = sockets.filter(({ address }) => address === machine.here || address === '0.0.0.0');
      const ours = open.filter(({ address, port }) => address === machine.here || port === 6443);
      expect(ours.map(({ address, port }) => `${address}:${port}`)).toEqual([`${machine.here}:6443`]);
      // Addresses of Services are this machine's own: its neighbour may send packets there, and is turned away.
      const attempts = [`10.${network}.64.1 443`, `10.${network}.64.10 53`];
      await machine.run('ip', 'route', 'add', `10.${network}.64.0/18`, 'via', machine.here);
      for (const place of attempts)
        await expect(
          machine.run('sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 2 ${place} | grep .`),
          place,
        ).rejects.toThrow();
      await machine.run('ip', 'route', 'delete', `10.${network}.64.0/18`);
    });

    test('it joins with a token, and pods of both machines are behind one Service', async () => {
      const manifest = join(cluster.data, 'hosts/cp-1/manifests/kube-controller-manager.yaml');
      const text = await readFile(manifest, 'utf8');
      await writeFile(
        manifest,
        text.replace(/^( *- )--leader-elect=true$/m, `$&\n$1--node-monitor-grace-period=${GRACE}`),
      );
      const command = (await cluster.run('token', 'create', '--print-join-command')).trim().split(' ');
      expect(command[2]).toBe(`${machine.here}:6443`);
      const wrong = startNode(...command.slice(2, -1), `sha256:${'0'.repeat(64)}`);
      await until('the refusal', () => wrong.stderr.includes('which is not the one of'));
      await wrong.end('SIGTERM');
      node = startNode(...command.slice(2), '--node-name', 'shed', '--cri-socket', runtimes[1]!.endpoint);
      await until('the node to be ready', () => {
        if (node.stderr.includes('pilothouse:')) throw new Error(node.stderr);
        return node.stdout.includes('node shed is ready');
      });
      await ok('label', 'node', 'shed', 'machine=second');
      await ok('label', 'node', 'worker-1', 'machine=first');
      await kubectl.kubectl(['apply', '-f', '-'], { input: app(runtimes[0]!.image) });
      await ok('rollout', 'status', 'deploy/web', WITHIN);
      const running = await pods();
      expect(running.map(({ on }) => on).sort()).toEqual(['shed', 'worker-1']);
      const names = running.map(({ name }) => name).sort();
      for (const { name, address } of running)
        expect(await fetched(`http://${address}:8080/`)).toBe(`${name}\n`);
      const service = await ok('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
      const answered = async (ask: () => Promise<string>): Promise<void> => {
        const seen = new Set<string>();
        await until('both pods to answer', async () => {
          seen.add((await ask()).trim());
          return seen.size === 2;
        });
        expect([...seen].sort()).toEqual(names);
      };
      await answered(() => fetched(`http://${service}/`));
      for (const { name } of running) {
        await answered(() => ok('exec', name, '--', 'wget', '-qO-', 'http://web'));
        expect(
          await ok(
            'exec',
            name,
            '--',
            'sh',
            '-c',
            'nc -w 2 $KUBERNETES_SERVICE_HOST 443 </dev/null && echo open',
          ),
        ).toBe('open\n');
      }
      const csr = await ok('get', 'csr', '-o', 'jsonpath={.items[*].spec.username}');
      expect(csr).toMatch(/system:bootstrap:[a-z0-9]{6}/);
    });

    test('killed, it resumes without a token and finds its containers', async () => {
      const before = (await pods()).find(({ on }) => on === 'shed');
      await node.end('SIGKILL');
      await cluster.run('token', 'delete', (await cluster.json<{ id: string }[]>('token', 'list'))[0]!.id);
      node = startNode();
      await until('the node to be ready again', () => node.stdout.includes('node shed is ready'));
      expect((await pods()).find(({ on }) => on === 'shed')).toEqual(before);
      await until(
        'a command in its pod',
        async () => (await ok('exec', before!.name, '--', 'hostname')) !== '',
      );
    });

    test('cut off, its pods move', async () => {
      await machine.setCable(false);
      await until('two pods on the first machine', async () => {
        const running = await pods();
        return running.length === 2 && running.every(({ on }) => on === 'worker-1');
      });
      const service = await ok('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
      const seen = new Set<string>();
      await until('both new pods to answer', async () => {
        seen.add((await fetched(`http://${service}/`)).trim());
        return (await pods()).every(({ name }) => seen.has(name));
      });
    });
  },
);
