import { quantityFrom, type Quantity } from '../../quantity/index.ts';
import {
  ensureObject,
  fill,
  fillNonZero,
  listAt,
  objectAt,
  type Defaulter,
  type Fields,
} from './defaulter.ts';

const MODE_0644 = 0o644;
/** Minor from which the reference of an image volume gets a pull policy. */
const IMAGE_VOLUME_MINOR = 35;

/** `latest` is what an image without tag and digest means, so both are pulled always. */
export const pullPolicyOf = (image: string): 'Always' | 'IfNotPresent' => {
  const atSign = image.indexOf('@');
  const reference = atSign < 0 ? image : image.slice(0, atSign);
  const lastPart = reference.slice(reference.lastIndexOf('/') + 1);
  const colon = lastPart.indexOf(':');
  const tag = colon < 0 ? (atSign < 0 ? 'latest' : '') : lastPart.slice(colon + 1);
  // What is no image name has no tag; validation has the last word on it.
  return tag === 'latest' && IMAGE_NAME.test(reference) ? 'Always' : 'IfNotPresent';
};

const IMAGE_NAME = /^[a-z0-9A-Z.\-:[\]_/]+$/;

const container: Defaulter = (value) => {
  fill(value, {
    imagePullPolicy: pullPolicyOf((value['image'] as string | undefined) ?? ''),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
};

/** A limit without a request is also the request. */
const requestsFromLimits = (containers: readonly Fields[]): void => {
  for (const item of containers) {
    const resources = objectAt(item, 'resources');
    const limits = resources && objectAt(resources, 'limits');
    if (!resources || !limits) continue;
    resources['requests'] = { ...limits, ...objectAt(resources, 'requests') };
  }
};

const hostPorts = (containers: readonly Fields[]): void => {
  for (const item of containers)
    for (const port of listAt(item, 'ports'))
      if (!port['hostPort'] && port['containerPort'] !== undefined) port['hostPort'] = port['containerPort'];
};

const isRestartableInit = (item: Fields): boolean => item['restartPolicy'] === 'Always';

type Amounts = Map<string, Quantity>;

const addTo = (sum: Amounts, amounts: Fields | undefined): void => {
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const amount = quantityFrom(text);
    const before = sum.get(name);
    sum.set(name, before ? before.add(amount) : amount);
  }
};

const raiseTo = (sum: Amounts, floor: Amounts): void => {
  for (const [name, amount] of floor) {
    const before = sum.get(name);
    if (!before || before.compare(amount) < 0) sum.set(name, amount);
  }
};

/** Containers run together; each init container runs beside the sidecars started before it. */
const aggregate = (spec: Fields, what: 'requests' | 'limits'): Amounts => {
  const amountsOf = (item: Fields): Fields | undefined => {
    const resources = objectAt(item, 'resources');
    return resources && objectAt(resources, what);
  };
  const total: Amounts = new Map();
  for (const item of listAt(spec, 'containers')) addTo(total, amountsOf(item));
  const sidecars: Amounts = new Map();
  const initPeak: Amounts = new Map();
  for (const item of listAt(spec, 'initContainers')) {
    const needed: Amounts = new Map(sidecars);
    addTo(needed, amountsOf(item));
    if (isRestartableInit(item)) {
      addTo(sidecars, amountsOf(item));
      addTo(total, amountsOf(item));
    }
    raiseTo(initPeak, needed);
  }
  raiseTo(total, initPeak);
  return total;
};

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

const podLevelResources = (spec: Fields): void => {
  const resources = objectAt(spec, 'resources');
  if (!resources) return;
  const isEmpty = (what: string): boolean => Object.keys(objectAt(resources, what) ?? {}).length === 0;
  if (!isEmpty('limits') || !isEmpty('requests')) {
    const limits = { ...objectAt(resources, 'limits') };
    const requests = objectAt(resources, 'requests') ?? {};
    for (const [name, amount] of aggregate(spec, 'limits'))
      if (isHugePages(name) && !(name in requests) && !(name in limits)) limits[name] = amount.toString();
    if (Object.keys(limits).length > 0) resources['limits'] = limits;
  }
  if (isEmpty('limits')) return;
  const requests = { ...objectAt(resources, 'requests') };
  for (const [name, amount] of aggregate(spec, 'requests'))
    if (!(name in requests) && isPodLevel(name) && !isHugePages(name)) requests[name] = amount.toString();
  for (const [name, text] of Object.entries(objectAt(resources, 'limits')!))
    if (!(name in requests) && isPodLevel(name)) requests[name] = text;
  if (Object.keys(requests).length > 0) resources['requests'] = requests;
};

/** Only what is a pod: a template keeps these open for the pod that is made of it. */
const pod: Defaulter = (value) => {
  const spec = ensureObject(value, 'spec');
  const grace = spec['terminationGracePeriodSeconds'];
  if (typeof grace === 'number' && grace < 0) spec['terminationGracePeriodSeconds'] = 1;
  requestsFromLimits(listAt(spec, 'containers'));
  requestsFromLimits(listAt(spec, 'initContainers'));
  podLevelResources(spec);
  fill(spec, { enableServiceLinks: true });
  if (spec['hostNetwork'] === true) {
    hostPorts(listAt(spec, 'containers'));
    hostPorts(listAt(spec, 'initContainers'));
  }
};

const podSpec: Defaulter = (value) => {
  const account = value['serviceAccountName'] || value['serviceAccount'];
  if (account) value['serviceAccountName'] = value['serviceAccount'] = account;
  fill(value, {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
  });
};

const podStatus: Defaulter = (value) => {
  const ips = listAt(value, 'podIPs');
  const ip = value['podIP'];
  if (ip && ips[0]?.['ip'] !== ip) value['podIPs'] = [{ ip }];
  else if (!ip && ips.length > 0) value['podIP'] = ips[0]!['ip'];
};

const probe: Defaulter = (value) =>
  fillNonZero(value, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });

const volume: Defaulter = (value, { minor }) => {
  if (Object.keys(value).every((name) => name === 'name')) value['emptyDir'] = {};
  const image = objectAt(value, 'image');
  if (image && minor >= IMAGE_VOLUME_MINOR)
    fill(image, { pullPolicy: pullPolicyOf((image['reference'] as string | undefined) ?? '') });
};

const defaultMode: Defaulter = (value) => fill(value, { defaultMode: MODE_0644 });

export const POD_DEFAULTERS: Readonly<Record<string, Defaulter>> = {
  'core.v1.Pod': pod,
  'core.v1.PodSpec': podSpec,
  'core.v1.PodStatus': podStatus,
  'core.v1.Container': container,
  'core.v1.EphemeralContainer': container,
  'core.v1.Probe': probe,
  'core.v1.Volume': volume,
  'core.v1.SecretVolumeSource': defaultMode,
  'core.v1.ConfigMapVolumeSource': defaultMode,
  'core.v1.DownwardAPIVolumeSource': defaultMode,
  'core.v1.ProjectedVolumeSource': defaultMode,
  'core.v1.ServiceAccountTokenProjection': (value) => fill(value, { expirationSeconds: 3600 }),
  'core.v1.HostPathVolumeSource': (value) => (value['type'] ??= ''),
  'core.v1.HTTPGetAction': (value) => fill(value, { path: '/', scheme: 'HTTP' }),
  'core.v1.GRPCAction': (value) => (value['service'] ??= ''),
  'core.v1.ObjectFieldSelector': (value) => fill(value, { apiVersion: 'v1' }),
};
