import { expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { Registry } from '../base/metrics/index.ts';
import { InformerFactory, silentEvents } from '../client/index.ts';
import { FakeApi } from '../client/testing/index.ts';
import { CLUSTER_CONTROLLERS } from './cluster-loops.ts';
import { DEFAULT_SETTINGS } from './config/config.ts';

test('all controllers share one set of informers', () => {
  const api = new FakeApi();
  const { clock, random } = api;
  const client = api.client();
  const registry = new Registry();
  const informers = new InformerFactory({ client, clock, random, log: silentLog });
  const settings = {
    ...DEFAULT_SETTINGS,
    'allocate-node-cidrs': true,
    'cluster-cidr': '10.244.0.0/16',
    'root-ca-file': 'ca.crt',
    'service-account-private-key-file': 'sa.key',
    'cluster-signing-cert-file': 'ca.crt',
    'cluster-signing-key-file': 'ca.key',
    'requestheader-client-ca-file': 'front-proxy-ca.crt',
    'metrics-server-port': 4443,
  };
  const made = CLUSTER_CONTROLLERS.map((definition) =>
    definition.create(
      { client, informers, events: silentEvents, clock, random, log: silentLog, registry },
      settings,
    ),
  );
  expect(made.every((controller) => controller !== undefined)).toBe(true);
});

test('names and aliases are each of one controller', () => {
  const names = CLUSTER_CONTROLLERS.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});
