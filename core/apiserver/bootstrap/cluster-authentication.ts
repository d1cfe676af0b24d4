import type { KubernetesObject } from '../../api/meta/index.ts';
import type { V1ConfigMap } from '../../api/schema/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** What extension servers need to know whom this server trusts. PEM texts; absent is not configured. */
export interface ClusterAuthentication {
  readonly clientCa?: string | undefined;
  readonly requestHeader?:
    | {
        readonly ca: string;
        readonly allowedNames: readonly string[];
        readonly usernameHeaders: readonly string[];
        readonly uidHeaders: readonly string[];
        readonly groupHeaders: readonly string[];
        readonly extraHeaderPrefixes: readonly string[];
      }
    | undefined;
  /** Whether a certificate is past its end: bundles must not grow for ever. */
  isExpired(pem: string): boolean;
}

/** Servers may differ while certificates are rotated: what any of them trusts stays until it ends. */
const joinedCertificates = (
  stored: string | undefined,
  own: string,
  isExpired: (pem: string) => boolean,
): string => {
  const all = [...((stored ?? '').match(CERTIFICATE) ?? []), ...(own.match(CERTIFICATE) ?? [])];
  const distinct = [...new Set(all.map((pem) => pem.replaceAll('\r\n', '\n')))];
  return distinct
    .filter((pem) => !isExpired(pem))
    .map((pem) => `${pem}\n`)
    .join('');
};

const storedList = (text: string | undefined): string[] => {
  if (!text) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter((one): one is string => typeof one === 'string') : [];
  } catch (error) {
    // Edited by hand into no list: it is replaced by what this server knows.
    if (error instanceof SyntaxError) return [];
    throw error;
  }
};

const joinedList = (stored: string | undefined, own: readonly string[]): string =>
  JSON.stringify([...new Set([...storedList(stored), ...own])]);

type Data = Record<string, string>;

const dataOf = (stored: Data, { clientCa, requestHeader, isExpired }: ClusterAuthentication): Data => {
  const data: Data = { ...stored };
  if (clientCa !== undefined)
    data['client-ca-file'] = joinedCertificates(stored['client-ca-file'], clientCa, isExpired);
  if (!requestHeader) return data;
  const lists: Readonly<Record<string, readonly string[]>> = {
    'requestheader-allowed-names': requestHeader.allowedNames,
    'requestheader-username-headers': requestHeader.usernameHeaders,
    'requestheader-group-headers': requestHeader.groupHeaders,
    'requestheader-extra-headers-prefix': requestHeader.extraHeaderPrefixes,
    ...(requestHeader.uidHeaders.length > 0 && { 'requestheader-uid-headers': requestHeader.uidHeaders }),
  };
  for (const [key, own] of Object.entries(lists)) data[key] = joinedList(stored[key], own);
  const caKey = 'requestheader-client-ca-file';
  data[caKey] = joinedCertificates(stored[caKey], requestHeader.ca, isExpired);
  return data;
};

const sameData = (a: Data, b: Data): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => a[key] === b[key]);

/** Repeated from time to time: certificates are rotated while the server runs. */
export const ensureClusterAuthentication = async (
  writer: ObjectWriter,
  authentication: ClusterAuthentication,
): Promise<void> => {
  const object: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: NAME },
    data: dataOf({}, authentication),
  };
  await ensureObject(writer, CONFIG_MAPS, {
    object,
    revise(stored) {
      const held = (stored as V1ConfigMap).data ?? {};
      const data = dataOf(held, authentication);
      return sameData(held, data) ? undefined : { ...stored, data };
    },
  });
};
