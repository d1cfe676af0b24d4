import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';

/** Asked for every new connection: renewed certificates are used from the next one on. */
export type TlsSource = () => SecureContextOptions;

/** `--etcd-cafile`, `--etcd-certfile`, `--etcd-keyfile`, reloaded at each handshake as upstream does. */
export const tlsFromFiles = (files: {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}): TlsSource => {
  return () => ({
    ...(files.caFile !== undefined && { ca: readFileSync(files.caFile) }),
    ...(files.certFile !== undefined && { cert: readFileSync(files.certFile) }),
    ...(files.keyFile !== undefined && { key: readFileSync(files.keyFile) }),
  });
};
