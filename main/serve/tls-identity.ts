import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { writeFileAtomically } from '../../core/base/node/atomic-file.ts';
import {
  alternativeNames,
  createAuthority,
  inspectPem,
  isKeyPair,
  issueLeaf,
  openAuthority,
  PkiError,
  type Credential,
} from '../../core/pki/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const RENEW_BEFORE_MS = 30 * DAY_MS;
const PUBLIC_FILE_MODE = 0o644;
const HOSTS = ['127.0.0.1', 'localhost'];

export interface TlsIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** For users who want their browser to trust the console without a warning. */
  readonly authorityPath: string;
  readonly authorityPem: string;
}

export interface TlsIdentityOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
}

const readCredential = async (base: string): Promise<Credential | undefined> => {
  try {
    const [certificatePem, privateKeyPem] = await Promise.all([
      readFile(`${base}.crt`, 'utf8'),
      readFile(`${base}.key`, 'utf8'),
    ]);
    return { certificatePem, privateKeyPem };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The key first: a certificate without its key is of no use, a key without certificate is replaced. */
const writeCredential = async (base: string, credential: Credential): Promise<Credential> => {
  await writeFileAtomically(`${base}.key`, credential.privateKeyPem);
  await writeFileAtomically(`${base}.crt`, credential.certificatePem, PUBLIC_FILE_MODE);
  return credential;
};

/** Whether a credential holds together, comes from the authority (if given) and lasts a while yet. */
const isUsable = (credential: Credential, clock: Clock, authorityKeyId?: string): boolean => {
  const certificate = inspectPem(credential.certificatePem);
  if (!isKeyPair(credential)) return false;
  if (authorityKeyId !== undefined && certificate.authorityKeyId !== authorityKeyId) return false;
  return certificate.notAfterMs - clock.nowMs() > RENEW_BEFORE_MS;
};

/** Made on first use and again before it ends; damaged files are replaced, since nothing else depends on them. */
export const ensureTlsIdentity = async (options: TlsIdentityOptions): Promise<TlsIdentity> => {
  const { clock, log } = options;
  const directory = join(options.dataDirectory, 'serve');
  await mkdir(directory, { recursive: true, mode: 0o700 });

  const keepOrMake = async (
    name: string,
    make: () => Credential,
    authorityKeyId?: string,
  ): Promise<Credential> => {
    const base = join(directory, name);
    const existing = await readCredential(base);
    try {
      if (existing && isUsable(existing, clock, authorityKeyId)) return existing;
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      log.write('warn', 'a certificate of the console is unusable and will be replaced', { base, error });
    }
    return writeCredential(base, make());
  };

  const root = await keepOrMake('ca', () =>
    createAuthority({
      commonName: 'Pilothouse console on this machine',
      clock,
      // A browser that trusts this authority trusts it for this machine's loopback only.
      permittedNames: { dnsNames: ['localhost'], networks: ['127.0.0.0/8'] },
    }),
  );
  const authority = openAuthority(root);
  const server = await keepOrMake(
    'server',
    () =>
      issueLeaf(authority, {
        subject: { commonName: 'pilothouse-serve' },
        usages: ['server'],
        alternativeNames: alternativeNames(HOSTS),
        clock,
      }),
    authority.certificate.subjectKeyId ?? '',
  );
  return {
    ...server,
    authorityPath: join(directory, 'ca.crt'),
    authorityPem: root.certificatePem,
  };
};
