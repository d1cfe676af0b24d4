import { createPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { readAuthorities, readPair, readPem } from '../../base/node/pem-files.ts';
import type { ApiServerConfig } from '../config/config.ts';
import type { ServingCertificates } from '../server/api-listener.ts';

export interface LoadedCertificates {
  readonly serving: ServingCertificates;
  readonly clientCaPem: string;
  /** Empty where there are no front proxies. */
  readonly frontProxyCaPem: string;
}

/** Everything that may be replaced while the server runs. */
export const certificateFiles = (config: ApiServerConfig): readonly string[] => [
  config.serving.certFile,
  config.serving.keyFile,
  config.clientCaFile,
  config.frontProxy.caFile,
];

export const loadCertificates = async (config: ApiServerConfig): Promise<LoadedCertificates> => {
  const { serving, clientCaFile, frontProxy } = config;
  const [pair, clientCa, frontProxyCa] = await Promise.all([
    readPair(serving.certFile, serving.keyFile),
    readAuthorities(clientCaFile, 'client authority (--client-ca-file)'),
    frontProxy.caFile === ''
      ? undefined
      : readAuthorities(frontProxy.caFile, 'front proxy authority (--requestheader-client-ca-file)'),
  ]);
  const clientCaPem = clientCa.toString('utf8');
  const frontProxyCaPem = frontProxyCa?.toString('utf8') ?? '';
  return {
    serving: {
      certificatePem: pair.cert.toString('utf8'),
      privateKeyPem: pair.key.toString('utf8'),
      clientAuthoritiesPem: [clientCaPem, ...(frontProxyCa ? [frontProxyCaPem] : [])],
    },
    clientCaPem,
    frontProxyCaPem,
  };
};

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;
const COMMON_NAME = /^CN=(.*)$/m;

/**
 * The certificate that this server shows to aggregated ones, which check it by what `extension-apiserver-authentication`
 * tells them: the authority and the names of --requestheader-*. A pair that they would refuse is refused at the start.
 */
export const checkProxyClient = async (
  { aggregator, frontProxy }: ApiServerConfig,
  { frontProxyCaPem }: LoadedCertificates,
): Promise<void> => {
  if (aggregator.certFile === '') return;
  const { cert } = await readPair(aggregator.certFile, aggregator.keyFile);
  if (frontProxyCaPem === '') return;
  const certificate = new X509Certificate(cert);
  const refuse = (why: string): never => {
    throw new ReasonError('BadCertificate', `--proxy-client-cert-file ${aggregator.certFile} ${why}`);
  };
  const authorities = frontProxyCaPem.match(PEM_CERTIFICATE) ?? [];
  if (!authorities.some((pem) => certificate.verify(new X509Certificate(pem).publicKey)))
    refuse('is not signed by an authority of --requestheader-client-ca-file');
  const name = COMMON_NAME.exec(certificate.subject)?.[1] ?? '';
  if (frontProxy.allowedNames.length > 0 && !frontProxy.allowedNames.includes(name))
    refuse(`is issued to "${name}", which --requestheader-allowed-names does not list`);
};

export interface TokenKeys {
  readonly signing: KeyObject;
  readonly verification: readonly KeyObject[];
}

const keyOf = (path: string, pem: Buffer, parse: (pem: Buffer) => KeyObject): KeyObject => {
  try {
    return parse(pem);
  } catch (cause) {
    throw new ReasonError('BadKey', `${path} is not a key: ${messageOf(cause)}`, { cause });
  }
};

export const loadTokenKeys = async ({ serviceAccounts }: ApiServerConfig): Promise<TokenKeys> => {
  const { keyFiles, signingKeyFile } = serviceAccounts;
  const signing = keyOf(
    signingKeyFile,
    await readPem(signingKeyFile, 'signing key (--service-account-signing-key-file)'),
    createPrivateKey,
  );
  const verification = await Promise.all(
    keyFiles.map(async (path) =>
      keyOf(path, await readPem(path, 'verification key (--service-account-key-file)'), createPublicKey),
    ),
  );
  return { signing, verification };
};
