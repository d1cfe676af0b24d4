import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../../base/errors.ts';
import { child, index, type FieldPath } from '../../../api/field/field-path.ts';
import {
  duplicate,
  invalid,
  required,
  type FieldError,
  type FieldErrorList,
} from '../../../api/field/field-error.ts';
import { isDns1123Subdomain, regexError } from '../../../api/field/formats.ts';
import type { JwtAuthenticator } from './jwt-authenticator.ts';

const MATCH_ANY = 'MatchAny';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
};

const urlErrors = (text: string, path: FieldPath, disallowed: readonly string[] = []): FieldErrorList => {
  const errors: FieldError[] = [];
  const bad = (detail: string): number => errors.push(invalid(path, text, detail));
  if (disallowed.includes(text))
    bad(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`);
  const url = parseUrl(text);
  // Go parses a text without a scheme as a path, so both end here.
  if (!url || url.protocol !== 'https:') {
    bad('URL scheme must be https');
    return errors;
  }
  if (url.username !== '' || url.password !== '') bad('URL must not contain a username or password');
  if (url.search !== '') bad('URL must not contain a query');
  if (url.hash !== '') bad('URL must not contain a fragment');
  return errors;
};

const audienceErrors = (issuer: JwtAuthenticator['issuer'], path: FieldPath): FieldErrorList => {
  const { audiences, audienceMatchPolicy: policy } = issuer;
  const where = child(path, 'audiences');
  if (audiences.length === 0) return [required(where, `at least one ${where} is required`)];
  const errors = audiences.flatMap((audience, at) => [
    ...(audience === '' ? [required(index(where, at))] : []),
    ...(audiences.indexOf(audience) < at ? [duplicate(index(where, at), audience)] : []),
  ]);
  const wherePolicy = child(path, 'audienceMatchPolicy');
  if (audiences.length > 1 && policy !== MATCH_ANY)
    errors.push(invalid(wherePolicy, policy, 'audienceMatchPolicy must be MatchAny for multiple audiences'));
  if (audiences.length === 1 && policy !== '' && policy !== MATCH_ANY)
    errors.push(
      invalid(wherePolicy, policy, 'audienceMatchPolicy must be empty or MatchAny for single audience'),
    );
  return errors;
};

const authorityErrors = (pem: string, path: FieldPath): FieldErrorList => {
  if (pem === '') return [];
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  try {
    if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates');
    for (const block of blocks) new X509Certificate(block);
    return [];
  } catch (error) {
    return [invalid(path, '<omitted>', messageOf(error))];
  }
};

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

export const issuerErrors = (
  issuer: JwtAuthenticator['issuer'],
  path: FieldPath,
  disallowedIssuers: readonly string[],
): FieldErrorList => {
  const errors: FieldError[] = [];
  const { url, discoveryUrl } = issuer;
  if (url === '') errors.push(required(child(path, 'url')));
  else errors.push(...urlErrors(url, child(path, 'url'), disallowedIssuers));
  if (discoveryUrl !== '') {
    const where = child(path, 'discoveryURL');
    if (url !== '' && withoutSlash(url) === withoutSlash(discoveryUrl))
      errors.push(invalid(where, discoveryUrl, 'discoveryURL must be different from URL'));
    errors.push(...urlErrors(discoveryUrl, where));
  }
  errors.push(...audienceErrors(issuer, path));
  errors.push(...authorityErrors(issuer.certificateAuthority, child(path, 'certificateAuthority')));
  return errors;
};

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const RESERVED = /(^|\.)(kubernetes|k8s)\.io$/;

const domainPrefixedPathErrors = (path: FieldPath, key: string): FieldErrorList => {
  if (key === '') return [required(path)];
  const slash = key.indexOf('/');
  const [host, rest] = slash < 0 ? [key, ''] : [key.slice(0, slash), key.slice(slash + 1)];
  if (host === '' || rest === '')
    return [invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = isDns1123Subdomain(host).map((problem) => invalid(path, host, problem));
  return new RegExp(`^${HTTP_PATH}$`).test(rest)
    ? errors
    : [...errors, invalid(path, rest, regexError('Invalid path', HTTP_PATH))];
};

/** Keys of extra facts belong to anyone who owns their domain, and Kubernetes keeps its own. */
export const extraKeyErrors = (path: FieldPath, key: string): FieldErrorList => {
  const errors = [...domainPrefixedPathErrors(path, key)];
  if (key !== key.toLowerCase()) errors.push(invalid(path, key, 'must be lowercase'));
  if (key.includes('/') && RESERVED.test(key.slice(0, key.indexOf('/'))))
    errors.push(
      invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'),
    );
  return errors;
};
