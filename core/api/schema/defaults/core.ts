import {
  ensureObject,
  fill,
  fillPointers,
  listAt,
  objectAt,
  type Defaulter,
  type Fields,
} from './defaulter.ts';

const AFFINITY_TIMEOUT_SECONDS = 10_800;

const replicationController: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const template = objectAt(spec, 'template');
  const metadata = template && objectAt(template, 'metadata');
  const labels = metadata && objectAt(metadata, 'labels');
  if (!labels) return;
  fill(spec, { selector: { ...labels } });
  fill(ensureObject(value, 'metadata'), { labels: { ...labels } });
};

const servicePort = (port: Fields): void => {
  fill(port, { protocol: 'TCP' });
  if (!port['targetPort'] && port['port'] !== undefined) port['targetPort'] = port['port'];
};

const sessionAffinity = (spec: Fields): void => {
  fill(spec, { sessionAffinity: 'None' });
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  const config = objectAt(spec, 'sessionAffinityConfig');
  const clientIp = config && objectAt(config, 'clientIP');
  if (clientIp?.['timeoutSeconds'] === undefined)
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } };
};

const service: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  sessionAffinity(spec);
  fill(spec, { type: 'ClusterIP' });
  for (const port of listAt(spec, 'ports')) servicePort(port);
  const type = spec['type'];
  const outside =
    type === 'NodePort' ||
    type === 'LoadBalancer' ||
    (type === 'ClusterIP' && listAt(spec, 'externalIPs').length > 0);
  if (outside) fill(spec, { externalTrafficPolicy: 'Cluster' });
  if (type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer')
    fillPointers(spec, { internalTrafficPolicy: 'Cluster' });
  if (type !== 'LoadBalancer') return;
  fill(spec, { allocateLoadBalancerNodePorts: true });
  const status = objectAt(value, 'status');
  for (const ingress of listAt(status && objectAt(status, 'loadBalancer'), 'ingress'))
    if (ingress['ip']) fillPointers(ingress, { ipMode: 'VIP' });
};

const limitRangeItem: Defaulter = (value) => {
  if (value['type'] !== 'Container') return;
  const limit = { ...objectAt(value, 'max'), ...objectAt(value, 'default') };
  const request = { ...objectAt(value, 'min'), ...limit, ...objectAt(value, 'defaultRequest') };
  if (Object.keys(limit).length > 0) value['default'] = limit;
  if (Object.keys(request).length > 0) value['defaultRequest'] = request;
};

const namespace: Defaulter = (value) => {
  const metadata = ensureObject(value, 'metadata');
  const name = metadata['name'];
  if (name) metadata['labels'] = { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': name };
};

const endpointSubset: Defaulter = (value) => {
  for (const port of listAt(value, 'ports')) fill(port, { protocol: 'TCP' });
};

export const CORE_DEFAULTERS: Readonly<Record<string, Defaulter>> = {
  'core.v1.ReplicationController': replicationController,
  'core.v1.Service': service,
  'core.v1.Secret': (value) => fill(value, { type: 'Opaque' }),
  'core.v1.PersistentVolume': (value) => {
    fill(ensureObject(value, 'status'), { phase: 'Pending' });
    const spec = ensureObject(value, 'spec');
    fill(spec, { persistentVolumeReclaimPolicy: 'Retain' });
    fillPointers(spec, { volumeMode: 'Filesystem' });
  },
  'core.v1.PersistentVolumeClaim': (value) => fill(ensureObject(value, 'status'), { phase: 'Pending' }),
  'core.v1.PersistentVolumeClaimSpec': (value) => fillPointers(value, { volumeMode: 'Filesystem' }),
  'core.v1.EndpointSubset': endpointSubset,
  'core.v1.Namespace': namespace,
  'core.v1.NamespaceStatus': (value) => fill(value, { phase: 'Active' }),
  'core.v1.NodeSpec': (value) => {
    const ranges = value['podCIDRs'] as string[] | undefined;
    const range = value['podCIDR'];
    // Older clients know the single field alone, so it wins.
    if (range && ranges?.[0] !== range) value['podCIDRs'] = [range];
    else if (!range && ranges?.[0] !== undefined) value['podCIDR'] = ranges[0];
  },
  'core.v1.NodeStatus': (value) => {
    const capacity = objectAt(value, 'capacity');
    if (capacity) fill(value, { allocatable: { ...capacity } });
  },
  'core.v1.LimitRangeItem': limitRangeItem,
};
