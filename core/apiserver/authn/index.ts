export { anonymousAuthenticator, HEALTH_PATHS } from './anonymous.ts';
export { authenticationStage } from './authentication-stage.ts';
export { authenticationFailed, unionAuthenticator, withAuthenticatedGroup } from './authenticator.ts';
export type { Authenticator, Credentials } from './authenticator.ts';
export { bearerTokenAuthenticator, unionTokenAuthenticator } from './bearer-token.ts';
export type { TokenAuthenticator } from './bearer-token.ts';
export { BOOTSTRAP_NAMESPACE, bootstrapTokenAuthenticator } from './bootstrap-tokens.ts';
export { ClientAuthorities } from './client-authorities.ts';
export { frontProxyAuthenticator } from './front-proxy.ts';
export type { FrontProxyOptions } from './front-proxy.ts';
export { issuerDocumentsStage } from './issuer-documents.ts';
export { algorithmFor, keyIdOf } from './jwt.ts';
export type {
  BoundReference,
  TokenObject,
  TokenObjectGetter,
  TokenObjectKind,
} from './service-account-claims.ts';
export {
  createServiceAccountTokens,
  createTokenSigner,
  expirationProblem,
  TOKEN_EXPIRATION_SECONDS_DEFAULT,
  TOKEN_EXPIRATION_SECONDS_MAX,
  TOKEN_EXPIRATION_SECONDS_MIN,
} from './service-account-tokens.ts';
export type { IssuedToken, ServiceAccountTokens, TokenOrder, TokenSigner } from './service-account-tokens.ts';
export { tokenFileAuthenticator } from './token-file.ts';
export * from '../server/user.ts';
export { webhookTokens } from './webhook-token.ts';
export { x509Authenticator } from './x509.ts';
export { tokenCounters } from './token-counters.ts';
export { LAST_USED_LABEL, trackLegacyTokens } from './legacy-token-tracking.ts';
