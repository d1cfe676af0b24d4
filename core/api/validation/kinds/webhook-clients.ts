import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child } from '../../field/field-path.ts';
import { isDns1123Subdomain, isPortNumber } from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, str } from '../read.ts';

/** Where a webhook is: a URL or a service. Admission and the conversion of custom resources have the same. */

const FORM = '; desired format: https://host[/path]';
/** RFC 3986, section 3, as far as it is looked at. */
const URL_PARTS =
  /^([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/;

function webhookUrl(path: FieldPath, url: string): FieldError[] {
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  return [
    ...(scheme === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === '' ? [invalid(path, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(path, query, 'query parameters are not permitted in the URL')]),
  ];
}

function servicePath(path: FieldPath, text: string): FieldError[] {
  if (text === '' || text === '/') return [];
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')];
  const steps = text.slice(1).replace(/\/$/, '').split('/');
  return [
    ...(text.startsWith('/') ? [] : [invalid(path, text, "must start with a '/'")]),
    ...steps.flatMap((step, i) =>
      step === ''
        ? [invalid(path, text, `segment[${i}] may not be empty`)]
        : isDns1123Subdomain(step).map((message) => invalid(path, text, `segment[${i}]: ${message}`)),
    ),
  ];
}

function webhookService(path: FieldPath, service: Obj): FieldError[] {
  const port = int(service, 'port');
  const reasons = isPortNumber(port);
  return [
    ...['name', 'namespace'].flatMap((name) =>
      str(service, name) === '' ? [required(child(path, name))] : [],
    ),
    ...(reasons.length > 0
      ? [invalid(child(path, 'port'), port, `port is not valid: ${reasons.join(', ')}`)]
      : []),
    ...servicePath(child(path, 'path'), str(service, 'path')),
  ];
}

export function webhookClient(path: FieldPath, client: Obj): FieldError[] {
  const service = maybeObj(client, 'service');
  const hasUrl = has(client, 'url');
  if (hasUrl === (service !== undefined))
    return [required(path, 'exactly one of url or service is required')];
  return service === undefined
    ? webhookUrl(child(path, 'url'), str(client, 'url'))
    : webhookService(child(path, 'service'), service);
}

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

export const isReviewVersionKnown = (versions: readonly string[]): boolean =>
  versions.some((version) => REVIEW_VERSIONS.includes(version));

export { REVIEW_VERSIONS };
