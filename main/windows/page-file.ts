import { extname, join, normalize, sep } from 'node:path';
import { isConsoleUrl } from '../ipc/console-address.ts';

const PATH_CHARACTERS_MAX = 2048;

/** What the built console is made of; `serve` sends the same. */
export const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
};

export interface PageFile {
  readonly path: string;
  readonly contentType: string;
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a malformed escape names no file
  }
};

/**
 * The file under `root` that an address of the console stands for, or undefined when there can be none. Addresses
 * without an extension are routes of the console and get its one page. Only known types are served.
 */
export const pageFileFor = (root: string, address: string): PageFile | undefined => {
  if (!isConsoleUrl(address)) return undefined;
  const pathname = decode(new URL(address).pathname);
  if (pathname === undefined || pathname.length > PATH_CHARACTERS_MAX) return undefined;
  if (pathname.includes('\0') || pathname.includes('\\')) return undefined;
  // Decoding may have brought back dots and slashes that the URL parser has not seen.
  if (pathname.split('/').some((segment) => segment === '..' || segment === '.')) return undefined;

  const extension = extname(pathname);
  const relative = extension === '' ? 'index.html' : `.${pathname}`;
  const path = normalize(join(root, relative));
  const contentType = CONTENT_TYPES[extension === '' ? '.html' : extension];
  if (!path.startsWith(normalize(root) + sep) || contentType === undefined) return undefined;
  return { path, contentType };
};
