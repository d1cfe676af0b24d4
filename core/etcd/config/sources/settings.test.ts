import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readMemberConfig } from '../config.ts';
import { readSettings } from './settings.ts';

const read = (args: readonly string[], environment: Record<string, string> = {}, file = '') =>
  readSettings(args, { environment, readFile: () => file, parseYaml: (text) => parse(text) as unknown });

describe('environment variables', () => {
  test('set what no flag sets', () => {
    const { args, warnings } = read(['--name=flag'], {
      ETCD_NAME: 'variable',
      ETCD_DATA_DIR: '/data',
      ETCD_MAX_TXN_OPS: '7',
      ETCD_LOG_LEVEL: '',
      HOME: '/root',
    });
    expect(warnings).toEqual([]);
    expect(readMemberConfig(args)).toMatchObject({
      name: 'flag',
      dataDirectory: '/data',
      txnOperationsMax: 7,
    });
  });

  test('that are not known are named, without their values', () => {
    const { args, warnings } = read([], { ETCD_SERVICE_HOST: 'secret', ETCD_VERSION: 'v3.6.0' });
    expect(args).toEqual([]);
    expect(warnings).toEqual(['unrecognized environment variable: ETCD_SERVICE_HOST']);
  });

  test('of settings that are not supported are rejected with the reason', () => {
    const { args } = read([], { ETCD_MAX_SNAPSHOTS: '5' });
    expect(() => readMemberConfig(args)).toThrow('--max-snapshots is not supported');
  });
});

describe('a configuration file', () => {
  const FILE = `
name: m1
data-dir: /data
listen-client-urls: https://127.0.0.1:2379
advertise-client-urls: https://127.0.0.1:2379
heartbeat-interval: 200
strict-reconfig-check: false
log-outputs: [stderr]
watch-progress-notify-interval: 60000000000
grpc-keepalive-interval: 1h
discovery-srv:
wal-dir: ''
client-transport-security:
  cert-file: /c.crt
  key-file: /c.key
  client-cert-auth: true
  trusted-ca-file: /ca.crt
  allowed-hostname: [a.example, b.example]
peer-transport-security:
  cert-file: /p.crt
  key-file: /p.key
  trusted-ca-file: /pca.crt
  allowed-cn: [peer]
`;

  test('says what flags say', () => {
    const { args, warnings } = read(['--config-file', '/etcd.yaml'], {}, FILE);
    expect(warnings).toEqual([]);
    expect(readMemberConfig(args)).toMatchObject({
      name: 'm1',
      dataDirectory: '/data',
      heartbeatMs: 200,
      strictReconfigCheck: false,
      progressNotifyIntervalMs: 60_000,
      keepalive: { intervalMs: 3_600_000 },
      commonNameAuth: true,
      clientTls: { certFile: '/c.crt', allowed: { hostnames: ['a.example', 'b.example'] } },
      peerTls: { trustedCaFile: '/pca.crt', allowed: { commonNames: ['peer'] } },
    });
  });

  test('is alone: flags and variables beside it do not count, and a warning says so', () => {
    const { args, warnings } = read(
      ['--name=flag'],
      { ETCD_CONFIG_FILE: '/e.yaml', ETCD_NAME: 'v' },
      'name: file',
    );
    expect(readMemberConfig(args).name).toBe('file');
    expect(warnings).toEqual([expect.stringContaining('Loaded server configuration from "/e.yaml"')]);
  });

  test.each([
    ['nmae: x', 'unknown setting "nmae"'],
    ['- a', 'must be a mapping of settings to values'],
    ['name: {a: 1}', 'name: must be a text'],
    ['client-transport-security: x', 'client-transport-security: must be a mapping'],
    [
      'client-transport-security: {allowed-cn: [a]}',
      'unknown setting "client-transport-security.allowed-cn"',
    ],
    ['config-file: x', 'unknown setting "config-file"'],
    ['a: [', '--config-file: /etcd.yaml: '],
  ])('%s', (file, text) => {
    expect(() => read(['--config-file=/etcd.yaml'], {}, file)).toThrow(text);
  });

  test('that is empty sets nothing', () => {
    expect(read(['--config-file=/etcd.yaml']).args).toEqual([]);
  });
});

test('a component that is given its flags by a manifest reads no file', () => {
  expect(() => readMemberConfig(['--config-file=/x'])).toThrow('--config-file is read by');
});
