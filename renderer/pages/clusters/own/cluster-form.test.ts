import { expect, test } from 'vitest';
import type { ClusterDefaults } from '../../../../core/contract/index.ts';
import { errorsOf, folderOf, formOf, toleranceOf, upCommand, wishesOf } from './cluster-form.ts';

const defaults: ClusterDefaults = {
  wishes: {
    name: 'rehearsal',
    directory: null,
    topology: 'stacked',
    controlPlanes: 3,
    etcdMembers: 3,
    workers: 2,
    kubernetesVersion: 'v1.36.0',
  },
  parentDirectory: '/home/ada/.pilothouse/clusters',
  kubernetesVersions: ['v1.36.0', 'v1.35.0'],
};

test('the form starts with the defaults of a new cluster', () => {
  expect(wishesOf(formOf(defaults))).toEqual(defaults.wishes);
});

test('a stacked cluster has as many members of etcd as control planes', () => {
  expect(wishesOf({ ...formOf(defaults), controlPlanes: '5' })).toMatchObject({
    controlPlanes: 5,
    etcdMembers: 5,
  });
});

test('without a folder of its own the cluster goes below the parent, by its name', () => {
  expect(folderOf(formOf(defaults), defaults.parentDirectory)).toBe(
    '/home/ada/.pilothouse/clusters/rehearsal',
  );
  expect(folderOf({ ...formOf(defaults), directory: ' /srv/k8s ' }, defaults.parentDirectory)).toBe(
    '/srv/k8s',
  );
});

test.each([
  ['', true],
  ['Harbor', true],
  ['-harbor', true],
  ['rehearsal', true],
  ['harbor-2', false],
])('the name %j is refused: %j', (name, isRefused) => {
  expect(errorsOf({ ...formOf(defaults), name }, ['rehearsal']).name !== undefined).toBe(isRefused);
});

test.each([
  ['0', false],
  ['5000', false],
  ['5001', true],
  ['two', true],
  ['', true],
])('%j workers are refused: %j', (workers, isRefused) => {
  expect(errorsOf({ ...formOf(defaults), workers }, []).workers !== undefined).toBe(isRefused);
});

test.each([
  ['1', 0],
  ['3', 1],
  ['5', 2],
])('%s control planes tolerate %i failures', (controlPlanes, tolerance) => {
  expect(toleranceOf({ ...formOf(defaults), controlPlanes })).toBe(tolerance);
});

test('the command line makes the same cluster', () => {
  expect(upCommand({ ...formOf(defaults), topology: 'external' }, defaults.parentDirectory)).toBe(
    'pilothouse up --data /home/ada/.pilothouse/clusters/rehearsal --topology external --etcd-members 3 ' +
      '--control-planes 3 --workers 2 --kubernetes-version v1.36.0',
  );
});
