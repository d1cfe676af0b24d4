/** Labels that a kubelet may set on its own node. All others of Kubernetes' domains steer pods: it may not. */
const KUBELET_LABELS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io'];
const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';

const domainOf = (label: string): string => (label.includes('/') ? label.slice(0, label.indexOf('/')) : '');

const isWithin = (domain: string, parent: string): boolean =>
  domain === parent || domain.endsWith(`.${parent}`);

type Labels = Readonly<Record<string, string>> | undefined;

const changedLabels = (a: Labels = {}, b: Labels = {}): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((label) => a[label] !== b[label]);

const isForbidden = (label: string): boolean => {
  const domain = domainOf(label);
  if (isWithin(domain, RESTRICTED_DOMAIN)) return true;
  if (!KUBERNETES_DOMAINS.some((parent) => isWithin(domain, parent))) return false;
  return !KUBELET_LABELS.has(label) && !KUBELET_DOMAINS.some((parent) => isWithin(domain, parent));
};

/** Labels that differ and are not the node's to change, sorted. */
export const forbiddenLabelChanges = (next: Labels, old: Labels): string[] =>
  changedLabels(next, old).filter(isForbidden).sort();
