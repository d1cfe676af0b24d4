import { authenticationFailed } from '../authenticator.ts';
import { CREDENTIAL_ID_KEY, userInfo, type UserInfo } from '../../server/user.ts';
import type { CompiledAuthenticator, CompiledRule, Expression } from './compile.ts';

/** What a verified token says. */
export type Claims = Readonly<Record<string, unknown>>;

const failed = (message: string): never => {
  throw authenticationFailed(`oidc: ${message}`);
};

const evaluate = (
  { program, evaluate: run }: Expression,
  what: string,
  variables: Readonly<Record<string, unknown>>,
): unknown => {
  const result = run(variables);
  return result.ok
    ? result.value
    : failed(`error evaluating ${what}: expression '${program.text}' resulted in error: ${result.error}`);
};

const textClaim = (claims: Claims, name: string, what: string): string => {
  if (!Object.hasOwn(claims, name)) return failed(`parse ${what} ${JSON.stringify(name)}: claim not present`);
  const value = claims[name];
  return typeof value === 'string'
    ? value
    : failed(`parse ${what} ${JSON.stringify(name)}: the claim is not a string`);
};

/** A text or a list of texts; empty ones count as absent. */
const textsOf = (value: unknown, what: string): string[] => {
  if (value === null || value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => {
    if (typeof one !== 'string')
      return failed(`error evaluating ${what}: expression must return a string or a list of strings`);
    return one === '' ? [] : [one];
  });
};

const usernameOf = ({ authenticator, expressions }: CompiledAuthenticator, claims: Claims): string => {
  if (expressions.username) {
    const what = 'username claim expression';
    const name = evaluate(expressions.username, what, { claims });
    if (typeof name !== 'string')
      return failed(`error evaluating ${what}: username claim expression must return a string`);
    return name === '' ? failed('empty username via CEL expression is not allowed') : name;
  }
  const { claim, prefix = '' } = authenticator.claimMappings.username;
  const name = textClaim(claims, claim, 'username claims');
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = claims['email_verified'];
    if (typeof verified !== 'boolean') failed("parse 'email_verified' claim: the claim is not a boolean");
    if (verified === false) failed('email not verified');
  }
  return prefix + name;
};

const groupsOf = ({ authenticator, expressions }: CompiledAuthenticator, claims: Claims): string[] => {
  const { claim, prefix = '' } = authenticator.claimMappings.groups;
  if (claim !== '' && Object.hasOwn(claims, claim)) {
    // Some issuers send one group as a plain text, such as a role.
    const value = claims[claim];
    const groups: unknown[] = Array.isArray(value) ? value : [value];
    return groups.map((group) =>
      typeof group === 'string'
        ? prefix + group
        : failed(`parse groups claim ${JSON.stringify(claim)}: the claim is not a list of strings`),
    );
  }
  if (!expressions.groups) return [];
  const what = 'group claim expression';
  return textsOf(evaluate(expressions.groups, what, { claims }), what);
};

const uidOf = ({ authenticator, expressions }: CompiledAuthenticator, claims: Claims): string => {
  const { claim } = authenticator.claimMappings.uid;
  if (claim !== '') return textClaim(claims, claim, 'uid claim');
  if (!expressions.uid) return '';
  const what = 'uid claim expression';
  const uid = evaluate(expressions.uid, what, { claims });
  return typeof uid === 'string'
    ? uid
    : failed(`error evaluating ${what}: uid claim expression must return a string`);
};

const extraOf = ({ expressions }: CompiledAuthenticator, claims: Claims): Record<string, string[]> => {
  const extra: Record<string, string[]> = {};
  const { jti } = claims;
  if (typeof jti === 'string' && jti !== '') extra[CREDENTIAL_ID_KEY] = [`JTI=${jti}`];
  for (const { key, expression } of expressions.extra) {
    const what = 'extra claim expression';
    const values = textsOf(evaluate(expression, what, { claims }), what);
    if (values.length > 0) extra[key] = values;
  }
  return extra;
};

const checkRules = (
  rules: readonly CompiledRule[],
  what: string,
  variables: Readonly<Record<string, unknown>>,
): void => {
  for (const { expression, message } of rules) {
    const passed = evaluate(expression, what, variables);
    if (typeof passed !== 'boolean')
      failed(`error evaluating ${what}: validation expression must return a boolean`);
    if (passed === false)
      failed(
        `error evaluating ${what}: validation expression '${expression.program.text}' failed: ${message}`,
      );
  }
};

/** The user that the claims of a verified token stand for. Throws `AuthenticationFailed` where a rule is broken. */
export const identityOf = (compiled: CompiledAuthenticator, claims: Claims): UserInfo => {
  const { authenticator, expressions } = compiled;
  const user = userInfo(usernameOf(compiled, claims), groupsOf(compiled, claims), {
    uid: uidOf(compiled, claims),
    extra: extraOf(compiled, claims),
  });
  for (const { claim, requiredValue } of authenticator.claimValidationRules) {
    if (claim === '') continue;
    if (!Object.hasOwn(claims, claim)) failed(`required claim ${claim} not present in ID token`);
    const value = textClaim(claims, claim, 'claim');
    if (value !== requiredValue)
      failed(`required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
  }
  checkRules(expressions.claimRules, 'claim validation expression', { claims });
  const { name: username, uid, groups, extra } = user;
  checkRules(expressions.userRules, 'user info validation rule', { user: { username, uid, groups, extra } });
  return user;
};
