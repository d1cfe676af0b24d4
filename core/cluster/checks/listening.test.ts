import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { listeningSockets, parseSocketTable, socketsOfProcess } from './listening.ts';

const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';

test('sockets that listen are read, IPv4 and IPv6; others are not', () => {
  const line = (local: string, state: string): string =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 4711 1 x`;
  const table = [
    HEADER,
    line('0100147F:192B', '0A'),
    line('0100147F:192B', '01'),
    line('00000000000000000000000000000000:0050', '0A'),
    line('0000000000000000FFFF00000100007F:0050', '0A'),
    '',
  ].join('\n');
  expect(parseSocketTable(table, 'TCP').map(({ address, port }) => `${address}:${port}`)).toEqual([
    '127.20.0.1:6443',
    '0000:0000:0000:0000:0000:0000:0000:0000:80',
    '127.0.0.1:80',
  ]);
});

test.runIf(process.platform === 'linux')('a listener of this process is found by its inode', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [sockets, own] = [await listeningSockets(), await socketsOfProcess(process.pid)];
  server.close();
  const found = sockets?.filter((socket) => socket.port === port && own.has(socket.inode));
  expect(found?.map(({ protocol, address }) => `${protocol} ${address}`)).toEqual(['TCP 127.0.0.1']);
});
