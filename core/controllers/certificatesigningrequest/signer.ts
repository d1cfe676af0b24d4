import { messageOf } from '../../base/errors.ts';
import { readPair, watchFiles } from '../../base/node/pem-files.ts';
import { formatTime, isConditionTrue } from '../../api/meta/index.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../client/index.ts';
import type { CertificateSigningRequest, Stored } from '../../client/index.ts';
import { issueFor, openAuthority, type Authority, type Usage } from '../../pki/index.ts';
import { signingFiles, type ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { CHECK_OF_SIGNER, requestOf, SIGNERS } from './kubelet-requests.ts';

const WORKERS = 5;
/** Twice what a certificate is dated back. */
const VALIDITY_MIN_MS = 10 * 60_000;

const USAGE_OF: Readonly<Record<string, Usage>> = { 'client auth': 'client', 'server auth': 'server' };

const validityMs = ({ spec }: CertificateSigningRequest, longestMs: number): number =>
  spec.expirationSeconds === undefined
    ? longestMs
    : Math.min(longestMs, Math.max(VALIDITY_MIN_MS, spec.expirationSeconds * 1000));

/** How the flags name each. */
const SIGNER_FLAG = {
  [SIGNERS.apiServerClient]: 'kube-apiserver-client',
  [SIGNERS.kubeletClient]: 'kubelet-client',
  [SIGNERS.kubeletServing]: 'kubelet-serving',
  [SIGNERS.legacyUnknown]: 'legacy-unknown',
} as const;

/** Signs approved requests of the four signers of Kubernetes, with one authority for all or one for each. */
export const csrSigner: ControllerDefinition<ControllerSettings> = {
  name: 'certificatesigningrequest-signing-controller',
  aliases: ['csrsigning'],
  serviceAccount: 'certificate-controller',
  isOnByDefault: true,
  create(context, settings) {
    const pairs = Object.entries(SIGNER_FLAG).flatMap(([signer, name]) => {
      const files = signingFiles(settings, name);
      return files.certFile === '' ? [] : [{ signer, ...files }];
    });
    if (pairs.length === 0) return undefined;
    const { client, informers, clock, log } = context;
    const requests = informers.informer(CERTIFICATE_SIGNING_REQUEST);
    const authorities = new Map<string, Authority>();

    const read = async (): Promise<void> => {
      for (const { signer, certFile, keyFile } of pairs) {
        const { cert, key } = await readPair(certFile, keyFile);
        authorities.set(
          signer,
          openAuthority({ certificatePem: cert.toString(), privateKeyPem: key.toString() }),
        );
      }
    };
    const writeStatus = async (
      csr: Stored<CertificateSigningRequest>,
      status: CertificateSigningRequest['status'],
    ): Promise<void> => {
      await client
        .resource(CERTIFICATE_SIGNING_REQUEST)
        .updateStatus({ ...csr, status: { ...csr.status, ...status } });
    };

    const loop = workLoop(context, {
      name: 'certificate_csrsigning',
      workers: WORKERS,
      async handle(name) {
        const csr = requests.store.get(name);
        const conditions = csr?.status?.conditions ?? [];
        const isDue =
          isConditionTrue(conditions, 'Approved') &&
          !isConditionTrue(conditions, 'Denied') &&
          !isConditionTrue(conditions, 'Failed');
        const check = CHECK_OF_SIGNER[csr?.spec.signerName ?? ''];
        const authority = authorities.get(csr?.spec.signerName ?? '');
        if (!csr || !check || !isDue || csr.status?.certificate || !authority) return;
        const request = requestOf(csr);
        const usages = csr.spec.usages ?? [];
        const problem = check(request, usages);
        if (problem !== undefined) {
          const failed = {
            type: 'Failed',
            status: 'True',
            reason: 'SignerValidationFailure',
            message: problem,
            lastUpdateTime: formatTime(clock.nowMs()),
          };
          return writeStatus(csr, { conditions: [...conditions, failed] });
        }
        const certificate = issueFor(authority, request.publicKey, {
          subject: request.subject,
          alternativeNames: request.alternativeNames,
          usages: usages.flatMap((usage) => USAGE_OF[usage] ?? []),
          clock,
          validityMs: validityMs(csr, settings['cluster-signing-duration']),
        });
        await writeStatus(csr, { certificate: Buffer.from(certificate).toString('base64') });
      },
    });
    requests.addHandler({
      added: ({ metadata }) => loop.queue.add(metadata.name),
      updated: (_, { metadata }) => loop.queue.add(metadata.name),
    });
    const complain = (error: unknown): void =>
      log.write('warn', 'the signing authority could not be read again', { error: messageOf(error) });
    return {
      async run(signal) {
        await read();
        const files = [...new Set(pairs.flatMap(({ certFile, keyFile }) => [certFile, keyFile]))];
        const watcher = watchFiles(files, clock, () => void read().catch(complain), complain);
        try {
          await loop.run(signal);
        } finally {
          watcher.dispose();
        }
      },
    };
  },
};
