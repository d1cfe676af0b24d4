import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { isConditionTrue } from '../../api/meta/index.ts';
import { CERTIFICATE_SIGNING_REQUEST, type Client } from '../../client/index.ts';
import {
  createRequest,
  generateKey,
  inspectPem,
  privateKeyPem,
  type AlternativeNames,
  type Credential,
  type Subject,
} from '../../pki/index.ts';

/** As upstream: somewhere between these shares of its lifetime a certificate is replaced. */
const SHARE_MIN = 0.7;
const SHARE_MAX = 0.9;
/** Timers of the system reach no further than 24 days. */
const WAIT_MS_MAX = 24 * 3_600_000;
const RETRY_MS_MIN = 2_000;
const RETRY_MS_MAX = 600_000;
/** Upstream's time for a request to be approved and signed. */
const ISSUE_WAIT_MS = 15 * 60_000;
const ASK_MS_MIN = 200;
const ASK_MS_MAX = 10_000;

export interface CertificateWish {
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly subject: Subject;
  readonly alternativeNames?: AlternativeNames;
}

/** What the Node authorizer knows a node by. */
export const kubeletClientWish = (nodeName: string): CertificateWish => ({
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
  subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
});

export interface RotationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** With the identity that asks. */
  readonly client: Client;
  readonly wish: CertificateWish;
  /** The certificate in use, PEM; undefined: there is none yet. */
  current(): Promise<string | undefined>;
  /** Takes a new one into use. */
  save(credential: Credential): Promise<void>;
}

const pause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      timer.dispose();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal.addEventListener('abort', done, { once: true });
  });

/** Has a new key signed through the certificates API; rejects when it is denied, or not signed in time. */
export const requestCertificate = async (
  { signerName, usages, subject, alternativeNames }: CertificateWish,
  { client, clock, signal }: { readonly client: Client; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Credential> => {
  const key = generateKey();
  const request = createRequest(key, { subject, ...(alternativeNames && { alternativeNames }) });
  const requests = client.resource(CERTIFICATE_SIGNING_REQUEST);
  const { metadata } = await requests.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: { request: Buffer.from(request).toString('base64'), signerName, usages: [...usages] },
  });
  const deadlineMs = clock.monotonicMs() + ISSUE_WAIT_MS;
  for (let waitMs = ASK_MS_MIN; ; waitMs = Math.min(2 * waitMs, ASK_MS_MAX)) {
    await pause(clock, waitMs, signal);
    if (signal.aborted) throw new Error(`stopped waiting for CertificateSigningRequest ${metadata.name}`);
    const { status } = await requests.get(metadata.name);
    for (const type of ['Denied', 'Failed'])
      if (isConditionTrue(status?.conditions, type)) {
        const message = status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
        throw new Error(`CertificateSigningRequest ${metadata.name} is ${type}: ${message}`);
      }
    if (status?.certificate) {
      const certificatePem = Buffer.from(status.certificate, 'base64').toString('utf8');
      inspectPem(certificatePem);
      return { certificatePem, privateKeyPem: privateKeyPem(key) };
    }
    if (clock.monotonicMs() > deadlineMs)
      throw new Error(
        `CertificateSigningRequest ${metadata.name} is not signed after 15 minutes; approve it with kubectl certificate approve ${metadata.name}`,
      );
  }
};

/** Replaces a certificate through the certificates API before it expires, for as long as it is not disposed. */
export class CertificateRotation implements Disposable {
  readonly #options: RotationOptions;
  readonly #abort = new AbortController();
  readonly #share: number;

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#share = SHARE_MIN + (SHARE_MAX - SHARE_MIN) * options.random.next();
  }

  /** The first look comes within this time: looks of a thousand nodes that start together are spread. */
  start(withinMs = 0): void {
    const { clock, random } = this.#options;
    const { signal } = this.#abort;
    if (withinMs === 0) void this.#run();
    else void pause(clock, withinMs * random.next(), signal).then(() => this.#run());
  }

  dispose(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { clock, log, wish } = this.#options;
    const { signal } = this.#abort;
    let retryMs = RETRY_MS_MIN;
    while (!signal.aborted)
      try {
        const waitMs = (await this.#dueMs()) - clock.nowMs();
        if (waitMs > 0) {
          await pause(clock, Math.min(waitMs, WAIT_MS_MAX), signal);
          continue;
        }
        await this.#options.save(await requestCertificate(wish, { ...this.#options, signal }));
        // One that does not last, or was not kept, must not be asked for again and again without a pause.
        if ((await this.#dueMs()) <= clock.nowMs()) throw new Error('the new certificate is due already');
        log.write('info', 'rotated a certificate through the API', { name: wish.subject.commonName });
        retryMs = RETRY_MS_MIN;
      } catch (error) {
        if (signal.aborted) return;
        const name = wish.subject.commonName;
        log.write('warn', 'a certificate could not be rotated', { name, error: messageOf(error) });
        await pause(clock, retryMs, signal);
        retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
      }
  }

  async #dueMs(): Promise<number> {
    const current = await this.#options.current();
    if (current === undefined) return 0;
    const { notBeforeMs, notAfterMs } = inspectPem(current);
    return notBeforeMs + (notAfterMs - notBeforeMs) * this.#share;
  }
}
