import { shell } from '../base/shell-words.ts';
import { groupBy } from '../base/group-by.ts';
import type { V1EndpointSlice, V1Ingress, V1IngressBackend, V1Pod, V1Service } from '../api/schema/index.ts';
import { isConditionTrue } from '../api/meta/index.ts';
import { selectorFromSet } from '../api/selector/index.ts';
import { say, type GraphReason } from '../contract/index.ts';
import { idOf, metaOf, reasonOf, type GraphBuilder } from './graph-builder.ts';
import { workloadsOf } from './workloads.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';
const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

export const isLive = ({ status, metadata }: V1Pod): boolean =>
  status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata?.deletionTimestamp === undefined;

export const podsOf = (b: GraphBuilder, service: V1Service): readonly V1Pod[] => {
  const { namespace } = metaOf(service);
  const selector = selectorFromSet(service.spec?.selector);
  return b
    .all<V1Pod>('Pod')
    .filter(
      (pod) =>
        metaOf(pod).namespace === namespace && isLive(pod) && selector.matches(pod.metadata?.labels ?? {}),
    );
};

/** Why a selector finds nothing: the pods or templates that come closest say it. */
const explainSelector = (b: GraphBuilder, service: V1Service): GraphReason => {
  const { namespace, name } = metaOf(service);
  const wanted = service.spec?.selector ?? {};
  const selector = labelText(wanted);
  const templates = workloadsOf(b)
    .filter(({ object }) => metaOf(object).namespace === namespace)
    .map(({ kind, object, template, wanted: count }) => ({
      text: `${kind} ${metaOf(object).name}`,
      target: `${kind.toLowerCase()}/${metaOf(object).name}`,
      labels: template?.metadata?.labels ?? {},
      count,
    }));
  const idle = templates.find(
    ({ labels, count, target }) =>
      count === 0 && target.startsWith('deployment') && selectorFromSet(wanted).matches(labels),
  );
  if (idle)
    return reasonOf(
      'error',
      say('graph.selectorScaledToZero', { selector, workload: idle.text }),
      say('graph.fix.selectorScaledToZero', { workload: idle.text }),
      shell`kubectl -n ${namespace} scale ${idle.target} --replicas=1`,
    );
  const candidates = [
    ...b
      .all<V1Pod>('Pod')
      .filter((pod) => metaOf(pod).namespace === namespace && isLive(pod))
      .map((pod) => ({ text: `Pod ${metaOf(pod).name}`, labels: pod.metadata?.labels ?? {} })),
    ...templates,
  ];
  const distance = (labels: Readonly<Record<string, string>>): number =>
    Object.entries(wanted).filter(([key, value]) => labels[key] !== value).length;
  // Something must agree: the key at least, or other labels.
  const close = candidates
    .filter(({ labels }) => Object.keys(wanted).every((key) => labels[key] !== undefined))
    .sort((left, right) => distance(left.labels) - distance(right.labels))[0];
  if (!close)
    return reasonOf(
      'error',
      say('graph.selectorMatchesNothing', { selector }),
      say('graph.fix.selectorMatchesNothing'),
      shell`kubectl -n ${namespace} get pods --show-labels`,
    );
  const different = Object.keys(wanted).filter((key) => close.labels[key] !== wanted[key]);
  const pick = (labels: Readonly<Record<string, string>>): string =>
    labelText(Object.fromEntries(different.map((key) => [key, labels[key] ?? ''])));
  const repaired = Object.fromEntries(Object.keys(wanted).map((key) => [key, close.labels[key] ?? '']));
  return reasonOf(
    'error',
    say('graph.selectorMisspelled', { selector, pod: close.text, found: pick(close.labels) }),
    say('graph.fix.selectorMisspelled', { found: pick(close.labels), wanted: pick(wanted) }),
    shell`kubectl -n ${namespace} set selector service/${name} ${labelText(repaired)}`,
  );
};

const explainPorts = (service: V1Service, pod: V1Pod): GraphReason[] => {
  const { namespace, name } = metaOf(service);
  const declared = (pod.spec?.containers ?? []).flatMap(({ ports }) => ports ?? []);
  return (service.spec?.ports ?? []).flatMap(({ targetPort }) =>
    typeof targetPort === 'string' && !declared.some((port) => port.name === targetPort)
      ? [
          reasonOf(
            'error',
            say('graph.portNotFound', {
              port: targetPort,
              target: `Pod ${metaOf(pod).name}`,
              known: declared.map((port) => port.name ?? String(port.containerPort)).join(', ') || '-',
            }),
            say('graph.fix.portNotFound', { port: targetPort }),
            shell`kubectl -n ${namespace} edit service ${name}`,
          ),
        ]
      : [],
  );
};

