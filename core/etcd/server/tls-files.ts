import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { readAuthorities, readPair, readRevocations, watchFiles } from '../../base/node/pem-files.ts';
import type { TlsFiles } from '../config/config.ts';

export interface LoadedTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly crl?: Buffer;
  readonly clientCertAuth: boolean;
  /** Shown when this member dials, where it is another. */
  readonly dial?: { readonly cert: Buffer; readonly key: Buffer };
}

/** Undefined where no certificate is configured: plain text. */
export const loadTls = async (files: TlsFiles): Promise<LoadedTls | undefined> => {
  if (files.certFile === '') return undefined;
  const [pair, ca, crl, dial] = await Promise.all([
    readPair(files.certFile, files.keyFile),
    files.trustedCaFile === '' ? undefined : readAuthorities(files.trustedCaFile),
    files.crlFile === '' ? undefined : readRevocations(files.crlFile),
    files.dialCertFile === '' ? undefined : readPair(files.dialCertFile, files.dialKeyFile),
  ]);
  return {
    ...pair,
    ...(ca && { ca }),
    ...(crl && { crl }),
    ...(dial && { dial }),
    clientCertAuth: files.requireClientCertificate,
  };
};

/** Calls back with certificates that were replaced on disk; unreadable ones are reported and the old ones stay. */
export const watchTls = (
  files: TlsFiles,
  clock: Clock,
  onRenewed: (tls: LoadedTls) => void,
  onProblem: (error: unknown) => void,
): Disposable => {
  if (files.certFile === '') return toDisposable(() => undefined);
  const reload = (): void => {
    loadTls(files)
      .then((tls) => tls !== undefined && onRenewed(tls))
      .catch(onProblem);
  };
  return watchFiles(
    [
      files.certFile,
      files.keyFile,
      files.dialCertFile,
      files.dialKeyFile,
      files.trustedCaFile,
      files.crlFile,
    ],
    clock,
    reload,
    onProblem,
  );
};
