import { expect, test } from 'vitest';
import { takesPart } from '../framework/plugin.ts';
import { expandPlugins } from '../profile/plugin-sets.ts';
import { makeHarness } from '../testing/harness.ts';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import { readSchedulerSettings } from './flags.ts';
import { parseSchedulerConfiguration } from './parse-configuration.ts';

const HEAD = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

test('an empty configuration is the default one', () => {
  expect(parseSchedulerConfiguration(HEAD)).toEqual(DEFAULT_CONFIGURATION);
});

test('profiles, plugin arguments and extenders are read', () => {
  const configuration = parseSchedulerConfiguration(`${HEAD}
podMaxBackoffSeconds: 30
profiles:
  - schedulerName: packing
    percentageOfNodesToScore: 40
    plugins:
      score:
        disabled: [{ name: ImageLocality }]
        enabled: [{ name: NodeResourcesFit, weight: 5 }]
    pluginConfig:
      - name: NodeResourcesFit
        args: { scoringStrategy: { type: MostAllocated } }
extenders:
  - urlPrefix: http://127.0.0.1:8888/
    filterVerb: filter
    httpTimeout: 200ms
    ignorable: true
    managedResources: [{ name: example.com/foo, ignoredByScheduler: true }]
`);
  expect(configuration.podMaxBackoffSeconds).toBe(30);
  expect(configuration.profiles).toMatchObject([{ schedulerName: 'packing', percentageOfNodesToScore: 40 }]);
  expect(configuration.profiles[0]?.pluginConfig?.get('NodeResourcesFit')).toEqual({
    scoringStrategy: { type: 'MostAllocated' },
  });
  expect(configuration.extenders).toMatchObject([
    { filterVerb: 'filter', httpTimeoutMs: 200, ignorable: true },
  ]);
});

test.each([
  ['profils: []', 'profils: unknown field "profils"'],
  ['percentageOfNodesToScore: 101', 'percentageOfNodesToScore: not in valid range [0-100]'],
  [
    'podInitialBackoffSeconds: 20',
    'podMaxBackoffSeconds: must be greater than or equal to PodInitialBackoffSeconds',
  ],
  [
    'profiles: [{ plugins: { score: { enabled: [{}] } } }]',
    'profiles[0].plugins.score.enabled[0].name: is required',
  ],
  ['profiles: [{}, {}]', 'profiles: scheduler names must be unique'],
])('%s is refused with one line that names the field', (text, message) => {
  expect(() => parseSchedulerConfiguration(`${HEAD}${text}\n`)).toThrow(message);
});

test('a point takes its own order first, then the rest of the profile, and honours what it disables', () => {
  const { framework } = makeHarness();
  const plugins = new Map(framework.all().map((plugin) => [plugin.name, plugin]));
  const expanded = expandPlugins(
    { Score: { enabled: [{ name: 'ImageLocality', weight: 9 }], disabled: [{ name: 'TaintToleration' }] } },
    (name, point) => takesPart(plugins.get(name)!, point),
  );
  expect(expanded.Score).toEqual([
    { name: 'ImageLocality', weight: 9 },
    { name: 'NodeAffinity', weight: 2 },
    { name: 'NodeResourcesFit', weight: 1 },
    { name: 'PodTopologySpread', weight: 2 },
    { name: 'InterPodAffinity', weight: 2 },
    { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  ]);
});

test('flags that were given win over the file for election, and defaults are upstream’s', () => {
  const { flags } = readSchedulerSettings(
    ['--config=/c.yaml', '--leader-elect=false', '--kubeconfig', '/k.conf'],
    () => `${HEAD}leaderElection: { leaderElect: true, leaseDuration: 20s }\n`,
  );
  expect(flags).toMatchObject({
    'leader-elect': false,
    'leader-elect-lease-duration': 20_000,
    kubeconfig: '/k.conf',
    'secure-port': 10_259,
  });
});
