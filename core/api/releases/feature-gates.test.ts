import { expect, test } from 'vitest';
import { defaultGates, readGates } from './feature-gates.ts';
import { releaseOf } from './release.ts';

const SWITCHES = new Set(['WatchList', 'APIServerIdentity', 'MutatingAdmissionPolicy']);
const read = (settings: string, minor = 36) => readGates(settings.split(','), releaseOf(minor), SWITCHES);
const problemOf = (settings: string, minor = 36): string | undefined => {
  const gates = read(settings, minor);
  return 'problem' in gates ? gates.problem : undefined;
};

test('gates have the stage and default of their release', () => {
  const on = (name: string) => [34, 35, 36].map((minor) => defaultGates(releaseOf(minor)).isEnabled(name));
  expect([on('WatchList'), on('PodTopologyLabelsAdmission'), on('CRDObservedGenerationTracking')]).toEqual([
    [true, true, true],
    [false, true, true],
    [false, false, true],
  ]);
  expect([34, 36].map((minor) => releaseOf(minor).gates.get('MutatingAdmissionPolicy'))).toEqual([
    { stage: 'BETA', isDefault: false, isLocked: false },
    { stage: 'GA', isDefault: true, isLocked: false },
  ]);
});

test('a gate that can be turned is turned, and one that will go is warned of', () => {
  const gates = read('WatchList=false,kube:MutatingAdmissionPolicy=f');
  if ('problem' in gates) throw new Error(gates.problem);
  expect(
    ['WatchList', 'MutatingAdmissionPolicy', 'APIServerIdentity'].map((name) => gates.isEnabled(name)),
  ).toEqual([false, false, true]);
  expect(gates.warnings).toEqual([
    'setting GA feature gate MutatingAdmissionPolicy=false. It will be removed in a future release.',
  ]);
});

test.each([
  ['Nope=true', 'unrecognized feature gate: Nope'],
  ['WatchList', 'missing bool value for WatchList'],
  ['WatchList=yes', 'invalid value of WatchList=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
  [
    'MultiCIDRServiceAllocator=false',
    'cannot set feature gate MultiCIDRServiceAllocator to false, feature is locked to true',
  ],
  ['wardle:X=true', 'component not registered: wardle'],
  [
    'HPAScaleToZero=true',
    'HPAScaleToZero=true is not supported: this component has the default of Kubernetes 1.36 (HPAScaleToZero=false); gates that can be changed: WatchList, APIServerIdentity, MutatingAdmissionPolicy',
  ],
])('%s is rejected', (settings, problem) => {
  expect(problemOf(settings)).toBe(problem);
});

test('a gate of a later release does not exist yet', () => {
  expect(problemOf('NativeHistograms=true', 35)).toBe(
    'cannot set feature gate NativeHistograms to true, feature is PreAlpha at emulated version 1.35, min compatibility version 1.34',
  );
});

test('the default may be set, and all of a stage only where nothing changes', () => {
  expect(problemOf('HPAScaleToZero=false,AllAlpha=false')).toBeUndefined();
  expect(problemOf('AllAlpha=true')).toContain('=true is not supported');
});

test('a gate that others need cannot be turned off alone, by default in every release', () => {
  const switches = new Set(['NodeDeclaredFeatures']);
  const off = readGates(['NodeDeclaredFeatures=false'], releaseOf(36), switches);
  expect('problem' in off && off.problem).toContain(
    'InPlacePodVerticalScalingInitContainers is enabled, but depends on features that are disabled: [NodeDeclaredFeatures]',
  );
  for (const minor of [34, 35, 36]) expect(problemOf('WatchList=false', minor)).toBeUndefined();
});
