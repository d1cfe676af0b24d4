import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import {
  formatMicroTime,
  isConflict,
  isNotFound,
  parseTime,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { V1Lease } from '../../api/schema/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
const NAMESPACE = 'kube-system';
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const COMPONENT = 'kube-apiserver';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';
const DURATION_SECONDS = 3600;
export const IDENTITY_RENEW_INTERVAL_MS = 10_000;
export const IDENTITY_GC_INTERVAL_MS = 3600 * 1000;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_HASH_BYTES = 16;

/** RFC 4648 without padding, in lower case: fit for a name. */
const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[parseInt(five.padEnd(5, '0'), 2)]).join('');
};

/** The same server has the same identity after a restart: it follows from the name of its host. */
export const apiServerId = (hostname: string): string =>
  `apiserver-${base32(createHash('sha256').update(hostname).digest().subarray(0, ID_HASH_BYTES))}`;

export interface IdentityLeaseOptions {
  readonly writer: ObjectWriter;
  readonly clock: Clock;
  readonly hostname: string;
  /** Another one for each life of the server. */
  readonly instance: string;
}

/** Creates or renews the lease that tells other servers that this one is alive. */
export const renewIdentityLease = async (options: IdentityLeaseOptions): Promise<void> => {
  const { writer, clock, hostname, instance } = options;
  const name = apiServerId(hostname);
  const labels = { [IDENTITY_LABEL]: COMPONENT, [HOSTNAME_LABEL]: hostname };
  const spec = {
    holderIdentity: `${name}_${instance}`,
    leaseDurationSeconds: DURATION_SECONDS,
    renewTime: formatMicroTime(clock.nowMs()),
  };
  await ensureObject(writer, LEASES, {
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: NAMESPACE, name, labels },
      spec,
    },
    revise: (stored) => ({
      ...stored,
      metadata: { ...stored.metadata, labels: { ...stored.metadata?.labels, ...labels } },
      spec: { ...(stored as V1Lease).spec, ...spec },
    }),
  });
};

const isOver = ({ spec }: V1Lease, nowMs: number): boolean => {
  const renewedMs = spec?.renewTime === undefined ? undefined : parseTime(spec.renewTime);
  // Without a time and a duration no one can tell: such a lease is no one's.
  if (renewedMs === undefined || spec?.leaseDurationSeconds === undefined) return true;
  return renewedMs + spec.leaseDurationSeconds * 1000 < nowMs;
};

/** Deletes the leases of servers that have not renewed them for their whole duration. */
export const collectIdentityLeases = async (writer: ObjectWriter, clock: Clock, log: Log): Promise<void> => {
  const leases = (await writer.list(LEASES, NAMESPACE)) as readonly (V1Lease & KubernetesObject)[];
  for (const lease of leases) {
    if (lease.metadata?.labels?.[IDENTITY_LABEL] !== COMPONENT || !isOver(lease, clock.nowMs())) continue;
    const { name = '', uid } = lease.metadata;
    try {
      await writer.delete(LEASES, NAMESPACE, name, uid);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      log.write('debug', 'an identity lease was gone already', { name, error: messageOf(error) });
    }
  }
};
