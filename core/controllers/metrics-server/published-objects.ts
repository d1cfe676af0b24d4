import { sameValue } from '../../api/validation/read.ts';
import type { APIService, EndpointSlice, Service } from '../../client/index.ts';
import { GROUP, VERSION } from '../../metrics-server/index.ts';

export const NAMESPACE = 'kube-system';
export const NAME = 'metrics-server';
export const API_SERVICE_NAME = `${VERSION}.${GROUP}`;
export const SERVER_NAME = `${NAME}.${NAMESPACE}.svc`;

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const LABELS = { [MANAGED_BY]: 'pilothouse', 'k8s-app': NAME };
const SERVICE_PORT = 443;
/** As upstream's manifests. */
const GROUP_PRIORITY = 100;
const VERSION_PRIORITY = 100;

export interface PublishedPlace {
  readonly address: string;
  readonly port: number;
  /** The authority of the serving certificate, as PEM. */
  readonly authority: string;
}

export interface PublishedObjects {
  readonly service: Service;
  readonly slice: EndpointSlice;
  readonly apiService: APIService;
}

/** What leads API servers to the metrics server at a place. */
export const publishedObjects = ({ address, port, authority }: PublishedPlace): PublishedObjects => ({
  service: {
    metadata: { namespace: NAMESPACE, name: NAME, labels: LABELS },
    spec: { ports: [{ name: 'https', port: SERVICE_PORT, protocol: 'TCP', targetPort: port }] },
  },
  slice: {
    metadata: {
      namespace: NAMESPACE,
      name: NAME,
      labels: {
        ...LABELS,
        'kubernetes.io/service-name': NAME,
        'endpointslice.kubernetes.io/managed-by': 'metrics-server-controller.pilothouse',
      },
    },
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  },
  apiService: {
    metadata: { name: API_SERVICE_NAME, labels: LABELS },
    spec: {
      group: GROUP,
      version: VERSION,
      groupPriorityMinimum: GROUP_PRIORITY,
      versionPriority: VERSION_PRIORITY,
      caBundle: Buffer.from(authority).toString('base64'),
      service: { namespace: NAMESPACE, name: NAME, port: SERVICE_PORT },
    },
  },
});

interface Labelled {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined };
}

/** Made by this controller, and not taken over since. */
export const isOwn = (object: Labelled | undefined): boolean =>
  object === undefined || object.metadata?.labels?.[MANAGED_BY] === LABELS[MANAGED_BY];

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value has everything that is wanted of it. The server adds fields of its own: addresses, defaults. */
const covers = (is: unknown, want: unknown): boolean => {
  if (Array.isArray(want))
    return Array.isArray(is) && is.length === want.length && want.every((one, at) => covers(is[at], one));
  if (!isPlain(want)) return sameValue(is, want);
  return Object.entries(want).every(([key, value]) => isPlain(is) && covers(is[key], value));
};

/** The stored object with what is wanted in these fields; undefined where it says so already. */
export const revised = <T extends object>(
  stored: T,
  wanted: T,
  fields: readonly (keyof T)[],
): T | undefined => {
  if (fields.every((field) => covers(stored[field], wanted[field]))) return undefined;
  const next = { ...stored };
  for (const field of fields) {
    const [is, want] = [stored[field], wanted[field]];
    next[field] = isPlain(want) && isPlain(is) ? { ...is, ...want } : want;
  }
  return next;
};
