import { readFile } from 'node:fs/promises';
import { certificatePath, createAuthority, issueLeaf, keyPath, openAuthority } from '../../../pki/index.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { listServedCertificates } from '../../monitor/certificates/certificates.ts';
import type { CheckItem } from '../item.ts';
import { kubeletAccess } from '../items/kubelet-access.ts';
import { tlsSuites } from '../items/tls-suites.ts';
import { isLoopbackAddress } from '../listeners.ts';
import type { Look } from '../look.ts';
import { isPortOpen, jsonFor, statusFor } from '../network-probes.ts';
import { bad, type BenchmarkCheck, notApplicable, ok, plural, valueOf, measuredBy } from './check.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RENEW_DAYS = 30;
const NODES_ASKED_MAX = 8;
const READ_ONLY_PORT = 10_255;
/** Upstream's default: fewer are lost in any busy minute. */
const EVENTS_PER_SECOND_MIN = 5;
const SIMULATED = 'simulated containers have no process of their own';

const nodesOf = ({ config }: Look) =>
  planHosts(config)
    .flatMap(({ nodes }) => nodes)
    .slice(0, NODES_ASKED_MAX);

const absent = (id: string, title: string, why: string): BenchmarkCheck => ({
  id,
  title,
  measure: () => Promise.resolve(notApplicable(why)),
});

const from = (id: string, title: string, item: CheckItem): BenchmarkCheck => ({
  id,
  title,
  measure: measuredBy(item),
});

const clientAuthority: BenchmarkCheck = {
  id: '4.2.3',
  title: "Kubelets accept client certificates of the cluster's authority only",
  async measure(look) {
    const { clock } = look;
    const ca = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
    const foreign = openAuthority(createAuthority({ commonName: 'kubernetes', validityMs: DAY_MS, clock }));
    // The name of the API server's own certificate, signed by somebody else.
    const { certificatePem, privateKeyPem } = issueLeaf(foreign, {
      subject: { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] },
      usages: ['client'],
      clock,
    });
    const nodes = nodesOf(look);
    const open: string[] = [];
    for (const { name, address } of nodes) {
      const url = `https://${address}:${PORTS.kubelet}/pods`;
      const status = await statusFor(url, { ca, cert: certificatePem, key: privateKeyPem }).catch(() => 0);
      if (status !== 0 && status < 400) open.push(name);
    }
    return open.length === 0
      ? ok(`${plural(nodes.length, 'kubelet')} rejected a certificate of another authority`)
      : bad(
          `accepted a certificate of another authority: ${open.join(', ')}`,
          'restart the hosts of these nodes',
        );
  },
};

const readOnlyPort: BenchmarkCheck = {
  id: '4.2.4',
  title: 'Kubelets have no read-only port',
  async measure(look) {
    const nodes = nodesOf(look);
    const open: string[] = [];
    for (const { name, address } of nodes) if (await isPortOpen(address, READ_ONLY_PORT)) open.push(name);
    return open.length === 0
      ? ok(`port ${READ_ONLY_PORT} is closed on ${plural(nodes.length, 'node')}`)
      : bad(`port ${READ_ONLY_PORT} is open on ${open.join(', ')}`, 'stop the process that listens there');
  },
};

/** Certificates of kubelets: of their servers, or of their kubeconfigs. */
const rotation = (id: string, title: string, isOf: (name: string) => boolean): BenchmarkCheck => ({
  id,
  title,
  async measure(look) {
    const all = await listServedCertificates(look.dataDirectory, look.config);
    const own = all.filter(({ name }) => isOf(name));
    if (own.length === 0) return notApplicable('there is no such certificate');
    const stale = own.filter(({ served, serial }) => served !== null && served.serial !== serial);
    const soon = own.filter(({ notAfterMs }) => notAfterMs - look.clock.nowMs() < RENEW_DAYS * DAY_MS);
    if (stale.length > 0)
      return bad(
        `still present the old certificate: ${stale.map(({ name }) => name).join(', ')}`,
        'restart the hosts of these nodes',
      );
    if (soon.length > 0)
      return bad(
        `expire within ${RENEW_DAYS} days: ${soon.map(({ name }) => name).join(', ')}`,
        'pilothouse certs renew all',
      );
    const days = Math.floor(
      (Math.min(...own.map(({ notAfterMs }) => notAfterMs)) - look.clock.nowMs()) / DAY_MS,
    );
    return ok(
      `${plural(own.length, 'certificate')}, valid for ${days} days; renewed ones are used without a restart`,
    );
  },
});

