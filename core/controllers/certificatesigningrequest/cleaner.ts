import { messageOf } from '../../base/errors.ts';
import { findCondition, isNotFound, parseTime } from '../../api/meta/index.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../client/index.ts';
import type { CertificateSigningRequest, Stored } from '../../client/index.ts';
import { inspectBundle } from '../../pki/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat } from '../runtime/work-loop.ts';

const HOUR_MS = 3_600_000;
const PASS_MS = HOUR_MS;
const DECIDED_KEPT_MS = HOUR_MS;
const PENDING_KEPT_MS = 24 * HOUR_MS;

const isExpired = (certificate: string, nowMs: number): boolean => {
  const [first] = inspectBundle(Buffer.from(certificate, 'base64').toString('utf8'));
  return first !== undefined && nowMs > first.notAfterMs;
};

/** Whether no one needs a request any more: decided an hour ago, ignored for a day, or run out. */
export const isSpent = ({ metadata, status }: Stored<CertificateSigningRequest>, nowMs: number): boolean => {
  const olderThan = (time: string | null | undefined, ageMs: number): boolean => {
    const atMs = parseTime(time ?? '');
    return atMs !== undefined && nowMs - atMs > ageMs;
  };
  const decided = (type: string): boolean =>
    olderThan(findCondition(status?.conditions, type)?.lastUpdateTime, DECIDED_KEPT_MS);
  if ((status?.conditions ?? []).length === 0) return olderThan(metadata.creationTimestamp, PENDING_KEPT_MS);
  if (decided('Denied') || decided('Failed')) return true;
  const isApproved = findCondition(status?.conditions, 'Approved') !== undefined;
  if (!isApproved || !status?.certificate) return false;
  return decided('Approved') || isExpired(status.certificate, nowMs);
};

/** Deletes requests that are spent: kubelets make one whenever they renew. */
export const csrCleaner: ControllerDefinition<ControllerSettings> = {
  name: 'certificatesigningrequest-cleaner-controller',
  aliases: ['csrcleaner'],
  serviceAccount: 'certificate-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers, clock, log } = context;
    const requests = informers.informer(CERTIFICATE_SIGNING_REQUEST);
    return {
      run: (signal) =>
        repeat(context, PASS_MS, signal, async () => {
          for (const csr of requests.store.list()) {
            const { name, uid } = csr.metadata;
            try {
              if (isSpent(csr, clock.nowMs()))
                await client.resource(CERTIFICATE_SIGNING_REQUEST).delete(name, { preconditions: { uid } });
            } catch (error) {
              if (isNotFound(error)) continue;
              log.write('warn', 'a certificate request could not be cleaned', {
                name,
                error: messageOf(error),
              });
            }
          }
        }),
    };
  },
};
