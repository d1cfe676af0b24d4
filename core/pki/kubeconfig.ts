import { parseDocument, stringify } from 'yaml';
import { PkiError } from './errors.ts';
import { inspectPem } from './inspect.ts';
import type { Credential } from './issue.ts';

export interface KubeconfigParts {
  readonly clusterName: string;
  readonly server: string;
  readonly authorityPem: string;
  readonly userName: string;
  readonly credential: Credential;
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** A kubeconfig that needs no file beside it, in the names and order kubeadm writes. */
export const writeKubeconfig = (parts: KubeconfigParts): string => {
  const { clusterName, server, authorityPem, userName, credential } = parts;
  const context = `${userName}@${clusterName}`;
  return stringify(
    {
      apiVersion: 'v1',
      clusters: [
        { cluster: { 'certificate-authority-data': base64(authorityPem), server }, name: clusterName },
      ],
      contexts: [{ context: { cluster: clusterName, user: userName }, name: context }],
      'current-context': context,
      kind: 'Config',
      preferences: {},
      users: [
        {
          name: userName,
          user: {
            'client-certificate-data': base64(credential.certificatePem),
            'client-key-data': base64(credential.privateKeyPem),
          },
        },
      ],
    },
    { lineWidth: 0 },
  );
};

export interface KubeconfigIdentity {
  readonly server: string;
  readonly authorityPem: string;
  readonly credential: Credential;
}

const SERVER_PATH = ['clusters', 0, 'cluster', 'server'];
const AUTHORITY_PATH = ['clusters', 0, 'cluster', 'certificate-authority-data'];
const CERTIFICATE_PATH = ['users', 0, 'user', 'client-certificate-data'];
const KEY_PATH = ['users', 0, 'user', 'client-key-data'];

const parse = (text: string, file: string) => {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new PkiError('Malformed', `${file} is not valid YAML`);
  const read = (path: readonly (string | number)[]): string => {
    const value = document.getIn(path);
    if (typeof value !== 'string') throw new PkiError('Malformed', `${file} has no ${path.at(-1)}`);
    return value;
  };
  return { document, read };
};

/** The one identity in a kubeconfig that holds its certificates itself. */
export const readKubeconfig = (text: string, file: string): KubeconfigIdentity => {
  const { read } = parse(text, file);
  const credential = {
    certificatePem: fromBase64(read(CERTIFICATE_PATH)),
    privateKeyPem: fromBase64(read(KEY_PATH)),
  };
  inspectPem(credential.certificatePem);
  return {
    server: read(['clusters', 0, 'cluster', 'server']),
    authorityPem: fromBase64(read(AUTHORITY_PATH)),
    credential,
  };
};

/** Changes the certificates and nothing else: comments, namespaces and names of the user's stay. */
export const updateKubeconfig = (
  text: string,
  file: string,
  change: { readonly authorityPem?: string; readonly credential?: Credential; readonly server?: string },
): string => {
  const { document } = parse(text, file);
  if (change.authorityPem !== undefined) document.setIn(AUTHORITY_PATH, base64(change.authorityPem));
  if (change.server !== undefined) document.setIn(SERVER_PATH, change.server);
  if (change.credential) {
    document.setIn(CERTIFICATE_PATH, base64(change.credential.certificatePem));
    document.setIn(KEY_PATH, base64(change.credential.privateKeyPem));
  }
  return document.toString({ lineWidth: 0 });
};
