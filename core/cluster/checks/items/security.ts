import { readFile } from 'node:fs/promises';
import { certificatePath } from '../../../pki/index.ts';
import { NODE, POD } from '../../../client/index.ts';
import { CONTROL_PLANE_LABEL } from '../../config/labels.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { flagOf } from '../../monitor/in-flight-limits.ts';
import { bad, byFlags, fixedBy, ok, warn, type CheckItem } from '../item.ts';
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
  title: 'Node and RBAC authorization are enabled',
  async measure(look) {
    const modes = (await look.apiServers()).map(
      (command) => flagOf(command, 'authorization-mode')?.split(',') ?? [],
    );
    const advice = 'set --authorization-mode=Node,RBAC on every API server';
    const fix = byFlags('kube-apiserver', { 'authorization-mode': 'Node,RBAC' });
    if (modes.some((list) => list.includes('AlwaysAllow') || list.length === 0))
      return fixedBy(bad('an API server allows all requests', advice), fix);
    if (!modes.every((list) => list.includes('Node') && list.includes('RBAC')))
      return bad(
        `an API server has --authorization-mode=${modes.find((list) => !list.includes('Node') || !list.includes('RBAC'))!.join(',')}`,
        advice,
      );
    const [stranger, node] = await Promise.all([
      mayReadSecret(look, 'pilothouse:nobody', ['system:authenticated']),
      mayReadSecret(look, 'system:node:none', ['system:nodes', 'system:authenticated']),
    ]);
    if (stranger)
      return bad(
        'any authenticated user can read Secrets in kube-system',
        'check the role bindings of system:authenticated',
      );
    if (node)
      return bad(
        'a node can read Secrets that none of its pods use',
        'check the role bindings of system:nodes',
      );
    return ok(
      'an unprivileged user and a node without pods are both denied access to Secrets in kube-system',
    );
  },
};

/** Ports on which old components answered without TLS. */
const INSECURE_PORTS = [8080, 10_251, 10_252, 10_255];

const insecurePorts: CheckItem = {
  id: 'noInsecurePort',
  title: 'No port is open without TLS and authentication',
  async measure(look) {
    const problems: string[] = [];
    for (const { name, address } of look.controlPlanes) {
      for (const port of INSECURE_PORTS)
        if (await isPortOpen(address, port)) problems.push(`${name}:${port} is open`);
      if (await answersPlainHttp(address, PORTS.apiServer))
        problems.push(`${name}:${PORTS.apiServer} accepts plain HTTP`);
    }
    for (const { name, etcd } of look.etcdHosts)
      for (const port of [PORTS.etcdClient, PORTS.etcdPeer])
        if (await letsInWithoutCertificate(etcd!.address, port))
          problems.push(`etcd on ${name}:${port} accepts clients without a certificate`);
    const [node] = look.controlPlanes;
    if (node) {
      const authority = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
      const status = await anonymousStatus(`https://${node.address}:${PORTS.kubelet}/pods`, authority);
      if (status < 400) problems.push(`the kubelet on ${node.name} serves its pods to anonymous clients`);
    }
    return problems.length === 0
      ? ok('insecure ports are closed; etcd and kubelets reject requests without credentials')
      : bad(problems.join('; '), 'close the port, or require client certificates');
  },
};

const profiling: CheckItem = {
  id: 'profilingOff',
  title: 'Profiling is disabled',
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
        open.push(`${component} on ${name}`);
        components.add(component);
      }
    const [first] = components;
    if (first === undefined) return ok('/debug/pprof/ returns 404 on every component');
    return fixedBy(
      warn(`profiling is enabled on ${open.join(', ')}`, 'set --profiling=false'),
      byFlags(first, { profiling: 'false' }),
    );
  },
};

const taints: CheckItem = {
  id: 'controlPlaneTaints',
  title: 'Workloads do not run on control planes',
  async measure(look) {
    const { items } = await look.client.resource(NODE).list({ labelSelector: CONTROL_PLANE_LABEL });
    const open = items
      .filter(
        ({ spec }) =>
          !spec?.taints?.some(({ key, effect }) => key === CONTROL_PLANE_LABEL && effect === 'NoSchedule'),
      )
      .map(({ metadata }) => metadata.name);
    if (items.length === 0)
      return warn('no node is labelled as a control plane', `label them ${CONTROL_PLANE_LABEL}`);
    return open.length === 0
      ? ok(
          `${items.map(({ metadata }) => metadata.name).join(', ')} have the taint ${CONTROL_PLANE_LABEL}:NoSchedule`,
        )
      : warn(
          `not tainted: ${open.join(', ')}`,
          `kubectl taint node ${open[0]} ${CONTROL_PLANE_LABEL}:NoSchedule`,
        );
  },
};

const MIRROR = 'kubernetes.io/config.mirror';

const requests: CheckItem = {
  id: 'staticPodRequests',
  title: 'Components have resource requests',
  async measure(look) {
    const { items } = await look.client.resource(POD, 'kube-system').list();
    const components = items.filter(({ metadata }) => metadata.annotations?.[MIRROR] !== undefined);
    const without = components
      .filter(({ spec }) =>
        spec?.containers?.some(({ resources }) => resources?.requests?.['cpu'] === undefined),
      )
      .map(({ metadata }) => metadata.name);
    if (components.length === 0)
      return warn('no static pods found in the API', 'check whether kubelets can reach the API server');
    return without.length === 0
      ? ok(`all ${components.length} static pods request CPU`)
      : warn(
          `no CPU request: ${without.slice(0, 4).join(', ')}`,
          'set resources.requests in their manifests',
        );
  },
};

export const SECURITY_ITEMS = { authorization, insecurePorts, profiling, taints, requests } as const;
