import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import type { ClusterCertificates } from '../support/etcd-cluster.ts';
import { runCommand, startCommand, type CommandProcess } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, type RpcClient } from '../support/grpc-client.ts';

const HOST = '127.78.0.1';
const CLIENT_URL = `http://${HOST}:2379`;
/** Far below the minute that an open watch, or a quorum that never comes, would be waited for. */
const STOP_LIMIT_MS = 30_000;

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-member-'));
let certificates: ClusterCertificates;
const processes: CommandProcess[] = [];
const clients: RpcClient[] = [];

beforeAll(() => {
  certificates = makeCertificates(join(directory, 'pki'), 78);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(processes.splice(0).map((started) => started.kill('SIGKILL')));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const flagsOf = (dataDirectory: string): string[] => [
  `--data-dir=${dataDirectory}`,
  `--listen-client-urls=${CLIENT_URL}`,
  `--advertise-client-urls=${CLIENT_URL}`,
  `--listen-peer-urls=http://${HOST}:2380`,
  `--initial-advertise-peer-urls=http://${HOST}:2380`,
];

let folders = 0;
const newFolder = (): string => join(directory, `data-${(folders += 1)}`);

const startMember = async (...flags: readonly string[]): Promise<CommandProcess> => {
  const started = startCommand('component', 'etcd', ...flags);
  processes.push(started);
  await started.until(/"msg":"ready to serve client requests"/);
  return started;
};

const connect = (): RpcClient => {
  const client = connectRpc(CLIENT_URL);
  clients.push(client);
  return client;
};
const put = (client: RpcClient, key: string, value: string) =>
  client.unary(RPC.put, { key: Buffer.from(key), value: Buffer.from(value) });
const get = async (client: RpcClient, key: string): Promise<string | undefined> => {
  const { kvs } = await client.unary(RPC.range, { key: Buffer.from(key) });
  return kvs[0] && Buffer.from(kvs[0].value).toString();
};

describe('a member that cannot start says why in one line and ends with an error', () => {
  const refusalOf = async (...flags: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand('component', 'etcd', '--log-level=error', ...flags);
    expect({ code: code === 1 || code === 2, stdout, lines: stderr.split('\n').length }).toEqual({
      code: true,
      stdout: '',
      lines: 2,
    });
    return stderr.trimEnd();
  };

  describe('where the port is taken', () => {
    let server: Server;
    const take = (port: number): Promise<void> =>
      new Promise((resolve) => (server = createServer().listen(port, HOST, () => resolve())));
    afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())));

    test('by another for clients', async () => {
      await take(2379);
      expect(await refusalOf(...flagsOf(newFolder()))).toBe(
        `pilothouse: cannot listen on ${CLIENT_URL} (--listen-client-urls): listen EADDRINUSE: address already in use ${HOST}:2379`,
      );
    });

    test('by another for peers', async () => {
      await take(2380);
      expect(await refusalOf(...flagsOf(newFolder()))).toBe(
        `pilothouse: cannot listen on http://${HOST}:2380 (--listen-peer-urls): listen EADDRINUSE: address already in use ${HOST}:2380`,
      );
    });
  });

  test('where another member has the folder', async () => {
    const data = newFolder();
    const { child } = await startMember(...flagsOf(data));
    expect(await refusalOf(`--data-dir=${data}`)).toBe(
      `pilothouse: the data directory ${data} is in use by process ${child.pid}; stop that process first`,
    );
  });

  test('where a file is in the place of the folder', async () => {
    const data = newFolder();
    writeFileSync(data, 'a file');
    expect(await refusalOf(...flagsOf(data))).toMatch(/^pilothouse: cannot use the data directory .*EEXIST/);
    expect(readFileSync(data, 'utf8')).toBe('a file');
  });

  test.each([
    ['an unknown flag', ['--no-such-flag=1'], /--no-such-flag/],
    ['a flag without its value', ['--name'], /--name/],
    ['a value of the wrong kind', ['--snapshot-count=many'], /--snapshot-count/],
    ['a word too many', ['word'], /word/],
    ['a URL that is none', ['--listen-peer-urls=nowhere'], /--listen-peer-urls/],
    [
      'clients without an address to tell them',
      ['--listen-client-urls=http://127.0.0.1:1'],
      /--advertise-client-urls/,
    ],
    [
      'a hasty election',
      ['--heartbeat-interval=500', '--election-timeout=1000'],
      /--election-timeout.*--heartbeat-interval/,
    ],
    ['https without a certificate', ['--listen-peer-urls=https://127.78.0.1:2380'], /--peer-cert-file/],
    ['a certificate without its key', ['--cert-file=a.crt'], /--key-file/],
    ['client certificates of nobody', ['--client-cert-auth'], /--trusted-ca-file/],
    ['a cluster without this member', ['--initial-cluster=other=http://127.78.0.1:2380'], /"?default"?/],
    ['an unknown state', ['--initial-cluster-state=old'], /--initial-cluster-state/],
  ])('with %s', async (_what, flags, expected) => {
    const data = newFolder();
    expect(await refusalOf(`--data-dir=${data}`, ...flags)).toMatch(expected);
  });

  test('where its peers do not answer a newcomer', async () => {
    const cluster = `default=http://${HOST}:2380,m2=http://${HOST}:9`;
    const flags = [
      ...flagsOf(newFolder()),
      `--initial-cluster=${cluster}`,
      '--initial-cluster-state=existing',
    ];
    expect(await refusalOf(...flags)).toMatch(
      /could not retrieve cluster information from the given URLs \(http:.*:9: .*ECONNREFUSED/,
    );
  });

  describe('with certificates', () => {
    const secured = (files: { cert?: string; key?: string; ca?: string }): string[] => [
      ...flagsOf(newFolder()).map((flag) => flag.replace(`=${CLIENT_URL}`, `=https://${HOST}:2379`)),
      `--cert-file=${files.cert ?? certificates.serverCertFile}`,
      `--key-file=${files.key ?? certificates.serverKeyFile}`,
      `--trusted-ca-file=${files.ca ?? certificates.caFile}`,
      '--client-cert-auth',
    ];
    const garbage = join(directory, 'garbage.pem');
    beforeAll(() => writeFileSync(garbage, 'not a certificate\n'));

    test.each([
      [
        'that are not there',
        () => secured({ cert: '/nowhere/server.crt' }),
        /certificate \/nowhere\/server\.crt.*ENOENT/,
      ],
      [
        'whose key is not there',
        () => secured({ key: '/nowhere/server.key' }),
        /private key \/nowhere\/server\.key.*ENOENT/,
      ],
      [
        'whose authority is not there',
        () => secured({ ca: '/nowhere/ca.crt' }),
        /CA \/nowhere\/ca\.crt.*ENOENT/,
      ],
      ['whose key is of another', () => secured({ key: certificates.peerKeyFile }), /peer\.key/],
      ['that are garbage', () => secured({ cert: garbage }), /garbage\.pem/],
      ['whose key is garbage', () => secured({ key: garbage }), /garbage\.pem/],
      ['whose authority is garbage', () => secured({ ca: garbage }), /garbage\.pem/],
    ])('%s', async (_what, flags, expected) => {
      expect(await refusalOf(...flags())).toMatch(expected);
    });
  });

  test('where its log is gone and its database is not, and leaves what is there', async () => {
    const data = newFolder();
    const member = await startMember(...flagsOf(data));
    await put(connect(), 'kept', 'yes');
    // An orderly end, so that the database has it too.
    await member.kill('SIGTERM');
    const wal = join(data, 'member', 'wal');
    const aside = join(data, 'wal-aside');
    renameSync(wal, aside);
    const database = join(data, 'member', 'db');
    const bytesOf = (): Buffer =>
      readFileSync(
        join(
          database,
          readdirSync(database).find((name) => name.endsWith('.lmdb'))!,
        ),
      );
    const before = bytesOf();
    expect(await refusalOf(...flagsOf(data))).toMatch(
      /^pilothouse: .*wal holds no log, but the database beside it has entries up to \d+: .*remove this member, delete its data folder and add it again/,
    );
    expect([bytesOf().equals(before), existsSync(wal)]).toEqual([true, false]);
    renameSync(aside, wal);
    await startMember(...flagsOf(data));
    expect(await get(connect(), 'kept')).toBe('yes');
  });

  test('where its log is damaged in the middle, with file and offset', async () => {
    const data = newFolder();
    const member = await startMember(...flagsOf(data));
    const client = connect();
    for (let n = 0; n < 5; n += 1) await put(client, `key-${n}`, `needle-${n}`);
    await member.kill('SIGKILL');
    const folder = join(data, 'member', 'wal');
    const path = join(
      folder,
      readdirSync(folder).find((name) => name.endsWith('.wal'))!,
    );
    const bytes = readFileSync(path);
    const at = bytes.indexOf('needle-2');
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
    const refusal = await refusalOf(...flagsOf(data));
    const [, file, offset] =
      /a record does not match its checksum in (\S+) at offset (\d+); /.exec(refusal) ?? [];
    expect(file).toBe(path);
    expect(Number(offset)).toBeGreaterThan(0);
    expect(Number(offset)).toBeLessThan(at);
  });

  test('where all pages of its database are random bytes, and leaves its log alone', async () => {
    const data = newFolder();
    const member = await startMember(...flagsOf(data));
    await put(connect(), 'key', 'value');
    await member.kill('SIGTERM');
    const path = join(data, 'member', 'db', 'db.1.lmdb');
    const bytes = readFileSync(path);
    const metaBytes = 2 * 4096;
    writeFileSync(path, Buffer.concat([bytes.subarray(0, metaBytes), randomBytes(bytes.length - metaBytes)]));
    const log = readdirSync(join(data, 'member', 'wal'));
    expect(await refusalOf(...flagsOf(data))).toMatch(
      /db\.1\.lmdb is damaged and not a valid database \(.*\); restore the directory from a backup, remove this member/,
    );
    expect(readdirSync(join(data, 'member', 'wal'))).toEqual(log);
  });
});

