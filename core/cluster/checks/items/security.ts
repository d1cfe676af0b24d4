import { readFile } from 'node:fs/promises';
import { certificatePath } from '../../../pki/index.ts';
import { NODE, POD } from '../../../client/index.ts';
import { CONTROL_PLANE_LABEL } from '../../config/labels.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { flagOf } from '../../data-folder/in-flight-limits.ts';
import { say, together, verbatim, type Said } from '../../../contract/index.ts';
import { bad, byFlags, fixedBy, ok, someOf, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';
import {
  answersPlainHttp,
  anonymousStatus,
  isPortOpen,
  letsInWithoutCertificate,
} from '../network-probes.ts';

interface Review {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

/** Whether the API server would let somebody read a Secret of the system. */
const mayReadSecret = async ({ client }: Look, user: string, groups: readonly string[]): Promise<boolean> => {
  const resourceAttributes = {
    verb: 'get',
    resource: 'secrets',
    version: 'v1',
    namespace: 'kube-system',
    name: 'none',
  };
  const { status } = await client.json<Review>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes },
    },
  });
  return status?.allowed === true;
};

const authorization: CheckItem = {
  id: 'nodeAndRbac',
  async measure(look) {
    const modes = (await look.apiServers()).map(
      (command) => flagOf(command, 'authorization-mode')?.split(',') ?? [],
    );
    const advice = say('advice.nodeAndRbac');
    const fix = byFlags('kube-apiserver', { 'authorization-mode': 'Node,RBAC' });
    if (modes.some((list) => list.includes('AlwaysAllow') || list.length === 0))
      return fixedBy(bad(say('found.nodeAndRbac.all'), advice), fix);
    const lacking = modes.find((list) => !list.includes('Node') || !list.includes('RBAC'));
    if (lacking) return bad(say('found.nodeAndRbac.modes', { modes: lacking.join(',') }), advice);
    const [stranger, node] = await Promise.all([
      mayReadSecret(look, 'pilothouse:nobody', ['system:authenticated']),
      mayReadSecret(look, 'system:node:none', ['system:nodes', 'system:authenticated']),
    ]);
    if (stranger) return bad(say('found.nodeAndRbac.users'), say('advice.nodeAndRbac.users'));
    if (node) return bad(say('found.nodeAndRbac.nodes'), say('advice.nodeAndRbac.nodes'));
    return ok(say('found.nodeAndRbac.ok'));
  },
};

/** Ports on which old components answered without TLS. */
const INSECURE_PORTS = [8080, 10_251, 10_252, 10_255];

const insecurePorts: CheckItem = {
  id: 'noInsecurePort',
  async measure(look) {
    const problems: Said[] = [];
    for (const { name, address } of look.controlPlanes) {
      for (const port of INSECURE_PORTS)
        if (await isPortOpen(address, port))
          problems.push(say('found.noInsecurePort.open', { place: `${name}:${port}` }));
      if (await answersPlainHttp(address, PORTS.apiServer))
        problems.push(say('found.noInsecurePort.http', { place: `${name}:${PORTS.apiServer}` }));
    }
    for (const { name, etcd } of look.etcdHosts)
      for (const port of [PORTS.etcdClient, PORTS.etcdPeer])
        if (await letsInWithoutCertificate(etcd!.address, port))
          problems.push(say('found.noInsecurePort.etcd', { place: `${name}:${port}` }));
    const [node] = look.controlPlanes;
    if (node) {
      const authority = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
      const status = await anonymousStatus(`https://${node.address}:${PORTS.kubelet}/pods`, authority);
      if (status < 400) problems.push(say('found.noInsecurePort.kubelet', { node: node.name }));
    }
    return problems.length === 0
      ? ok(say('found.noInsecurePort.ok'))
      : bad(together(problems), say('advice.noInsecurePort'));
  },
};

const profiling: CheckItem = {
  id: 'profilingOff',
  async measure(look) {
    const open: string[] = [];
    const components = new Set<string>();
    for (const { name, address } of look.controlPlanes)
      for (const [component, port, trust] of [
        ['kube-apiserver', PORTS.apiServer, 'cluster'],
        ['kube-controller-manager', PORTS.controllerManager, 'any'],
        ['kube-scheduler', PORTS.scheduler, 'any'],
      ] as const) {
        const url = `https://${address}:${port}/debug/pprof/`;
        const { status } = await look.access.ask({ url, trust });
        if (status !== 200) continue;
        open.push(`${component}/${name}`);
        components.add(component);
      }
    const [first] = components;
    if (first === undefined) return ok(say('found.profilingOff.ok'));
    return fixedBy(
      warn(
        say('found.profilingOff.on', { components: open.join(', ') }),
        say('advice.setFlag', { flag: '--profiling=false' }),
      ),
      byFlags(first, { profiling: 'false' }),
    );
  },
};

const taints: CheckItem = {
  id: 'controlPlaneTaints',
  async measure(look) {
    const { items } = await look.client.resource(NODE).list({ labelSelector: CONTROL_PLANE_LABEL });
    const open = items
      .filter(
        ({ spec }) =>
          !spec?.taints?.some(({ key, effect }) => key === CONTROL_PLANE_LABEL && effect === 'NoSchedule'),
      )
      .map(({ metadata }) => metadata.name);
    if (items.length === 0)
      return warn(
        say('found.controlPlaneTaints.none'),
        say('advice.controlPlaneTaints.none', { label: CONTROL_PLANE_LABEL }),
      );
    return open.length === 0
      ? ok(
          say('found.controlPlaneTaints.ok', {
            nodes: items.map(({ metadata }) => metadata.name).join(', '),
            taint: `${CONTROL_PLANE_LABEL}:NoSchedule`,
          }),
        )
      : warn(
          say('found.controlPlaneTaints.open', { nodes: open.join(', ') }),
          verbatim(`kubectl taint node ${open[0]} ${CONTROL_PLANE_LABEL}:NoSchedule`),
        );
  },
};

const MIRROR = 'kubernetes.io/config.mirror';

const requests: CheckItem = {
  id: 'staticPodRequests',
  async measure(look) {
    const { items } = await look.client.resource(POD, 'kube-system').list();
    const components = items.filter(({ metadata }) => metadata.annotations?.[MIRROR] !== undefined);
    const without = components
      .filter(({ spec }) =>
        spec?.containers?.some(({ resources }) => resources?.requests?.['cpu'] === undefined),
      )
      .map(({ metadata }) => metadata.name);
    if (components.length === 0)
      return warn(say('found.staticPodRequests.none'), say('advice.staticPodRequests.none'));
    return without.length === 0
      ? ok(say('found.staticPodRequests.ok', { count: components.length }))
      : warn(
          say('found.staticPodRequests.without', { pods: someOf(without) }),
          say('advice.staticPodRequests.without'),
        );
  },
};

export const SECURITY_ITEMS = { authorization, insecurePorts, profiling, taints, requests } as const;
