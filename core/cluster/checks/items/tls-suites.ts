import { loadBalancerAddress } from '../../config/addresses.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { bad, ok, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';
import { weaknessesOf, type TlsPort } from '../tls-probe.ts';

/** Nodes of one process share a server. */
const NODES_ASKED_MAX = 8;

const portsOf = ({ config, controlPlanes, etcdHosts, etcd }: Look): readonly TlsPort[] => {
  const { cert, key } = etcd.tls;
  const nodes = planHosts(config).flatMap((host) => host.nodes);
  return [
    { name: 'the load balancer', host: loadBalancerAddress(config.spec), port: PORTS.apiServer },
    ...controlPlanes.flatMap(({ name, address }) =>
      (
        [
          ['kube-apiserver', PORTS.apiServer],
          ['kube-controller-manager', PORTS.controllerManager],
          ['kube-scheduler', PORTS.scheduler],
          ['cloud-controller-manager', PORTS.cloudControllerManager],
        ] as const
      ).map(([component, port]) => ({ name: `${component} on ${name}`, host: address, port })),
    ),
    ...etcdHosts.flatMap(({ name, etcd: member }) =>
      [PORTS.etcdClient, PORTS.etcdPeer].map((port) => ({
        name: `etcd on ${name}`,
        host: member!.address,
        port,
        credential: { cert: cert!, key: key! },
      })),
    ),
    ...nodes.slice(0, NODES_ASKED_MAX).map(({ name, address }) => ({
      name: `the kubelet of ${name}`,
      host: address,
      port: PORTS.kubelet,
    })),
  ];
};

export const tlsSuites: CheckItem = {
  id: 'tlsSuites',
  title: 'Servers reject weak TLS versions and cipher suites',
  async measure(look) {
    const ports = portsOf(look);
    const weak: string[] = [];
    let asked = 0;
    for (const port of ports) {
      // What does not run is told by others.
      const found = await weaknessesOf(port).catch(() => undefined);
      if (found === undefined) continue;
      asked += 1;
      if (found.length > 0) weak.push(`${port.name} (${port.host}:${port.port}) accepts ${found.join(', ')}`);
    }
    if (weak.length > 0)
      return bad(
        weak.join('; '),
        'remove --tls-cipher-suites and --cipher-suites, or list only suites with ECDHE and AES-GCM or ChaCha20-Poly1305',
      );
    if (asked === 0) throw new Error('no server of the cluster is responding');
    return ok(`${asked} ports reject TLS 1.0, TLS 1.1 and weak cipher suites`);
  },
};
