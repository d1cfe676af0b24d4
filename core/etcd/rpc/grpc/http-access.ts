import type { HttpHandler } from './plain-http.ts';
import { sendPlain } from './plain-http.ts';

export interface HttpAccess {
  /** `--cors`: origins of pages whose requests are answered; `*` is every origin. */
  readonly origins: readonly string[];
  /** `--host-whitelist`: names in the Host header of requests without TLS; `*` is every name. */
  readonly hosts: readonly string[];
}

const ANY = '*';
const METHODS = 'POST, GET, OPTIONS, PUT, DELETE';
const HEADERS = 'accept, content-type, authorization';

/** As in etcd, but that a page of an origin which is not allowed is rejected: otherwise it could write without reading. */
export const withHttpAccess =
  ({ origins, hosts }: HttpAccess, next: HttpHandler): HttpHandler =>
  (exchange) => {
    const host = hostnameOf(exchange.header('host') ?? exchange.header(':authority') ?? '');
    if (!exchange.secure && !hosts.includes(ANY) && !hosts.includes(host))
      return sendPlain(exchange, {
        status: 421,
        headers: { 'x-content-type-options': 'nosniff' },
        body: unknownHost(host),
      });
    const origin = exchange.header('origin');
    const allowed = origins.includes(ANY)
      ? ANY
      : origin !== undefined && origins.includes(origin)
        ? origin
        : '';
    if (allowed !== '')
      exchange.addHeaders({
        'access-control-allow-methods': METHODS,
        'access-control-allow-origin': allowed,
        'access-control-allow-headers': HEADERS,
      });
    else if (origin !== undefined)
      return sendPlain(exchange, {
        status: 403,
        body: `origin ${JSON.stringify(origin.slice(0, ORIGIN_CHARACTERS_MAX))} is not allowed; name it with --cors\n`,
      });
    if (exchange.method === 'OPTIONS') return exchange.answer({ status: 200, headers: {} }, Buffer.alloc(0));
    next(exchange);
  };
const ORIGIN_CHARACTERS_MAX = 256;

const hostnameOf = (host: string): string => {
  const bracketed = /^\[([^\]]*)\]/.exec(host);
  return bracketed === null ? host.replace(/:\d*$/, '') : bracketed[1]!;
};

const unknownHost = (host: string): string => `
etcd received your request, but the Host header was unrecognized.

To fix this, choose one of the following options:
- Enable TLS, then any HTTPS request will be allowed.
- Add the hostname you want to use to the whitelist in settings.
  - e.g. etcd --host-whitelist ${JSON.stringify(host)}

This requirement has been added to help prevent "DNS Rebinding" attacks (CVE-2018-5702).
`;
