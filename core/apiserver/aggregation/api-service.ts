import {
  findCondition,
  withCondition,
  type Condition,
  type GroupVersion,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { int, isTrue, maybeObj, obj, objs, str } from '../../api/validation/read.ts';

export const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' } as const;

/** The group that is never routed by an APIService, since it is what routes. */
export const OWN_GROUP = API_SERVICES.group;

const DEFAULT_PORT = 443;
const AVAILABLE = 'Available';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** What routing, discovery and the availability check read of an APIService that another server answers for. */
export interface RemoteApiService extends GroupVersion {
  readonly name: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly service: ServiceReference;
  /** PEM; empty: the authorities of the system. */
  readonly caBundle: string;
  readonly isInsecure: boolean;
  readonly isAvailable: boolean;
}

export const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '';

export const conditionsOf = (object: KubernetesObject): readonly Condition[] =>
  objs(obj(object, 'status'), 'conditions') as unknown as readonly Condition[];

/** Undefined for an APIService that this server answers itself. */
export const remoteOf = (object: KubernetesObject): RemoteApiService | undefined => {
  const spec = obj(object, 'spec');
  const service = maybeObj(spec, 'service');
  const group = str(spec, 'group');
  if (service === undefined || group === '' || group === OWN_GROUP) return undefined;
  return {
    name: nameOf(object),
    group,
    version: str(spec, 'version'),
    groupPriority: int(spec, 'groupPriorityMinimum'),
    versionPriority: int(spec, 'versionPriority'),
    service: {
      namespace: str(service, 'namespace'),
      name: str(service, 'name'),
      port: int(service, 'port') || DEFAULT_PORT,
    },
    caBundle: Buffer.from(str(spec, 'caBundle'), 'base64').toString('utf8'),
    isInsecure: isTrue(spec, 'insecureSkipTLSVerify'),
    isAvailable: findCondition(conditionsOf(object), AVAILABLE)?.status === 'True',
  };
};

export interface Availability {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const LOCAL_AVAILABILITY: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

export const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/** The object with the condition in its status; undefined where it says so already. */
export const withAvailability = (
  object: KubernetesObject,
  availability: Availability,
  now: string,
): KubernetesObject | undefined => {
  const before = conditionsOf(object);
  const conditions = withCondition(before, { type: AVAILABLE, ...availability }, now);
  return conditions === before ? undefined : { ...object, status: { ...obj(object, 'status'), conditions } };
};
