import { expect, test } from 'vitest';
import { containerNames, sourceLabels } from './log-sources.ts';

const template = { spec: { initContainers: [{ name: 'prepare' }], containers: [{ name: 'web' }] } };

test('containers are those of the pod, or of the pods that a workload makes, serving ones first', () => {
  expect(containerNames({ kind: 'Pod', ...template })).toEqual(['web', 'prepare']);
  expect(containerNames({ kind: 'Deployment', spec: { template } })).toEqual(['web', 'prepare']);
  expect(containerNames({ kind: 'CronJob', spec: { jobTemplate: { spec: { template } } } })).toEqual([
    'web',
    'prepare',
  ]);
});

test('a line is named by as little as tells its source from the others; one source needs no name', () => {
  const names = (...sources: [string, string][]) =>
    [...sourceLabels(sources.map(([pod, container]) => ({ pod, container }))).values()].map(
      ({ label, colour }) => `${label} ${colour}`,
    );
  expect(names(['web-1', 'web'])).toEqual([]);
  expect(names(['web-1', 'web'], ['web-2', 'web'])).toEqual(['web-1 1', 'web-2 2']);
  expect(names(['web-1', 'web'], ['web-1', 'proxy'])).toEqual(['web 1', 'proxy 2']);
  // A pod keeps its colour across its containers.
  expect(names(['web-1', 'web'], ['web-1', 'proxy'], ['web-2', 'web'])).toEqual([
    'web-1/web 1',
    'web-1/proxy 1',
    'web-2/web 2',
  ]);
});
