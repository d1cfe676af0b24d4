import { LEASE_SEGMENTS_MAX, type LeaseView } from '../../../contract/index.ts';
import type { Lease, Stored } from '../../../client/index.ts';

const GAPS_MAX = 60;
const MS_PER_SECOND = 1000;
/** Upstream's label on the leases by which API servers say that they are there. */
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const NODE_LEASES = 'kube-node-lease';

const timeOf = (text: string | undefined): number | null => {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
};

export const kindOf = ({ metadata }: Stored<Lease>): LeaseView['kind'] => {
  if (metadata.namespace === NODE_LEASES) return 'node';
  return metadata.labels?.[IDENTITY_LABEL] === undefined ? 'election' : 'server';
};

const segmentsAfter = (
  before: LeaseView | undefined,
  holder: string,
  moment: { readonly acquiredAtMs: number | null; readonly seenAtMs: number },
): LeaseView['segments'] => {
  const segments = before?.segments ?? [];
  const last = segments.at(-1);
  const isOpen = last?.toMs === null;
  if (isOpen && last.holder === holder) return segments;
  // The new holder says since when; what was before the first look is taken from it too.
  const beganMs = holder === '' ? moment.seenAtMs : (moment.acquiredAtMs ?? moment.seenAtMs);
  // Who was killed held it until it ran out, not until somebody came for it.
  const renewedAtMs = before?.renewedAtMs ?? null;
  const ranOutMs =
    before === undefined || renewedAtMs === null
      ? Infinity
      : renewedAtMs + before.durationSeconds * MS_PER_SECOND;
  const ended = isOpen
    ? [...segments.slice(0, -1), { ...last, toMs: Math.max(last.fromMs, Math.min(beganMs, ranOutMs)) }]
    : segments;
  const more = holder === '' ? ended : [...ended, { holder, fromMs: beganMs, toMs: null }];
  return more.slice(-LEASE_SEGMENTS_MAX);
};

/** `seenAtMs` is of the server's clock, as all times of a lease are. */
export const trackLease = (
  before: LeaseView | undefined,
  lease: Stored<Lease>,
  seenAtMs: number,
): LeaseView => {
  const { metadata, spec = {} } = lease;
  const holder = spec.holderIdentity ?? '';
  const renewedAtMs = timeOf(spec.renewTime);
  const acquiredAtMs = timeOf(spec.acquireTime);
  const lastMs = before?.holder === holder ? before.renewedAtMs : null;
  const gap =
    lastMs !== null && renewedAtMs !== null && renewedAtMs > lastMs
      ? [(renewedAtMs - lastMs) / MS_PER_SECOND]
      : [];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    kind: kindOf(lease),
    holder,
    acquiredAtMs,
    renewedAtMs,
    durationSeconds: spec.leaseDurationSeconds ?? 0,
    transitions: spec.leaseTransitions ?? 0,
    segments: segmentsAfter(before, holder, { acquiredAtMs, seenAtMs }),
    renewGapsSeconds: [...(before?.renewGapsSeconds ?? []), ...gap].slice(-GAPS_MAX),
  };
};
