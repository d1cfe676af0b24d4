import { createHash } from 'node:crypto';
import { BRIDGE_SCRIPT } from './bridge-script.ts';
import type { ExtensionFiles } from './extension-folder.ts';

export interface ExtensionPage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * What the frame of an extension may do: run the one script below, show pictures that are part of it, and nothing else. With
 * `sandbox` its origin is opaque wherever it is opened, so it has no storage, no cookie and no way into the console. Styles of its
 * own are harmless where nothing can be loaded.
 */
const policyOf = (script: string): string =>
  [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join('; ');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'X-DNS-Prefetch-Control': 'off',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=(), clipboard-write=(), fullscreen=()',
  'Cache-Control': 'no-store',
};

/**
 * The document of an extension. Its files are inside, so the frame asks for nothing more. The script and the bridge before it are
 * one text with one hash: a document within the document that runs the script again has been through the bridge, too.
 */
export const composePage = ({ manifest, page, script: own, style }: ExtensionFiles): ExtensionPage => {
  const script = `${BRIDGE_SCRIPT}${own}`;
  const body = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(manifest.title)}</title>`,
    `<style>${style}</style></head>`,
    `<body>${page}`,
    `<script>${script}</script></body></html>`,
  ].join('\n');
  return { body, headers: { ...HEADERS, 'Content-Security-Policy': policyOf(script) } };
};