describe('a member that is asked to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s ends quickly without error, and starts again with all',
    async (signal) => {
      const data = newFolder();
      const first = await startMember(...flagsOf(data));
      const client = connect();
      await put(client, 'kept', 'through a restart');
      // An open watch must not hold it back.
      client.stream(RPC.watch, () => undefined).send({ createRequest: { key: Buffer.from('kept') } });
      const since = Date.now();
      const { code } = await first.kill(signal);
      expect(code).toBe(0);
      expect(Date.now() - since).toBeLessThan(STOP_LIMIT_MS);
      await startMember(...flagsOf(data));
      expect(await get(connect(), 'kept')).toBe('through a restart');
    },
  );

  test('while it waits for a quorum, ends as quickly', async () => {
    const cluster = `default=http://${HOST}:2380,m2=http://127.78.0.2:2380,m3=http://127.78.0.3:2380`;
    const started = startCommand(
      'component',
      'etcd',
      ...flagsOf(newFolder()),
      `--initial-cluster=${cluster}`,
    );
    processes.push(started);
    await started.until(/peer cannot be reached/);
    const since = Date.now();
    expect((await started.kill('SIGTERM')).code).toBe(0);
    expect(Date.now() - since).toBeLessThan(STOP_LIMIT_MS);
  });

  test('leaves only what a member needs in its folder', async () => {
    const data = newFolder();
    const member = await startMember(...flagsOf(data));
    await member.kill('SIGTERM');
    expect(readdirSync(data)).toEqual(['member']);
    mkdirSync(join(data, 'lost+found'));
    await startMember(...flagsOf(data));
  });
});
