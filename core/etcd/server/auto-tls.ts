import { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import type { ListenUrl, MemberConfig, TlsFiles } from '../config/config.ts';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const DIRECTORY_MODE = 0o700;
const CERTIFICATE_MODE = 0o644;

/** Hosts that clients connect to; a socket has none, and its clients ask for localhost. */
const hostsOf = (urls: readonly ListenUrl[]): string[] =>
  urls.map(({ address }) => (address.path === undefined ? address.host : 'localhost'));

/** An expired one is replaced: no process renews it. */
const isUsable = async (certFile: string, keyFile: string, nowMs: number): Promise<boolean> => {
  try {
    const [certificate] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    return Date.parse(new X509Certificate(certificate).validTo) > nowMs;
  } catch {
    return false;
  }
};

const createFiles = async (
  directory: string,
  urls: readonly ListenUrl[],
  { clock, log, validityYears }: { clock: Clock; log: Log; validityYears: number },
): Promise<{ certFile: string; keyFile: string }> => {
  const certFile = resolve(directory, 'cert.pem');
  const keyFile = resolve(directory, 'key.pem');
  if (await isUsable(certFile, keyFile, clock.nowMs())) return { certFile, keyFile };
  const validityMs = validityYears * YEAR_MS;
  // Loaded here: hardly any member creates certificates, and every one waits for what is imported.
  const { alternativeNames, createAuthority, issueLeaf, openAuthority } = await import('../../pki/index.ts');
  // Its key is never stored, so the file can be trusted as a CA without a key that could sign.
  const authority = createAuthority({ commonName: 'etcd', clock, validityMs });
  const leaf = issueLeaf(openAuthority(authority), {
    subject: { commonName: 'etcd', organizations: ['etcd'] },
    usages: ['server', 'client'],
    alternativeNames: alternativeNames(hostsOf(urls)),
    clock,
    validityMs,
  });
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  await writeFileAtomically(keyFile, leaf.privateKeyPem);
  await writeFileAtomically(certFile, leaf.certificatePem + authority.certificatePem, CERTIFICATE_MODE);
  log.write('warn', 'automatically generate certificates', {
    'certificate-validity-bound-not-after': new Date(clock.nowMs() + validityMs).toISOString(),
    path: certFile,
  });
  return { certFile, keyFile };
};

/**
 * `--auto-tls` and `--peer-auto-tls`: certificates where the flags name none, in `fixtures/client` and `fixtures/peer` of
 * the data folder as etcd has them. They encrypt the connection and do not prove an identity.
 */
export const withAutoTls = async (
  config: MemberConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<MemberConfig> => {
  const filled = async (files: TlsFiles, kind: 'client' | 'peer', urls: readonly ListenUrl[]) => {
    if (!files.isAutomatic || !urls.some(({ secure }) => secure)) return files;
    const directory = join(config.dataDirectory, 'fixtures', kind);
    const validityYears = config.selfSignedValidityYears;
    return { ...files, ...(await createFiles(directory, urls, { clock, log, validityYears })) };
  };
  return {
    ...config,
    clientTls: await filled(config.clientTls, 'client', [...config.listenClients, ...config.listenMetrics]),
    peerTls: await filled(config.peerTls, 'peer', config.listenPeers),
  };
};
