import { expect, test } from 'vitest';
import { parseLaunchArguments } from './launch-arguments.ts';

test('the data folder and a deep link are found among the switches of Chromium', () => {
  const argv = ['--no-sandbox', '.', '--data', 'demo', 'pilothouse://raft', '--inspect=0'];
  expect(parseLaunchArguments(argv, '/home/ada')).toEqual({
    dataDirectory: '/home/ada/demo',
    deepLink: 'pilothouse://raft',
    file: undefined,
  });
});

test('an absolute folder may be joined by an equals sign', () => {
  expect(parseLaunchArguments(['electron', '--data=/srv/harbor'], '/')).toEqual({
    dataDirectory: '/srv/harbor',
    deepLink: undefined,
    file: undefined,
  });
});

test('--data without a value leaves the default', () => {
  expect(parseLaunchArguments(['electron', '--data'], '/').dataDirectory).toBeUndefined();
});

test.each([
  ['/home/ada/etcd.db', '/home/ada/etcd.db'],
  ['file:///home/ada/my%20config', '/home/ada/my config'],
  ['file://elsewhere/share/config', undefined],
  ['config', undefined],
])('the file manager passes %s', (word, file) => {
  expect(parseLaunchArguments(['--no-sandbox', word], '/').file).toBe(file);
});
