import type { KubernetesObject } from '../../meta/object-meta.ts';
import {
  AGE,
  ageOf,
  at,
  column,
  count,
  flag,
  integer,
  list,
  NAME,
  nameOf,
  since,
  text,
  textOr,
  wide,
  type TablePrinter,
} from './printer.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

const nodeRoles = (node: KubernetesObject): string => {
  const labels = Object.entries(node.metadata?.labels ?? {});
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' ? [value] : [];
  });
  return [...new Set(roles.filter((role) => role !== ''))].sort().join(',') || '<none>';
};

const nodeStatus = (node: KubernetesObject): string => {
  const ready = list(node, 'status', 'conditions').findLast((condition) => condition['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return flag(node, 'spec', 'unschedulable') ? `${status},SchedulingDisabled` : status;
};

const nodeAddress = (node: KubernetesObject, type: string): string =>
  textOr(
    '<none>',
    list(node, 'status', 'addresses').find((address) => address['type'] === type),
    'address',
  );

const NODE: TablePrinter = {
  columns: [
    NAME,
    column('Status', 'Whether the node takes pods.'),
    column('Roles', 'What the node is for.'),
    AGE,
    column('Version', 'The version of its kubelet.'),
    wide('Internal-IP', 'Its address inside the cluster.'),
    wide('External-IP', 'Its address outside the cluster.'),
    wide('OS-Image', 'Its operating system.'),
    wide('Kernel-Version', 'Its kernel.'),
    wide('Container-Runtime', 'What runs its containers.'),
  ],
  cells(node, nowMs) {
    const info = at(node, 'status', 'nodeInfo');
    const architecture = text(info, 'architecture');
    return [
      nameOf(node),
      nodeStatus(node),
      nodeRoles(node),
      ageOf(node, nowMs),
      text(info, 'kubeletVersion'),
      nodeAddress(node, 'InternalIP'),
      nodeAddress(node, 'ExternalIP'),
      textOr('<unknown>', info, 'osImage'),
      textOr('<unknown>', info, 'kernelVersion') + (architecture === '' ? '' : ` (${architecture})`),
      textOr('<unknown>', info, 'containerRuntimeVersion'),
    ];
  },
};

const eventSource = (event: KubernetesObject): string => {
  const component = text(event, 'source', 'component') || text(event, 'reportingComponent');
  const instance = text(event, 'source', 'host') || text(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
};

/** For events of the core group; those of events.k8s.io are converted to it first. */
const EVENT: TablePrinter = {
  columns: [
    column('Last Seen', 'The time since it last happened.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'What happened, in one word.'),
    column('Object', 'What it happened to.'),
    wide('Subobject', 'Which part of the object.'),
    wide('Source', 'Who says so.'),
    column('Message', 'What happened, in a sentence.'),
    wide('First Seen', 'The time since it first happened.'),
    wide('Count', 'How often it happened.'),
    column('Name', 'The name of the event.', { format: 'name', wide: true }),
  ],
  cells(event, nowMs) {
    const first = since(at(event, 'firstTimestamp') ?? at(event, 'eventTime'), nowMs);
    const series = at(event, 'series');
    const lastTime = series === undefined ? at(event, 'lastTimestamp') : at(series, 'lastObservedTime');
    const last = lastTime === undefined && series === undefined ? first : since(lastTime, nowMs);
    const kind = text(event, 'involvedObject', 'kind').toLowerCase();
    const name = text(event, 'involvedObject', 'name');
    return [
      last,
      text(event, 'type'),
      text(event, 'reason'),
      name === '' ? kind : `${kind}/${name}`,
      text(event, 'involvedObject', 'fieldPath'),
      eventSource(event),
      text(event, 'message').trim(),
      first,
      series === undefined ? count(event, 'count') || 1 : count(series, 'count'),
      nameOf(event),
    ];
  },
};

const NAMESPACE: TablePrinter = {
  columns: [NAME, column('Status', 'Whether it is in use or going away.'), AGE],
  cells: (object, nowMs) => [nameOf(object), text(object, 'status', 'phase'), ageOf(object, nowMs)],
};

const SECRET: TablePrinter = {
  columns: [NAME, column('Type', 'What the secret is for.'), column('Data', 'How many entries it has.'), AGE],
  cells: (object, nowMs) => [
    nameOf(object),
    text(object, 'type'),
    Object.keys((at(object, 'data') as object | undefined) ?? {}).length,
    ageOf(object, nowMs),
  ],
};

const CONFIG_MAP: TablePrinter = {
  columns: [NAME, column('Data', 'How many entries it has.'), AGE],
  cells(object, nowMs) {
    const entries = (name: string): number =>
      Object.keys((at(object, name) as object | undefined) ?? {}).length;
    return [nameOf(object), entries('data') + entries('binaryData'), ageOf(object, nowMs)];
  },
};

const SERVICE_ACCOUNT: TablePrinter = {
  columns: [NAME, AGE],
  cells: (object, nowMs) => [nameOf(object), ageOf(object, nowMs)],
};

const quotaText = (quota: KubernetesObject, isLimit: boolean): string => {
  const hard = (at(quota, 'status', 'hard') ?? {}) as Record<string, string>;
  return Object.keys(hard)
    .sort()
    .filter((name) => name.startsWith('limits.') === isLimit)
    .map((name) => `${name}: ${textOr('0', quota, 'status', 'used', name)}/${hard[name]}`)
    .join(', ');
};

const RESOURCE_QUOTA: TablePrinter = {
  columns: [
    NAME,
    column('Request', 'What is used, of what may be requested.'),
    column('Limit', 'What is used, of what may be the limit.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    quotaText(object, false),
    quotaText(object, true),
    ageOf(object, nowMs),
  ],
};

const COMPONENT_STATUS: TablePrinter = {
  columns: [
    NAME,
    column('Status', 'Whether the component is well.'),
    column('Message', 'What it said.'),
    column('Error', 'What went wrong in asking it.'),
  ],
  cells(object) {
    const healthy = list(object, 'conditions').find((condition) => condition['type'] === 'Healthy');
    const status = healthy === undefined ? 'Unknown' : healthy['status'] === 'True' ? 'Healthy' : 'Unhealthy';
    return [nameOf(object), status, text(healthy, 'message'), text(healthy, 'error')];
  },
};

const LEASE: TablePrinter = {
  columns: [NAME, column('Holder', 'Who holds it.'), AGE],
  cells: (object, nowMs) => [nameOf(object), text(object, 'spec', 'holderIdentity'), ageOf(object, nowMs)],
};

const RUNTIME_CLASS: TablePrinter = {
  columns: [NAME, column('Handler', 'The handler of the runtime.'), AGE],
  cells: (object, nowMs) => [nameOf(object), text(object, 'handler'), ageOf(object, nowMs)],
};

const SCALE: TablePrinter = {
  columns: [
    column('Name', 'The name of what is scaled.'),
    integer('Desired', 'How many pods are wanted.'),
    integer('Available', 'How many pods there are.'),
    AGE,
  ],
  cells: (object, nowMs) => [
    nameOf(object),
    count(object, 'spec', 'replicas'),
    count(object, 'status', 'replicas'),
    ageOf(object, nowMs),
  ],
};

export const CLUSTER_PRINTERS: Readonly<Record<string, TablePrinter>> = {
  '/Node': NODE,
  '/Event': EVENT,
  '/Namespace': NAMESPACE,
  '/Secret': SECRET,
  '/ConfigMap': CONFIG_MAP,
  '/ServiceAccount': SERVICE_ACCOUNT,
  '/ResourceQuota': RESOURCE_QUOTA,
  '/ComponentStatus': COMPONENT_STATUS,
  'coordination.k8s.io/Lease': LEASE,
  'node.k8s.io/RuntimeClass': RUNTIME_CLASS,
  'autoscaling/Scale': SCALE,
};
