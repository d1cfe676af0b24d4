import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kubeconfigTarget } from './kubeconfig-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilothouse-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (cluster: string, user = '{}'): string => {
  const file = join(folder, 'hook.conf');
  writeFileSync(
    file,
    `kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: a, user: u } }]
clusters: [{ name: a, cluster: ${cluster} }]
users: [{ name: u, user: ${user} }]
`,
  );
  return file;
};

test('the server, its authority and the credentials are those of the current context', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'AUTHORITY');
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const file = write(
    '{ server: "https://hook/authorize", certificate-authority: ca.pem }',
    `{ client-certificate-data: ${data('CERT')}, client-key-data: ${data('KEY')}, token: t }`,
  );
  expect(await kubeconfigTarget(file)).toEqual({
    url: 'https://hook/authorize',
    caBundle: data('AUTHORITY'),
    credentials: { certPem: 'CERT', keyPem: 'KEY', bearerToken: 't' },
  });
});

test.each([
  ['{ server: "http://hook" }', '{}', 'the server must be an https URL'],
  ['{ server: "https://hook", insecure-skip-tls-verify: true }', '{}', 'insecure-skip-tls-verify'],
  ['{ server: "https://hook" }', '{ exec: { command: sh } }', 'exec is not supported'],
  ['{ server: "https://hook" }', '{ client-certificate-data: QQ== }', 'must be given together'],
])('%s with %s is rejected', async (cluster, user, message) => {
  await expect(kubeconfigTarget(write(cluster, user))).rejects.toThrow(message);
});

test('a file that is no kubeconfig is named without its content', async () => {
  const file = join(folder, 'passwd');
  writeFileSync(file, 'root:x:0:0');
  await expect(kubeconfigTarget(file)).rejects.toThrow(`${file}: is not a kubeconfig`);
});
