import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CONFIG_MAP, NAMESPACE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { createAuthority } from '../../pki/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { rootCaPublisher } from './root-ca-publisher.ts';

const fixture = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'root-ca-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const api = new FakeApi();
  const { certificatePem } = createAuthority({ commonName: 'kubernetes', clock: api.clock });
  const file = join(folder, 'ca.crt');
  await writeFile(file, certificatePem);
  api.seed(NAMESPACE, { metadata: { name: 'a' }, status: { phase: 'Active' } });
  const running = await startOnFake(api, rootCaPublisher, { 'root-ca-file': file });
  onTestFinished(() => running.stop());
  await expect.poll(() => api.find(CONFIG_MAP, 'kube-root-ca.crt', 'a')).toBeDefined();
  return { api, certificatePem };
};

test('every namespace has the authority, with the words upstream explains it with', async () => {
  const { api, certificatePem } = await fixture();
  expect(api.get(CONFIG_MAP, 'kube-root-ca.crt', 'a')).toMatchObject({
    metadata: {
      annotations: {
        'kubernetes.io/description': expect.stringMatching(
          /^Contains a CA bundle that can be used to verify/,
        ),
      },
    },
    data: { 'ca.crt': certificatePem },
  });
});

test('changed objects are corrected and deleted ones recreated', async () => {
  const { api, certificatePem } = await fixture();
  api.edit(CONFIG_MAP, 'kube-root-ca.crt', (map) => (map.data = { 'ca.crt': 'x', more: 'y' }), 'a');
  await api.settle();
  expect(api.get(CONFIG_MAP, 'kube-root-ca.crt', 'a').data).toEqual({ 'ca.crt': certificatePem });
  api.remove(CONFIG_MAP, 'kube-root-ca.crt', 'a');
  await api.settle();
  expect(api.get(CONFIG_MAP, 'kube-root-ca.crt', 'a').data).toEqual({ 'ca.crt': certificatePem });
});
