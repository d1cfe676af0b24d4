import { createHash, type X509Certificate } from 'node:crypto';
import { inspectDer } from '../../pki/index.ts';
import type { Peer } from '../server/request.ts';
import { authenticationFailed, type Authenticator } from './authenticator.ts';
import type { ClientAuthorities } from './client-authorities.ts';
import { CREDENTIAL_ID_KEY, userInfo, type UserInfo } from '../server/user.ts';

const identityOf = (certificate: X509Certificate): UserInfo | undefined => {
  const { commonName, organizations } = inspectDer(certificate.raw).subject;
  if (commonName === '') return undefined;
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return userInfo(commonName, organizations, {
    extra: { [CREDENTIAL_ID_KEY]: [`X509SHA256=${fingerprint}`] },
  });
};

/** The common name is the user, the organizations are its groups. */
export const x509Authenticator = (authorities: ClientAuthorities): Authenticator => {
  const identities = new WeakMap<Peer, { readonly user: UserInfo | undefined }>();
  return {
    name: 'x509',
    authenticate({ peer }) {
      if (!peer.certificate()) return undefined;
      const certificate = authorities.verified(peer);
      if (!certificate)
        throw authenticationFailed('the client certificate is not signed by a trusted authority, or expired');
      let identity = identities.get(peer);
      if (!identity) identities.set(peer, (identity = { user: identityOf(certificate) }));
      return identity.user;
    },
  };
};