const addService = (b: GraphBuilder, service: V1Service, slices: readonly V1EndpointSlice[]): void => {
  const { namespace, name } = metaOf(service);
  const id = idOf('Service', namespace, name);
  b.figures(id, service.spec?.type === 'ExternalName' ? 'ExternalName' : (service.spec?.type ?? 'ClusterIP'));
  const ready = new Set<string>();
  let endpointCount = 0;
  for (const slice of slices) {
    const sliceId = idOf('EndpointSlice', namespace, metaOf(slice).name);
    const endpoints = slice.endpoints ?? [];
    endpointCount += endpoints.length;
    const readyHere = endpoints.filter(({ conditions }) => conditions?.ready !== false);
    b.figures(sliceId, `${readyHere.length}/${endpoints.length}`);
    b.edge(id, sliceId, 'publishes');
    for (const { targetRef } of endpoints)
      if (targetRef?.kind === 'Pod' && b.nodes.has(idOf('Pod', namespace, targetRef.name ?? ''))) {
        b.edge(sliceId, idOf('Pod', namespace, targetRef.name ?? ''), 'reaches');
        ready.add(targetRef.name ?? '');
      }
    if (readyHere.length === 0 && endpoints.length > 0) b.waits(sliceId);
  }
  const isSelecting = Object.keys(service.spec?.selector ?? {}).length > 0;
  if (!isSelecting || service.spec?.type === 'ExternalName' || b.input.unread.has('Pod')) return;
  const pods = podsOf(b, service);
  if (pods.length === 0) {
    const nothing = b.standIn('Pod', '', namespace, labelText(service.spec?.selector ?? {}), 'missing');
    b.edge(id, nothing, 'selects', [explainSelector(b, service)]);
    return;
  }
  const isReady = (pod: V1Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');
  for (const pod of pods) {
    const podId = idOf('Pod', namespace, metaOf(pod).name);
    const reasons = explainPorts(service, pod);
    if (!ready.has(metaOf(pod).name) || reasons.length > 0) b.edge(id, podId, 'selects', reasons);
  }
  if (!pods.some(isReady))
    b.explain(
      id,
      reasonOf(
        'error',
        say('graph.noReadyEndpoints', { count: pods.length }),
        say('graph.fix.noReadyEndpoints'),
      ),
    );
  else if (
    endpointCount === 0 &&
    !b.input.unread.has('EndpointSlice') &&
    pods.every((pod) => explainPorts(service, pod).length === 0)
  )
    b.explain(
      id,
      reasonOf(
        'error',
        say('graph.endpointsMissing'),
        say('graph.fix.endpointsMissing'),
        'kubectl -n kube-system get lease kube-controller-manager',
      ),
    );
};

const addBackend = (b: GraphBuilder, id: string, namespace: string, backend: V1IngressBackend): void => {
  if (!backend.service) return;
  const { name, port } = backend.service;
  const service = b.refer<V1Service>(id, { kind: 'Service', namespace, name }, 'routes');
  const wanted = port?.name ?? port?.number;
  const ports = service?.spec?.ports ?? [];
  if (!service || wanted === undefined || ports.some((one) => one.name === wanted || one.port === wanted))
    return;
  b.edge(id, idOf('Service', namespace, name), 'routes', [
    reasonOf(
      'error',
      say('graph.portNotFound', {
        port: String(wanted),
        target: `Service ${name}`,
        known: ports.map((one) => one.name ?? String(one.port)).join(', ') || '-',
      }),
      say('graph.fix.portNotFound', { port: String(wanted) }),
      shell`kubectl -n ${namespace} edit ingress ${id.split('/')[2] ?? ''}`,
    ),
  ]);
};

const addIngress = (b: GraphBuilder, ingress: V1Ingress): void => {
  const { namespace, name } = metaOf(ingress);
  const id = idOf('Ingress', namespace, name);
  const { ingressClassName, defaultBackend, rules, tls } = ingress.spec ?? {};
  b.figures(id, (rules ?? []).map(({ host }) => host ?? '*').join(', '));
  if (ingressClassName !== undefined)
    b.refer(id, { kind: 'IngressClass', namespace: '', name: ingressClassName }, 'binds');
  if (defaultBackend) addBackend(b, id, namespace, defaultBackend);
  for (const { http } of rules ?? [])
    for (const { backend } of http?.paths ?? []) addBackend(b, id, namespace, backend);
  for (const { secretName } of tls ?? [])
    if (secretName !== undefined && secretName !== '')
      b.refer(id, { kind: 'Secret', namespace, name: secretName }, 'reads', {
        command: shell`kubectl -n ${namespace} create secret tls ${secretName} --cert=FILE --key=FILE`,
      });
};

export const addNetwork = (b: GraphBuilder): void => {
  const slices = groupBy(
    b.all<V1EndpointSlice>('EndpointSlice'),
    (slice) => `${metaOf(slice).namespace}/${slice.metadata?.labels?.[SERVICE_NAME] ?? ''}`,
  );
  for (const service of b.all<V1Service>('Service')) {
    const { namespace, name } = metaOf(service);
    addService(b, service, slices.get(`${namespace}/${name}`) ?? []);
  }
  for (const ingress of b.all<V1Ingress>('Ingress')) addIngress(b, ingress);
};
