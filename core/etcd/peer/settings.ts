import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { AllowedNames } from '../../base/node/certificate-names.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';

/** `--peer-cert-file`, `--peer-key-file`, `--peer-trusted-ca-file`, as PEM. */
export interface PeerTls extends Pick<
  SecureContextOptions,
  'cert' | 'key' | 'ca' | 'crl' | 'minVersion' | 'maxVersion' | 'ciphers'
> {
  /** `--peer-client-cert-auth`: who dials must show a certificate of `ca`. */
  readonly clientCertAuth: boolean;
  /** `--peer-cert-allowed-cn`, `--peer-cert-allowed-hostname`: who may dial. */
  readonly allowed?: AllowedNames;
  /** `--peer-client-cert-file`: shown when dialling, where it is another than `cert`. */
  readonly dial?: Pick<SecureContextOptions, 'cert' | 'key'>;
  /** False with `--peer-auto-tls`: a self-signed certificate cannot be verified. */
  readonly verifyPeers?: boolean;
  /** The address that a peer dials from must be in its certificate. */
  readonly verifyAddress?: boolean;
}

/** How long and how much, derived from the election timeout so that tests and slow networks scale alike. */
export interface PeerLimits {
  /** Pings go, and silence is counted, at this pace. */
  readonly tickMs: number;
  /** A connection that is silent for so many ticks is given up. */
  readonly silentTicksMax: number;
  /** From dialling to the welcome. */
  readonly dialTimeoutMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** What may wait to be sent to one peer. */
  readonly queueBytesMax: number;
  readonly queueFramesMax: number;
  readonly requestsPendingMax: number;
}

const MIB = 1024 * 1024;
const DIAL_TIMEOUT_MIN_MS = 1000;
const BACKOFF_MIN_MS = 20;
const BACKOFF_MAX_MS = 1000;

/** Twice what Raft lets be on its way to one peer. */
const QUEUE_BYTES_MAX = 32 * MIB;
/** etcd's buffer of a stream. */
const QUEUE_FRAMES_MAX = 4096;
const REQUESTS_PENDING_MAX = 1024;
const SILENT_TICKS_MAX = 2;

/** Silence is noticed within four election timeouts; etcd's own streams wait for five seconds. */
export const limitsFor = (electionTimeoutMs: number): PeerLimits => ({
  tickMs: 2 * electionTimeoutMs,
  silentTicksMax: SILENT_TICKS_MAX,
  dialTimeoutMs: Math.max(DIAL_TIMEOUT_MIN_MS, 2 * electionTimeoutMs),
  backoffMinMs: BACKOFF_MIN_MS,
  backoffMaxMs: Math.min(BACKOFF_MAX_MS, electionTimeoutMs),
  queueBytesMax: QUEUE_BYTES_MAX,
  queueFramesMax: QUEUE_FRAMES_MAX,
  requestsPendingMax: REQUESTS_PENDING_MAX,
});

/** What every connection of one transport needs to know. */
export interface PeerSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: PeerLimits;
  /** Peers are dialled from it. */
  readonly localAddress?: string | undefined;
  /** Asked for each new connection, so that renewed certificates count from then on. */
  tls(): PeerTls | undefined;
}
