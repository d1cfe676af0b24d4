import { createPrivateKey, X509Certificate } from 'node:crypto';
import { unwatchFile, watch, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { DisposableStore, type Disposable } from '../disposable.ts';
import { messageOf, ReasonError } from '../errors.ts';

/** A renewal replaces several files: they are read when nothing has changed for this long. */
const SETTLE_MS = 500;
/** How often files are looked at that the system does not watch for us. */
const LOOK_EVERY_MS = 5_000;

/** A file that a flag names; a failure says which file and what it is for. */
export const readPem = async (path: string, what: string): Promise<Buffer> => {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new ReasonError('BadCertificate', `cannot read the ${what} ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
};

const parsed = <T>(path: string, what: string, parse: () => T): T => {
  try {
    return parse();
  } catch (cause) {
    throw new ReasonError('BadCertificate', `${path} is not a ${what}: ${messageOf(cause)}`, { cause });
  }
};

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

/** A bundle of authorities. TLS itself takes one that it cannot read for none, and then refuses every client. */
export const readAuthorities = async (path: string, what = 'trusted CA'): Promise<Buffer> => {
  const bundle = await readPem(path, what);
  const blocks = bundle.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0)
    throw new ReasonError('BadCertificate', `the ${what} ${path} contains no certificate`);
  for (const block of blocks) parsed(path, 'certificate', () => new X509Certificate(block));
  return bundle;
};

const PEM_CRL = /-----BEGIN X509 CRL-----[^]+?-----END X509 CRL-----/;

/** Certificate revocation lists, in PEM or one in DER. */
export const readRevocations = async (path: string): Promise<Buffer> => {
  const what = 'certificate revocation list';
  const bytes = await readPem(path, what);
  const pem = PEM_CRL.test(bytes.toString('latin1'))
    ? bytes
    : Buffer.from(`-----BEGIN X509 CRL-----\n${bytes.toString('base64')}\n-----END X509 CRL-----\n`);
  parsed(path, what, () => createSecureContext({ crl: pem }));
  return pem;
};

/** A certificate and its key, which must belong together. */
export const readPair = async (
  certFile: string,
  keyFile: string,
): Promise<{ readonly cert: Buffer; readonly key: Buffer }> => {
  const [cert, key] = await Promise.all([readPem(certFile, 'certificate'), readPem(keyFile, 'private key')]);
  const certificate = parsed(certFile, 'certificate', () => new X509Certificate(cert));
  const privateKey = parsed(keyFile, 'private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ReasonError(
      'BadCertificate',
      `the private key ${keyFile} does not match the certificate ${certFile}`,
    );
  return { cert, key };
};

/** Calls back when any of the files was replaced and all have been quiet for a moment. Empty paths are left out. */
export const watchFiles = (
  files: readonly string[],
  clock: Clock,
  onChanged: () => void,
  onProblem: (error: unknown) => void,
): Disposable => {
  const owned = new DisposableStore();
  let timer: Disposable | undefined;
  const paths = files.filter((path) => path !== '');
  const names = new Set(paths.map((path) => basename(path)));
  const changed = (): void => {
    timer?.dispose();
    timer = clock.after(SETTLE_MS, onChanged);
  };
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    try {
      const watcher = watch(directory, (_event, name) => {
        if (name === null || names.has(name)) changed();
      });
      watcher.on('error', onProblem);
      owned.defer(() => watcher.close());
    } catch (error) {
      if (!isOutOfWatches(error)) throw error;
      for (const path of paths.filter((file) => dirname(file) === directory)) {
        watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, changed);
        owned.defer(() => unwatchFile(path, changed));
      }
    }
  }
  owned.defer(() => timer?.dispose());
  return owned;
};

/** A user of Linux has 128 watchers for all programs together, which a few clusters use up. */
const isOutOfWatches = (error: unknown): boolean => {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'EMFILE' || code === 'ENOSPC';
};
