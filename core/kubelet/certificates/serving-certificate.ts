import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { systemRandom } from '../../base/node/random.ts';
import type { Client } from '../../client/index.ts';
import {
  alternativeNames,
  createAuthority,
  inspectPem,
  issueLeaf,
  openAuthority,
  type Credential,
} from '../../pki/index.ts';
import { CertificateRotation } from './certificate-rotation.ts';

const CURRENT = 'kubelet-server-current.pem';

export interface ServingOptions {
  readonly certDir: string;
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly clock: Clock;
}

/** One that no one has signed but itself, as upstream's kubelet makes where it is given none. */
export const selfSigned = ({ nodeName, nodeIP, clock }: ServingOptions): Credential => {
  const authority = openAuthority(createAuthority({ commonName: `${nodeName}-ca`, clock }));
  const { certificatePem, privateKeyPem } = issueLeaf(authority, {
    subject: { commonName: nodeName },
    usages: ['server'],
    alternativeNames: alternativeNames([nodeName, nodeIP]),
    clock,
  });
  return { certificatePem, privateKeyPem };
};

/** What was signed last; undefined: nothing yet, or it has expired. */
export const servedBefore = async ({ certDir, clock }: ServingOptions): Promise<Credential | undefined> => {
  const text = await readFile(join(certDir, CURRENT), 'utf8').catch(() => undefined);
  const at = text?.search(/-----BEGIN (?:EC |RSA )?PRIVATE KEY-----/) ?? -1;
  if (text === undefined || at < 0) return undefined;
  const credential = { certificatePem: text.slice(0, at), privateKeyPem: text.slice(at) };
  return inspectPem(credential.certificatePem).notAfterMs > clock.nowMs() ? credential : undefined;
};

/** Has the serving certificate signed through the API, where someone approves it, and again before it expires. */
export const servingRotation = (
  options: ServingOptions & {
    readonly client: Client;
    readonly log: Log;
    use(credential: Credential): void;
  },
): CertificateRotation => {
  const { certDir, nodeName, nodeIP, clock, log, client, use } = options;
  return new CertificateRotation({
    clock,
    random: systemRandom,
    log,
    client,
    wish: {
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
      alternativeNames: alternativeNames([nodeName, nodeIP]),
    },
    current: async () => (await servedBefore(options))?.certificatePem,
    save: async (credential) => {
      await mkdir(certDir, { recursive: true, mode: 0o700 });
      const text = `${credential.certificatePem.trimEnd()}\n${credential.privateKeyPem}`;
      await writeFileAtomically(join(certDir, CURRENT), text);
      use(credential);
    },
  });
};
