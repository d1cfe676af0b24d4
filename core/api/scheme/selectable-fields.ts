import type { GroupKind } from '../meta/group-version.ts';
import type { KubernetesObject } from '../meta/object-meta.ts';
import type { FieldLookup } from '../selector/index.ts';
import { eventFieldLabel } from './conversion/event.ts';

/** Which fields `fieldSelector` may name, kind by kind, and what each is of an object as it is kept. */
type Read = (object: KubernetesObject) => string;

const textAt = (object: unknown, path: readonly string[]): string => {
  const found = path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    object,
  );
  return found === undefined || found === null ? '' : String(found);
};

/** A field that reads as what stands there; what is absent is empty. */
const plain = (...labels: readonly string[]): Record<string, Read> =>
  Object.fromEntries(labels.map((label) => [label, (object) => textAt(object, label.split('.'))]));

/** Booleans and numbers read as their zero when absent, as Go prints them. */
const zeroIs = (zero: string, label: string, path = label): Record<string, Read> => ({
  [label]: (object) => textAt(object, path.split('.')) || zero,
});

const NAME = plain('metadata.name');
const NAMES = plain('metadata.name', 'metadata.namespace');

const EVENT: Record<string, Read> = {
  ...NAMES,
  ...plain(
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'type',
  ),
  source: (event) => textAt(event, ['source', 'component']) || textAt(event, ['reportingComponent']),
};

const podIps: Read = (pod) => {
  const ips = (pod['status'] as { podIPs?: { ip?: string }[] } | undefined)?.podIPs ?? [];
  return ips.map(({ ip }) => ip ?? '').join(',');
};

const FIELDS: Readonly<Record<string, Readonly<Record<string, Read>> | undefined>> = {
  '/Pod': {
    ...NAMES,
    ...plain(
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ),
    ...zeroIs('false', 'spec.hostNetwork'),
    'status.podIPs': podIps,
  },
  '/Node': { ...NAME, ...zeroIs('false', 'spec.unschedulable') },
  '/Namespace': { ...NAME, ...plain('status.phase') },
  '/Secret': { ...NAMES, ...plain('type') },
  '/Service': { ...NAMES, ...plain('spec.clusterIP', 'spec.type') },
  '/ReplicationController': { ...NAMES, ...zeroIs('0', 'status.replicas') },
  '/Event': EVENT,
  'events.k8s.io/Event': EVENT,
  'batch/Job': { ...NAMES, ...zeroIs('0', 'status.successful', 'status.succeeded') },
  'certificates.k8s.io/CertificateSigningRequest': { ...NAME, ...plain('spec.signerName') },
  'resource.k8s.io/ResourceSlice': { ...NAME, ...plain('spec.nodeName', 'spec.driver') },
};

const ALIASES: Readonly<Record<string, string>> = { '/Pod spec.host': 'spec.nodeName' };

const fieldsOf = ({ group, kind }: GroupKind): Readonly<Record<string, Read>> =>
  FIELDS[`${group}/${kind}`] ?? NAMES;

/** The label as objects are looked up by; a sentence of refusal when the kind does not offer it. */
export const resolveFieldLabel = (
  kind: GroupKind,
  label: string,
): { readonly label: string } | { readonly refusal: string } => {
  const known = FIELDS[`${kind.group}/${kind.kind}`];
  const resolved =
    kind.group === 'events.k8s.io'
      ? eventFieldLabel(label)
      : (ALIASES[`${kind.group}/${kind.kind} ${label}`] ?? label);
  if (Object.hasOwn(fieldsOf(kind), resolved)) return { label: resolved };
  if (known === undefined)
    return {
      refusal: `${JSON.stringify(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    };
  if (kind.kind === 'Job') return { refusal: `field label ${JSON.stringify(label)} not supported for Job` };
  return { refusal: `field label not supported: ${label}` };
};

/** What a field selector reads of an object, which is in the version it is kept in. */
export const fieldLookupOf = (kind: GroupKind, object: KubernetesObject): FieldLookup => {
  const fields = fieldsOf(kind);
  return (label) => (Object.hasOwn(fields, label) ? fields[label]!(object) : undefined);
};
