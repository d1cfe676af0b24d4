import { parseRequestPem, type CertificateRequest } from '../../pki/index.ts';
import type { CertificateSigningRequest } from '../../client/index.ts';

export const SIGNERS = {
  apiServerClient: 'kubernetes.io/kube-apiserver-client',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

const NODES_GROUP = 'system:nodes';
const NODE_PREFIX = 'system:node:';
const CLIENT_USAGES = ['client auth', 'digital signature', 'key encipherment'];
const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];

/** Throws PkiError for what is no request, or one that its own key did not sign. */
export const requestOf = ({ spec }: CertificateSigningRequest): CertificateRequest =>
  parseRequestPem(Buffer.from(spec.request, 'base64').toString('utf8'));

/** Encipherment is for RSA keys only, so it may be left out. */
const areUsages = (usages: readonly string[], wanted: readonly string[]): boolean => {
  const text = (list: readonly string[]): string => [...new Set(list)].sort().join();
  return (
    text(usages) === text(wanted) || text(usages) === text(wanted.filter((one) => one !== 'key encipherment'))
  );
};

/** Why a request is not one that a kubelet makes to be known to the server; undefined when it is. */
export const kubeletClientProblem = (
  { subject, alternativeNames: names }: CertificateRequest,
  usages: readonly string[],
): string | undefined => {
  if (subject.organizations.join() !== NODES_GROUP) return 'subject organization is not system:nodes';
  if (names.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!areUsages(usages, CLIENT_USAGES)) return `usages did not match [${CLIENT_USAGES.join(' ')}]`;
  if (!subject.commonName.startsWith(NODE_PREFIX))
    return 'subject common name does not begin with system:node:';
  return undefined;
};

/** The same for the certificate that a kubelet serves with. */
export const kubeletServingProblem = (
  { subject, alternativeNames: names }: CertificateRequest,
  usages: readonly string[],
): string | undefined => {
  if (subject.organizations.join() !== NODES_GROUP) return 'subject organization is not system:nodes';
  if (names.dnsNames.length === 0 && names.ipAddresses.length === 0)
    return 'DNS or IP subjectAltName is required';
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!areUsages(usages, SERVING_USAGES)) return `usages did not match [${SERVING_USAGES.join(' ')}]`;
  if (!subject.commonName.startsWith(NODE_PREFIX))
    return 'subject common name does not begin with system:node:';
  return undefined;
};

const clientProblem = (_: CertificateRequest, usages: readonly string[]): string | undefined => {
  const other = usages.find((one) => !CLIENT_USAGES.includes(one));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
};

/** What this issuer can write into a certificate; upstream knows more, which the older signer alone would take. */
const ISSUED_USAGES: ReadonlySet<string> = new Set([...CLIENT_USAGES, ...SERVING_USAGES]);

const legacyProblem = (_: CertificateRequest, usages: readonly string[]): string | undefined => {
  const other = usages.find((one) => !ISSUED_USAGES.has(one));
  return other === undefined ? undefined : `usage ${other} is not issued by this signer`;
};

type Check = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

/** Who signs what: each signer answers why it does not. */
export const CHECK_OF_SIGNER: Readonly<Record<string, Check>> = {
  [SIGNERS.apiServerClient]: clientProblem,
  [SIGNERS.kubeletClient]: kubeletClientProblem,
  [SIGNERS.kubeletServing]: kubeletServingProblem,
  [SIGNERS.legacyUnknown]: legacyProblem,
};
