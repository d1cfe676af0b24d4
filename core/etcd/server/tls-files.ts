import { createPrivateKey, X509Certificate } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { TlsFiles } from '../config/config.ts';

/** A renewal replaces several files: they are read when nothing has changed for this long. */
const SETTLE_MS = 500;

export interface LoadedTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly clientCertAuth: boolean;
}

const read = async (path: string, what: string): Promise<Buffer> => {
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

/** TLS itself takes an authority that it cannot read for none, and then refuses every client. */
const checkAuthority = (path: string, ca: Buffer): void => {
  const blocks = ca.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0)
    throw new ReasonError('BadCertificate', `the trusted authority ${path} holds no certificate`);
  for (const block of blocks) parsed(path, 'certificate', () => new X509Certificate(block));
};

const checkPair = (files: TlsFiles, cert: Buffer, key: Buffer): void => {
  const certificate = parsed(files.certFile, 'certificate', () => new X509Certificate(cert));
  const privateKey = parsed(files.keyFile, 'private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ReasonError(
      'BadCertificate',
      `the private key ${files.keyFile} does not belong to the certificate ${files.certFile}`,
    );
};

/** Undefined where no certificate is configured: plain text. */
export const loadTls = async (files: TlsFiles): Promise<LoadedTls | undefined> => {
  if (files.certFile === '') return undefined;
  const [cert, key] = await Promise.all([
    read(files.certFile, 'certificate'),
    read(files.keyFile, 'private key'),
  ]);
  const ca = files.trustedCaFile === '' ? undefined : await read(files.trustedCaFile, 'trusted authority');
  checkPair(files, cert, key);
  if (ca !== undefined) checkAuthority(files.trustedCaFile, ca);
  return { cert, key, ...(ca && { ca }), clientCertAuth: files.requireClientCertificate };
};

/** Calls back with certificates that were replaced on disk; unreadable ones are reported and the old ones stay. */
export const watchTls = (
  files: TlsFiles,
  clock: Clock,
  onRenewed: (tls: LoadedTls) => void,
  onProblem: (error: unknown) => void,
): Disposable => {
  const owned = new DisposableStore();
  if (files.certFile === '') return owned;
  let timer: Disposable | undefined;
  const reload = (): void => {
    loadTls(files)
      .then((tls) => tls !== undefined && onRenewed(tls))
      .catch(onProblem);
  };
  const paths = [files.certFile, files.keyFile, files.trustedCaFile].filter((path) => path !== '');
  const names = new Set(paths.map((path) => basename(path)));
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    const watcher = watch(directory, (_event, name) => {
      if (name !== null && !names.has(name)) return;
      timer?.dispose();
      timer = clock.after(SETTLE_MS, reload);
    });
    watcher.on('error', onProblem);
    owned.defer(() => watcher.close());
  }
  owned.defer(() => timer?.dispose());
  return owned;
};
