import type { UserInfo } from '../user.ts';
import { RequestContext } from '../context.ts';
import { RequestHeaders } from '../headers.ts';
import type { ApiRequest, Peer } from '../request.ts';
import { parseRequestInfo } from '../request-info.ts';
import { ApiResponse, type HeaderValue, type Outbound } from '../response.ts';

/** For tests of stages: a request without a network, and what was answered to it. */
export interface FakeRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly user?: UserInfo;
  readonly peer?: Peer;
}

export interface Sent {
  code: number;
  headers: ReadonlyMap<string, HeaderValue>;
  isCut: boolean;
  text(): string;
}

export const noPeer: Peer = {
  address: '127.0.0.1',
  port: 1,
  verified: false,
  certificate: () => undefined,
  recognized: () => undefined,
};

export const fakeContext = (fake: FakeRequest): { readonly context: RequestContext; readonly sent: Sent } => {
  const { method = 'GET', url } = fake;
  const chunks: Uint8Array[] = [];
  const sent: Sent = {
    code: 0,
    headers: new Map(),
    isCut: false,
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
  const outbound: Outbound = {
    head(code, headers) {
      sent.code = code;
      sent.headers = headers;
    },
    write(chunk) {
      chunks.push(chunk);
      return true;
    },
    drained: () => Promise.resolve(),
    end: () => Promise.resolve(),
    destroy() {
      sent.isCut = true;
    },
    gone: false,
  };
  const [path = '', query = ''] = url.split('?');
  const request: ApiRequest = {
    method,
    url,
    path,
    query: new URLSearchParams(query),
    headers: RequestHeaders.of(fake.headers ?? {}),
    protocol: 'HTTP/2.0',
    peer: fake.peer ?? noPeer,
    signal: new AbortController().signal,
    draining: new AbortController().signal,
    body: () => Promise.resolve(Buffer.from(fake.body ?? '')),
    isUpgrade: false,
    upgrade: () => undefined,
  };
  const context = new RequestContext({
    request,
    response: new ApiResponse({ outbound, isHead: method === 'HEAD', acceptsGzip: () => false }),
    info: parseRequestInfo(request),
    auditId: 'test',
    startedAtMs: 0,
  });
  context.user = fake.user;
  return { context, sent };
};