export const servingRotation = rotation('4.2.11', 'Serving certificates of kubelets are renewed', (name) =>
  /^hosts\/.*\/kubelet$/.test(name),
);

/** What the kubelets say that they run with, asked as the API server asks them. */
const configured = (
  id: string,
  title: string,
  { field, isGood }: { readonly field: string; isGood(value: unknown): boolean },
): BenchmarkCheck => ({
  id,
  title,
  async measure({ dataDirectory, ...look }) {
    const read = (path: string): Promise<string> => readFile(path, 'utf8');
    const [ca, cert, key] = await Promise.all([
      read(certificatePath(dataDirectory, 'ca')),
      read(certificatePath(dataDirectory, 'apiserver-kubelet-client')),
      read(keyPath(dataDirectory, 'apiserver-kubelet-client')),
    ]);
    const found = new Set<string>();
    const faults: string[] = [];
    for (const { name, address } of nodesOf({ ...look, dataDirectory })) {
      const url = `https://${address}:${PORTS.kubelet}/configz`;
      const { kubeletconfig = {} } = (await jsonFor(url, { ca, cert, key })) as {
        readonly kubeletconfig?: Readonly<Record<string, unknown>>;
      };
      const value = kubeletconfig[field];
      found.add(String(value));
      if (!isGood(value)) faults.push(`${String(value)} on ${name}`);
    }
    return faults.length === 0
      ? ok(`${field} is ${[...found].join(', ')}`)
      : bad(`${field} is ${faults.join(', ')}`, `set ${field} in the configuration of these kubelets`);
  },
});

const proxyMetrics: BenchmarkCheck = {
  id: '4.3.1',
  title: 'Metrics of kube-proxy are served on loopback only',
  async measure(look) {
    const faults: string[] = [];
    const found: string[] = [];
    for (const { name } of planHosts(look.config)) {
      const command = await look.command(name, 'kube-proxy');
      if (command.length === 0) continue;
      const address = valueOf(command, 'metrics-bind-address') ?? '127.0.0.1:10249';
      found.push(`${address} on ${name}`);
      if (!isLoopbackAddress(address.slice(0, address.lastIndexOf(':'))))
        faults.push(`${address} on ${name}`);
    }
    if (found.length === 0) return notApplicable('this cluster does not run kube-proxy');
    return faults.length === 0
      ? ok(found.join(', '))
      : bad(faults.join(', '), 'set --metrics-bind-address to a loopback address');
  },
};

/** Sections 4.2 and 4.3. */
export const NODE_CHECKS: readonly BenchmarkCheck[] = [
  from('4.2.1', 'Kubelets reject anonymous requests', kubeletAccess),
  from('4.2.2', 'Kubelets ask the API server who may do what', kubeletAccess),
  clientAuthority,
  readOnlyPort,
  configured('4.2.5', 'Idle streaming connections end', {
    field: 'streamingConnectionIdleTimeout',
    isGood: (value) => typeof value === 'string' && value !== '' && !/^0(s|$)/.test(value),
  }),
  absent('4.2.6', 'Kubelets maintain iptables chains', 'kube-proxy works without iptables here'),
  absent(
    '4.2.7',
    'Kubelets keep the names of their hosts',
    'cluster.yaml names the nodes, and kubelets have no flag for it',
  ),
  configured('4.2.8', 'Kubelets record the events of their pods', {
    field: 'eventRecordQPS',
    isGood: (value) => value === 0 || (typeof value === 'number' && value >= EVENTS_PER_SECOND_MIN),
  }),
  rotation('4.2.9', 'Kubelets serve certificates of the cluster', (name) =>
    /^hosts\/.*\/kubelet$/.test(name),
  ),
  rotation('4.2.10', 'Client certificates of kubelets are renewed', (name) => name.startsWith('kubelet-')),
  servingRotation,
  from('4.2.12', 'Kubelets use strong cipher suites only', tlsSuites),
  absent('4.2.13', 'The processes of a pod are limited', SIMULATED),
  absent('4.2.14', 'Pods run with the default seccomp profile', SIMULATED),
  proxyMetrics,
];
