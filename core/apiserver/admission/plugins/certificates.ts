import type { V1CertificateSigningRequest } from '../../../api/schema/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { obj, str } from '../../../api/validation/read.ts';
import { messageOf } from '../../../base/errors.ts';
import { parseRequestPem, type CertificateRequest } from '../../../pki/index.ts';
import type { UserInfo } from '../../server/user.ts';
import { resourceAttributes, type Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource } from '../matching.ts';
import { refusal } from '../refusal.ts';

const GROUP = 'certificates.k8s.io';
const REQUESTS = { group: GROUP, resource: 'certificatesigningrequests' };
const API_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** The request inside: PEM, in base64 as bytes travel. Throws a PkiError. */
export const certificateRequestOf = ({ spec }: V1CertificateSigningRequest): CertificateRequest =>
  parseRequestPem(Buffer.from(spec.request, 'base64').toString('latin1'));

/** The right is to the signer, or to all signers of its domain. */
const mayUseSigner = async (
  authorizer: Authorizer,
  user: UserInfo,
  verb: 'approve' | 'attest' | 'sign',
  signerName: string,
): Promise<boolean> => {
  const domain = signerName.split('/')[0] ?? '';
  for (const name of [signerName, `${domain}/*`]) {
    const asked = resourceAttributes(user, {
      verb,
      apiGroup: GROUP,
      apiVersion: '*',
      resource: 'signers',
      name,
    });
    if ((await authorizer.authorize(asked)).decision === 'allow') return true;
  }
  return false;
};

const concerns = (attributes: AdmissionAttributes, subresource: string): boolean =>
  isResource(attributes, REQUESTS) && attributes.subresource === subresource;

/** Who may update `approval` still needs the right to approve for the signer that was asked. */
export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: handlesOnly('UPDATE'),
  async validate(attributes) {
    if (!concerns(attributes, 'approval')) return;
    const { signerName } = (attributes.oldObject as unknown as V1CertificateSigningRequest).spec;
    if (!(await mayUseSigner(authorizer, attributes.user, 'approve', signerName)))
      throw refusal(
        attributes,
        `user not permitted to approve requests with signerName ${goQuote(signerName)}`,
      );
  },
});

export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: handlesOnly('UPDATE'),
  async validate(attributes) {
    if (!concerns(attributes, 'status')) return;
    const old = attributes.oldObject as unknown as V1CertificateSigningRequest;
    const next = attributes.object as unknown as V1CertificateSigningRequest;
    const signed = ({ status }: V1CertificateSigningRequest): string =>
      JSON.stringify([status?.certificate ?? '', status?.conditions ?? []]);
    if (signed(old) === signed(next)) return;
    const { signerName } = old.spec;
    if (!(await mayUseSigner(authorizer, attributes.user, 'sign', signerName)))
      throw refusal(attributes, `user not permitted to sign requests with signerName ${goQuote(signerName)}`);
  },
});

/** No one is made a master by a signature. */
export const certificateSubjectRestriction = (): AdmissionPlugin => ({
  name: 'CertificateSubjectRestriction',
  handles: handlesOnly('CREATE'),
  validate(attributes) {
    if (!concerns(attributes, '')) return;
    const request = attributes.object as unknown as V1CertificateSigningRequest;
    if (request.spec.signerName !== API_CLIENT_SIGNER) return;
    let groups: readonly string[];
    try {
      groups = certificateRequestOf(request).subject.organizations;
    } catch (error) {
      throw refusal(attributes, `failed to parse CSR: ${messageOf(error)}`);
    }
    if (groups.includes(MASTERS))
      throw refusal(attributes, `use of ${API_CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
});

const TRUST_BUNDLES = { group: GROUP, resource: 'clustertrustbundles' };

/** Trust in a signer is said by those who may speak for it. */
export const clusterTrustBundleAttest = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'ClusterTrustBundleAttest',
  handles: handlesOnly('CREATE', 'UPDATE'),
  async validate(attributes) {
    if (!isResource(attributes, TRUST_BUNDLES) || !attributes.object) return;
    const signerName = str(obj(attributes.object, 'spec'), 'signerName');
    if (signerName === '' || (await mayUseSigner(authorizer, attributes.user, 'attest', signerName))) return;
    throw refusal(attributes, `user not permitted to attest for signerName ${goQuote(signerName)}`);
  },
});
