import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from '../windows/content-policy.ts';
import type { ExtensionPage } from '../extensions/extension-page.ts';
import type { StaticFile } from './static-files.ts';

export interface Refusal {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
}

const page = ({ title, detail }: Refusal): string =>
  `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Pilothouse</title></head>\n` +
  `<body>\n<h1>${title}</h1>\n<p>${detail}</p>\n</body>\n</html>\n`;

const baseHeaders = (contentType: string, length: number): Record<string, string> => ({
  ...SECURITY_HEADERS,
  'Content-Type': contentType,
  'Content-Length': String(length),
});

/** Texts are constants of ours: nothing of a request is ever put into a page. */
export const refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const body = Buffer.from(page(refusal));
  response.writeHead(refusal.status, {
    ...baseHeaders('text/html; charset=utf-8', body.length),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
};

export const sendFile = (request: IncomingMessage, response: ServerResponse, file: StaticFile): void => {
  const validators = { ETag: file.etag, 'Cache-Control': file.cacheControl };
  if (request.headers['if-none-match'] === file.etag) {
    response.writeHead(304, { ...SECURITY_HEADERS, ...validators });
    response.end();
    return;
  }
  response.writeHead(200, { ...baseHeaders(file.contentType, file.body.length), ...validators });
  response.end(request.method === 'HEAD' ? undefined : file.body);
};

/** With headers of its own: its policy is stricter than that of the console. */
export const sendExtensionPage = (
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers }: ExtensionPage,
): void => {
  response.writeHead(200, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  response.end(request.method === 'HEAD' ? undefined : body);
};

/** The token leaves the address bar and the history; what remains is the cookie. */
export const redirectHome = (response: ServerResponse, cookie: string): void => {
  response.writeHead(303, {
    ...SECURITY_HEADERS,
    Location: '/',
    'Set-Cookie': cookie,
    'Cache-Control': 'no-store',
    'Content-Length': '0',
  });
  response.end();
};

export const REFUSALS = {
  signedOut: {
    status: 401,
    title: 'This browser is not signed in',
    detail:
      'Open a new link: press Enter in the terminal where “pilothouse serve” runs, or restart it. ' +
      'Each link works once. If you just followed a link from another page, reload this page.',
  },
  usedLink: {
    status: 401,
    title: 'This link has already been used or has expired',
    detail: 'For a new link, press Enter in the terminal where “pilothouse serve” runs, or restart it.',
  },
  foreignHost: {
    status: 421,
    title: 'Wrong address',
    detail: 'Use the link that “pilothouse serve” printed, with 127.0.0.1 or localhost and the same port.',
  },
  foreignOrigin: {
    status: 403,
    title: 'Cross-origin request rejected',
    detail: 'The console only accepts requests from its own pages.',
  },
  method: { status: 405, title: 'Method not allowed', detail: 'Only GET and HEAD are supported.' },
  missing: { status: 404, title: 'Page not found', detail: 'Go to the start page of the console.' },
} as const satisfies Record<string, Refusal>;
