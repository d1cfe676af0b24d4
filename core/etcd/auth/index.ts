export { Access, type Identity } from './access.ts';
export { AuthStore, ROOT } from './auth-store.ts';
export { BCRYPT_COST, bcryptHash, bcryptMatches, type Pause } from './bcrypt.ts';
export { Jwt, type JwtKeys } from './jwt.ts';
export { authError, AuthError } from './reasons.ts';
export { SimpleTokens, tokenIndex, tokenPrefix } from './tokens.ts';
