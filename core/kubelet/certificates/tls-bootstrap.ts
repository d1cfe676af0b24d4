import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadKubeconfig } from '../../client/index.ts';
import { inspectPem, readKubeconfig, updateKubeconfig, writeKubeconfig } from '../../pki/index.ts';
import { CertificateRotation, kubeletClientWish, requestCertificate } from './certificate-rotation.ts';
import type { Client } from '../../client/index.ts';

/** Upstream's names in a kubeconfig that a kubelet writes. */
const NAMES = { clusterName: 'default-cluster', userName: 'default-auth' } as const;

export interface BootstrapOptions {
  readonly kubeconfig: string;
  /** With a token that may ask for certificates of nodes. */
  readonly bootstrapKubeconfig: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Whether there is one whose certificate is still good. */
export const hasIdentity = async (file: string, nowMs: number): Promise<boolean> => {
  if (!existsSync(file)) return false;
  const { certificatePem } = readKubeconfig(await readFile(file, 'utf8'), file).credential;
  return inspectPem(certificatePem).notAfterMs > nowMs;
};

/** Writes the kubeconfig of a node that has none: its key is signed through the API with a bootstrap token. */
export const bootstrapIdentity = async (options: BootstrapOptions): Promise<void> => {
  const { kubeconfig, bootstrapKubeconfig, nodeName, clock, log, signal } = options;
  if (await hasIdentity(kubeconfig, clock.nowMs())) return;
  if (bootstrapKubeconfig === '')
    throw new ReasonError(
      'BadConfiguration',
      `${kubeconfig} is missing or has expired; give --bootstrap-kubeconfig to have a certificate signed`,
    );
  const config = await loadKubeconfig(bootstrapKubeconfig);
  const { authority, servers } = config;
  const authorityPem =
    authority?.data ?? (authority?.file === undefined ? '' : await readFile(authority.file, 'utf8'));
  const client = connect(config, { clock, random: systemRandom, log, userAgent: 'kubelet' });
  try {
    log.write('info', 'asking for a client certificate with the bootstrap token', { node: nodeName });
    const credential = await requestCertificate(kubeletClientWish(nodeName), { client, clock, signal });
    await mkdir(dirname(kubeconfig), { recursive: true, mode: 0o700 });
    const parts = { ...NAMES, server: servers[0] ?? '', authorityPem, credential };
    await writeFileAtomically(kubeconfig, writeKubeconfig(parts));
  } finally {
    client.dispose();
  }
};

/** Replaces the client certificate in a node's kubeconfig, from where its client reads it again. */
export const clientRotation = (options: {
  readonly nodeName: string;
  readonly kubeconfig: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}): CertificateRotation => {
  const { nodeName, kubeconfig: file, client, clock, log } = options;
  return new CertificateRotation({
    clock,
    random: systemRandom,
    log,
    client,
    wish: kubeletClientWish(nodeName),
    current: async () => readKubeconfig(await readFile(file, 'utf8'), file).credential.certificatePem,
    save: async (credential) => {
      const text = await readFile(file, 'utf8');
      await writeFileAtomically(file, updateKubeconfig(text, file, { credential }));
    },
  });
};
