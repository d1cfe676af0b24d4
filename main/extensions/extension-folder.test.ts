import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownFolder } from '../../test/support/own-folder.ts';
import { readExtension } from './extension-folder.ts';
import { composePage } from './extension-page.ts';

const SAMPLE = fileURLToPath(new URL('../../resources/samples/extensions/restarts', import.meta.url));
const MANIFEST = { apiVersion: 'pilothouse.dev/v1', title: 'Mine', read: ['pods'] };

let home: string;
let folder: string;
beforeEach(() => {
  home = ownFolder('pilothouse-extension-');
  folder = join(home, 'mine');
  mkdirSync(folder);
  write({ 'extension.json': JSON.stringify(MANIFEST), 'page.html': '<p>hello' });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (files: Readonly<Record<string, string | Buffer>>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};
const why = (): Promise<string> =>
  readExtension(folder).then(
    () => 'read',
    (error: unknown) => (error as Error).message,
  );
const whyManifest = (manifest: object): Promise<string> => {
  write({ 'extension.json': JSON.stringify({ ...MANIFEST, ...manifest }) });
  return why();
};

test('the sample is read, and every byte of every file is in its fingerprint', async () => {
  cpSync(SAMPLE, join(home, 'sample'), { recursive: true });
  const { manifest, script, fingerprint } = await readExtension(join(home, 'sample'));
  expect([manifest.title, manifest.read, script.includes('pilothouse.list')]).toEqual([
    'Restarts',
    ['pods'],
    true,
  ]);
  folder = join(home, 'sample');
  const seen = new Set([fingerprint]);
  for (const file of ['extension.json', 'page.html', 'page.js', 'page.css']) {
    execFileSync('sh', ['-c', `printf ' ' >> "${join(folder, file)}"`]);
    seen.add((await readExtension(folder)).fingerprint);
  }
  expect(seen.size).toBe(5);
  write({ 'notes.txt': 'of no meaning' });
  expect(seen.has((await readExtension(folder)).fingerprint)).toBe(true);
});

test('bytes that move from the page into the script make another extension', async () => {
  write({ 'page.html': '<p>ab', 'page.js': 'cd' });
  const before = (await readExtension(folder)).fingerprint;
  write({ 'page.html': '<p>a', 'page.js': 'bcd' });
  expect((await readExtension(folder)).fingerprint).not.toBe(before);
});

test('a manifest declares plain resources and nothing else', async () => {
  expect(await whyManifest({})).toBe('read');
  expect(await whyManifest({ read: ['secrets'] })).toContain('extensions cannot read Secrets');
  for (const resource of ['pods/log', 'pods/exec', '*', '*.*', '../secrets', 'Pods', 'secrets/', 'a b', ''])
    expect(await whyManifest({ read: [resource] }), resource).toContain('extension.json: read');
  expect(await whyManifest({ read: Array.from({ length: 33 }, (_, at) => `kind${at}`) })).toContain('read');
  expect(await whyManifest({ page: '../../etc/passwd' })).toContain('page: unknown field');
  expect(await whyManifest({ title: 'Safe\u202Eexe' })).toContain('invisible characters');
  expect(await whyManifest({ title: '' })).toContain('title');
  expect(await whyManifest({ apiVersion: 'v2' })).toContain('apiVersion');
  write({ 'extension.json': '{' });
  expect(await why()).toContain('extension.json: line 1');
});

test('no link leads out of the folder, and the folder is no link', async () => {
  writeFileSync(join(home, 'secret'), 'hunter2');
  rmSync(join(folder, 'page.html'));
  symlinkSync(join(home, 'secret'), join(folder, 'page.html'));
  expect(await why()).toBe('page.html is not a plain file; links are not followed');
  const linked = join(home, 'linked');
  symlinkSync(SAMPLE, linked);
  folder = linked;
  expect(await why()).toBe(`${linked} is not a folder; links are not followed`);
});

test('a pipe, a folder and a large file in place of a file are refused without waiting', async () => {
  rmSync(join(folder, 'page.html'));
  execFileSync('mkfifo', [join(folder, 'page.html')]);
  expect(await why()).toContain('page.html is not a plain file');
  rmSync(join(folder, 'page.html'));
  mkdirSync(join(folder, 'page.html'));
  expect(await why()).toContain('page.html');
  rmSync(join(folder, 'page.html'), { recursive: true });
  expect(await why()).toBe('page.html is missing');
  write({ 'page.html': 'x'.repeat(128 * 1024 + 1) });
  expect(await why()).toBe('page.html is larger than 128 KiB');
  write({ 'page.html': Buffer.from([0x3c, 0xff, 0xfe]) });
  expect(await why()).toBe('page.html is not valid UTF-8 text');
});

test('the policy of a page names the script that was read, and the script cannot leave its element', async () => {
  const script = 'document.body.append("\r\nhi");\r\n';
  write({ 'page.js': script, 'page.css': 'p { color: red }', 'page.html': '<script>evil()</script>' });
  const { body, headers } = composePage(await readExtension(folder));
  const policy = headers['Content-Security-Policy'] ?? '';
  // As the parser of a browser reads it: lines end with one character.
  const scripts = [...body.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text!);
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  expect(hashes.map((hash) => policy.includes(hash))).toEqual([false, true]);
  // What cannot be forbidden by a policy is taken away first, in whatever document the script runs.
  expect(scripts[1]?.indexOf('RTCPeerConnection')).toBeLessThan(scripts[1]!.indexOf('document.body.append'));
  expect(policy).toContain("default-src 'none'");
  expect(policy.startsWith('sandbox allow-scripts;')).toBe(true);
  expect(policy).not.toMatch(/allow-same-origin|unsafe-eval|https?:|\*/);
  for (const text of ['</script><script>1', '</SCRIPT >', '<!-- <script>']) {
    write({ 'page.js': text });
    expect(await why()).toContain('page.js contains');
  }
  write({ 'page.js': '', 'page.css': '</style><script>' });
  expect(await why()).toContain('page.css contains "</style"');
});
