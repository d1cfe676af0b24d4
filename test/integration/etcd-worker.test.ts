import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { RPC } from '../support/etcd-rpc.ts';
import { connectRpc, type RpcClient } from '../support/grpc-client.ts';

const CLI = join(process.cwd(), 'dist/cli/cli.js');
const CLIENT_URL = 'http://127.91.0.1:2379';
const PEER_URL = 'http://127.91.0.1:2380';
const START_LIMIT_MS = 100_000;
const POLL_MS = 50;

const directory = mkdtempSync(join(tmpdir(), 'pilothouse-worker-'));
const workers: Worker[] = [];
const clients: RpcClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  rmSync(directory, { recursive: true, force: true });
});

const start = async (): Promise<{ worker: Worker; client: RpcClient }> => {
  const worker = new Worker(CLI, {
    argv: [
      'component',
      'etcd',
      `--data-dir=${directory}/member-1`,
      `--listen-client-urls=${CLIENT_URL}`,
      `--advertise-client-urls=${CLIENT_URL}`,
      `--listen-peer-urls=${PEER_URL}`,
      `--initial-advertise-peer-urls=${PEER_URL}`,
    ],
    stdout: true,
    stderr: true,
  });
  workers.push(worker);
  const deadlineMs = Date.now() + START_LIMIT_MS;
  for (;;) {
    const client = connectRpc(CLIENT_URL);
    clients.push(client);
    try {
      await client.ready();
      await client.unary(RPC.range, { key: Buffer.from('health') });
      return { worker, client };
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
};

test('a member in a worker thread serves, and loses nothing when the thread is ended', async () => {
  const first = await start();
  for (let n = 0; n < 100; n += 1)
    await first.client.unary(RPC.put, { key: Buffer.from(`k${n}`), value: Buffer.from(`v${n}`) });
  await first.worker.terminate();

  const second = await start();
  const answer = await second.client.unary(RPC.range, {
    key: Buffer.from('k'),
    rangeEnd: Buffer.from('l'),
    countOnly: true,
  });
  expect({ count: answer.count, revision: answer.header?.revision }).toEqual({ count: 100, revision: 101 });
});
