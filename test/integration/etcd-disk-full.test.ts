import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startCommand, type CommandProcess } from '../support/etcd-process.ts';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, type RpcClient } from '../support/grpc-client.ts';

const HOST = '127.85.0.1';
const CLIENT_URL = `http://${HOST}:2379`;
const VALUE_BYTES = 200_000;
const WRITES_MAX = 2_000;

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-full-'));
const mounted = join(directory, 'disk');
const mount = (...args: readonly string[]): void =>
  void execFileSync('mount', [...args], { stdio: 'ignore' });

/** Needs root, and a kernel that lets it mount. */
const canMount = ((): boolean => {
  mkdirSync(mounted);
  try {
    mount('-t', 'tmpfs', '-o', 'size=160m,mode=0700', 'pilothouse', mounted);
    return true;
  } catch {
    return false;
  }
})();

const processes: CommandProcess[] = [];
let client: RpcClient | undefined;
afterAll(async () => {
  client?.close();
  await Promise.all(processes.map((started) => started.kill('SIGKILL')));
  if (canMount) execFileSync('umount', [mounted]);
  rmSync(directory, { recursive: true, force: true });
});

const start = async (): Promise<CommandProcess> => {
  const member = startCommand(
    ...['component', 'etcd', `--data-dir=${join(mounted, 'data')}`],
    ...[`--listen-client-urls=${CLIENT_URL}`, `--advertise-client-urls=${CLIENT_URL}`],
    ...[`--listen-peer-urls=http://${HOST}:2380`, `--initial-advertise-peer-urls=http://${HOST}:2380`],
  );
  processes.push(member);
  await member.until(/"msg":"ready to serve client requests"/);
  client = connectRpc(CLIENT_URL, undefined);
  await client.ready();
  return member;
};

const valueOf = (n: number): Buffer => Buffer.alloc(VALUE_BYTES, `${n} `);

test.skipIf(!canMount)(
  'a full disk ends the member with one line, and loses nothing acknowledged',
  async () => {
    const member = await start();
    const acknowledged: number[] = [];
    let refusal: unknown;
    for (let n = 0; n < WRITES_MAX && refusal === undefined; n += 1)
      try {
        await client!.unary(RPC.put, { key: Buffer.from(`k${n}`), value: valueOf(n) });
        acknowledged.push(n);
      } catch (error) {
        refusal = error;
      }
    expect(refusal).toBeDefined();
    client!.close();
    const { code, stderr } = await member.ended;
    expect(code).not.toBe(0);
    expect(stderr.trim().split('\n').at(-1)).toMatch(/no space left on device|ENOSPC/i);

    mount('-o', 'remount,size=600m', mounted);
    await start();
    for (const n of acknowledged) {
      const { kvs } = await client!.unary(RPC.range, { key: Buffer.from(`k${n}`) });
      expect(kvs[0] && Buffer.from(kvs[0].value).equals(valueOf(n)), `k${n}`).toBe(true);
    }
    await client!.unary(RPC.put, { key: Buffer.from('after'), value: Buffer.from('room') });
  },
);
