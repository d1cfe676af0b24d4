import { createHmac } from 'node:crypto';

const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

/** A JSON Web Signature without its payload, as `kubeadm join` verifies `cluster-info` (RFC 7515, appendix F). */
export const detachedSignature = (content: string, tokenId: string, tokenSecret: string): string => {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: tokenId }));
  const signature = createHmac('sha256', tokenSecret).update(`${header}.${base64url(content)}`);
  return `${header}..${signature.digest('base64url')}`;
};
