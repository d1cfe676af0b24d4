import { isJsonObject } from '../../api/meta/object-meta.ts';
import { signInError } from './provider.ts';

const SECOND_MS = 1000;

export interface IdToken {
  readonly text: string;
  readonly expiresAtMs: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

const claimsOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const parts = text.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1]!, 'base64url').toString('utf8'));
    return isJsonObject(claims) ? claims : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export interface ExpectedToken {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Of the sign-in; absent for a renewal, where providers may leave it out. */
  readonly nonce?: string;
}

/** Throws `BadToken` for one that the API server would refuse, or that was made for another sign-in. */
export const readIdToken = (text: string, { issuerUrl, clientId, nonce }: ExpectedToken): IdToken => {
  const claims = claimsOf(text);
  if (!claims)
    throw signInError('BadToken', 'the provider sent no ID token; allow the scope "openid" for this client');
  const { iss, aud, exp } = claims;
  if (iss !== issuerUrl) throw signInError('BadToken', `the ID token is of issuer ${JSON.stringify(iss)}`);
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(clientId))
    throw signInError('BadToken', `the ID token is for ${JSON.stringify(aud)}, not for "${clientId}"`);
  if (typeof exp !== 'number') throw signInError('BadToken', 'the ID token does not say when it expires');
  if (nonce !== undefined && claims['nonce'] !== nonce)
    throw signInError('BadToken', 'the ID token was issued for another sign-in');
  return { text, expiresAtMs: exp * SECOND_MS, claims };
};
