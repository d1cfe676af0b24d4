import type { CertificateSigningRequest, Node, Stored } from '../../client/index.ts';
import type { CertificateRequest } from '../../pki/index.ts';
import { CHECK_OF_SIGNER, kubeletServingProblem, SIGNERS } from './kubelet-requests.ts';

/** Components that run beside a kubelet and have identities of their own, none of which can write. */
const NODE_COMPONENTS: readonly string[] = ['system:kube-proxy', 'system:kube-dns', 'system:network-policy'];

const NODE_PREFIX = 'system:node:';

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

/**
 * Why a serving certificate is not one that a node may have without a person's approval; undefined when it is. The API
 * server trusts such a certificate for the addresses in it, so each of them must belong to this node and to no other.
 */
export const ownServingProblem = (
  { spec }: CertificateSigningRequest,
  request: CertificateRequest,
  nodes: readonly Stored<Node>[],
): string | undefined => {
  const problem = kubeletServingProblem(request, spec.usages ?? []);
  if (problem !== undefined) return problem;
  const { subject, alternativeNames: names } = request;
  if (spec.username !== subject.commonName) return 'the request is not made by the node itself';
  const name = subject.commonName.slice(NODE_PREFIX.length);
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (!node) return `node ${name} is not known yet`;
  const own = new Set([name, ...addressesOf(node)]);
  const wanted = [...names.dnsNames, ...names.ipAddresses];
  const foreign = wanted.find((one) => !own.has(one));
  if (foreign !== undefined) return `${foreign} is not an address of node ${name}`;
  const others = nodes.filter((one) => one !== node);
  const shared = wanted.find((one) =>
    others.some((other) => other.metadata.name === one || addressesOf(other).includes(one)),
  );
  return shared === undefined ? undefined : `${shared} is an address of another node, too`;
};

/** Why a request is not one for a component of a node; undefined when it is. */
export const nodeComponentProblem = (
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined => {
  const { subject, alternativeNames: names } = request;
  if (!NODE_COMPONENTS.includes(subject.commonName)) return 'subject common name is no component of a node';
  if (subject.organizations.length > 0) return 'subject organizations are not allowed';
  if ([names.dnsNames, names.ipAddresses, names.emailAddresses, names.uris].some((list) => list.length > 0))
    return 'subjectAltNames are not allowed';
  return CHECK_OF_SIGNER[SIGNERS.apiServerClient]!(request, usages);
};
