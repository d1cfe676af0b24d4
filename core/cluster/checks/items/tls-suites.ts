import { loadBalancerAddress } from '../../config/addresses.ts';
import { planHosts } from '../../config/hosts.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { SaidError, say, together, type Said } from '../../../contract/index.ts';
import { bad, ok, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';
import { weaknessesOf, type TlsPort } from '../tls-probe.ts';

/** Nodes of one process share a server. */
const NODES_ASKED_MAX = 8;

interface NamedPort extends TlsPort {
  readonly server: Said;
}

const portsOf = ({ config, controlPlanes, etcdHosts, etcd }: Look): readonly NamedPort[] => {
  const { cert, key } = etcd.tls;
  const nodes = planHosts(config).flatMap((host) => host.nodes);
  return [
    {
      server: say('found.tlsSuites.balancer'),
      host: loadBalancerAddress(config.spec),
      port: PORTS.apiServer,
    },
    ...controlPlanes.flatMap(({ name, address }) =>
      (
        [
          ['kube-apiserver', PORTS.apiServer],
          ['kube-controller-manager', PORTS.controllerManager],
          ['kube-scheduler', PORTS.scheduler],
          ['cloud-controller-manager', PORTS.cloudControllerManager],
        ] as const
      ).map(([component, port]) => ({
        server: say('found.componentOn', { component, host: name }),
        host: address,
        port,
      })),
    ),
    ...etcdHosts.flatMap(({ name, etcd: member }) =>
      [PORTS.etcdClient, PORTS.etcdPeer].map((port) => ({
        server: say('found.componentOn', { component: 'etcd', host: name }),
        host: member!.address,
        port,
        credential: { cert: cert!, key: key! },
      })),
    ),
    ...nodes.slice(0, NODES_ASKED_MAX).map(({ name, address }) => ({
      server: say('found.tlsSuites.kubelet', { node: name }),
      host: address,
      port: PORTS.kubelet,
    })),
  ];
};

export const tlsSuites: CheckItem = {
  id: 'tlsSuites',
  async measure(look) {
    const ports = portsOf(look);
    const weak: Said[] = [];
    let asked = 0;
    for (const port of ports) {
      // What does not run is told by others.
      const found = await weaknessesOf(port).catch(() => undefined);
      if (found === undefined) continue;
      asked += 1;
      if (found.length > 0)
        weak.push(
          say('found.tlsSuites.weak', {
            server: port.server,
            place: `${port.host}:${port.port}`,
            suites: found.join(', '),
          }),
        );
    }
    if (weak.length > 0) return bad(together(weak), say('advice.tlsSuites'));
    if (asked === 0) throw new SaidError('Unavailable', say('found.tlsSuites.silent'));
    return ok(say('found.tlsSuites.ok', { count: asked }));
  },
};
