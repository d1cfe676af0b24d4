import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { readAuthorities, readPair, watchFiles } from '../../base/node/pem-files.ts';
import type { KubeletServer, KubeletServerOptions } from '../../kubelet/server/kubelet-server.ts';
import type { Client } from '../../client/index.ts';
import {
  selfSigned,
  servedBefore,
  servingRotation,
  type ServingOptions,
} from '../../kubelet/certificates/serving-certificate.ts';
import { certificatePath, keyPath, type Credential } from '../../pki/index.ts';

export interface ServingFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Authority of clients. */
  readonly caFile: string;
}

export const servingFilesOf = (dataDirectory: string, host: string): ServingFiles => ({
  certFile: certificatePath(dataDirectory, `hosts/${host}/kubelet`),
  keyFile: keyPath(dataDirectory, `hosts/${host}/kubelet`),
  caFile: certificatePath(dataDirectory, 'ca'),
});

export const loadServing = async ({
  certFile,
  keyFile,
  caFile,
}: ServingFiles): Promise<KubeletServerOptions['tls']> => {
  const [{ cert, key }, clientCa] = await Promise.all([
    readPair(certFile, keyFile),
    readAuthorities(caFile, 'client CA'),
  ]);
  return { cert: cert.toString(), key: key.toString(), clientCa: clientCa.toString() };
};

/** Takes renewed certificates into use as they appear; connections that are open stay. What cannot be used is told. */
export const followServing = (
  files: ServingFiles,
  server: Pick<KubeletServer, 'setTls'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Disposable => {
  const problem = (error: unknown): void =>
    log.write('warn', 'cannot use the renewed certificate; keeping the old one', { error: messageOf(error) });
  const reload = (): void => {
    loadServing(files)
      .then((tls) => {
        server.setTls(tls);
        log.write('info', 'reloaded renewed certificates');
      })
      .catch(problem);
  };
  return watchFiles([files.certFile, files.keyFile, files.caFile], clock, reload, problem);
};

/** Where the certificate of a kubelet's API comes from, and what follows its replacement. */
export interface Serving {
  load(): Promise<KubeletServerOptions['tls']>;
  follow(server: Pick<KubeletServer, 'setTls'>): Disposable;
}

export const servingFromFiles = (
  files: ServingFiles,
  context: { readonly clock: Clock; readonly log: Log },
): Serving => ({
  load: () => loadServing(files),
  follow: (server) => followServing(files, server, context),
});

/** Self-signed until the API has signed one, and replaced before it expires. */
export const servingFromApi = (
  options: ServingOptions & { readonly client: Client; readonly log: Log; readonly caFile: string },
): Serving => {
  const clientCa = async (): Promise<string> =>
    (await readAuthorities(options.caFile, 'client CA')).toString();
  const tlsOf = async ({ certificatePem: cert, privateKeyPem: key }: Credential) => ({
    cert,
    key,
    clientCa: await clientCa(),
  });
  return {
    load: async () => tlsOf((await servedBefore(options)) ?? selfSigned(options)),
    follow(server) {
      const problem = (error: unknown): void =>
        options.log.write('warn', 'cannot use the signed certificate', { error: messageOf(error) });
      const use = (credential: Credential): void =>
        void tlsOf(credential)
          .then((tls) => server.setTls(tls))
          .catch(problem);
      const rotation = servingRotation({ ...options, use });
      rotation.start();
      return rotation;
    },
  };
};
