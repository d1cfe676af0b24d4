import { X509Certificate } from 'node:crypto';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import type { ClusterAuthentication } from '../bootstrap/index.ts';
import { certificateFiles, loadCertificates, type LoadedCertificates } from './certificates.ts';
import type { Surroundings } from './surroundings.ts';

export interface RenewedCertificates extends Disposable {
  /** What `extension-apiserver-authentication` publishes of the newest files. */
  clusterAuthentication(): ClusterAuthentication;
}

/** Reads the certificates again whenever their files are replaced. */
export const followCertificates = (
  { config, clock, log }: Surroundings,
  first: LoadedCertificates,
  onRenewed: (loaded: LoadedCertificates) => void,
): RenewedCertificates => {
  let current = first;
  const kept = (error: unknown): void =>
    log.write('warn', 'renewed certificate cannot be used; the old one stays', { error: messageOf(error) });
  const reload = (): void => {
    loadCertificates(config)
      .then((loaded) => {
        current = loaded;
        onRenewed(loaded);
        log.write('info', 'certificates were renewed');
      })
      .catch(kept);
  };
  const watching = watchFiles(certificateFiles(config), clock, reload, kept);
  return {
    clusterAuthentication: () => ({
      clientCa: current.clientCaPem,
      requestHeader:
        current.frontProxyCaPem === '' ? undefined : { ...config.frontProxy, ca: current.frontProxyCaPem },
      isExpired: (pem) => Date.parse(new X509Certificate(pem).validTo) < clock.nowMs(),
    }),
    dispose: () => watching.dispose(),
  };
};
