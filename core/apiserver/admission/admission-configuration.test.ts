import { expect, test } from 'vitest';
import { parseAdmissionConfiguration } from './admission-configuration.ts';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n';
const read = (plugins: string, files: Record<string, string> = {}) =>
  parseAdmissionConfiguration(
    head + plugins,
    (path) => Promise.resolve(files[path] ?? ''),
    (url) => Promise.resolve({ url }),
  );

test('plugins are configured in the file or in one that it names', async () => {
  const plugins = `
- name: EventRateLimit
  path: limits.yaml
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: env=any }
`;
  const limits = 'limits: [{ type: Server, qps: 5, burst: 10 }]';
  expect(await read(plugins, { 'limits.yaml': limits })).toEqual({
    eventRateLimit: [{ type: 'Server', qps: 5, burst: 10, cacheSize: 4096 }],
    podNodeSelector: { clusterDefaultNodeSelector: 'env=any' },
  });
});

test('the image policy has a kubeconfig, and times with units of their own', async () => {
  const plugins = `
- name: ImagePolicyWebhook
  configuration:
    imagePolicy: { kubeConfigFile: images.conf, allowTTL: 50, denyTTL: -1, defaultAllow: true }
`;
  expect(await read(plugins)).toEqual({
    imagePolicy: {
      target: { url: 'images.conf' },
      allowTtlMs: 50_000,
      denyTtlMs: 0,
      retryBackoffMs: 500,
      defaultAllow: true,
    },
  });
});

test.each([
  ['- name: ResourceQuota', 'plugin "ResourceQuota" has no configuration here'],
  ['- name: EventRateLimit', 'limits: Invalid value: must not be empty'],
  [
    '- { name: EventRateLimit, configuration: { limits: [{ type: Server, qps: 0, burst: 1 }] } }',
    'limits[0].qps: Invalid value: 0: must be positive',
  ],
  [
    '- { name: EventRateLimit, configuration: { limits: [{ type: Nope, qps: 1, burst: 1 }] } }',
    'limits[0].type: Unsupported value: "Nope"',
  ],
])('%s is rejected', async (plugins, message) => {
  await expect(read(plugins)).rejects.toThrow(message);
});
