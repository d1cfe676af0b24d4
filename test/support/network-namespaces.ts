import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { runCommand, type RunCommand } from '../../core/base/node/nft-table.ts';
import { ownedNamespace, sweepLeftovers } from './leftovers.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const PROGRAMS = ['/usr/sbin/nft', '/usr/sbin/conntrack', '/usr/sbin/ip'];

/** Why this machine cannot make networks of its own; undefined when it can. */
export const noNamespaces = ((): string | undefined => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const missing = PROGRAMS.filter((program) => !existsSync(program));
  if (missing.length > 0) return `needs ${missing.join(', ')}`;
  return spawnSync('unshare', ['-n', 'nft', 'add', 'table', 'ip', 'probe']).status === 0
    ? undefined
    : 'the kernel refuses network namespaces or nftables';
})();

/** Says its name to every datagram and, as a web page, to every request. */
const SERVER = `
const [name, port] = process.argv.slice(1);
require('node:http').createServer((request, response) => response.end(name + ' ' + request.socket.remoteAddress)).listen(port, '0.0.0.0');
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (_, { address, port }) => socket.send(name, port, address));
socket.bind(Number(port), '0.0.0.0', () => console.log('ready'));`;

/** One answer a line. */
const TCP_CLIENT = `
const [host, port, times] = process.argv.slice(1);
const ask = (left) => {
  if (left === 0) return;
  const say = (text) => { console.log(text); ask(left - 1); };
  const request = require('node:http').get({ host, port, agent: false, timeout: 2000 }, (response) => {
    let text = '';
    response.on('data', (chunk) => (text += chunk)).on('end', () => say(text));
  });
  request.on('timeout', () => request.destroy(new Error('silent')));
  request.on('error', (error) => say(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
};
ask(Number(times));`;

/** Sends datagrams from one port until one is answered, so that all are one flow. */
const UDP_CLIENT = `
const [address, port, from] = process.argv.slice(1);
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (text) => { console.log(String(text)); process.exit(0); });
socket.bind(Number(from));
const send = () => socket.send('hello', Number(port), address);
send();
setInterval(send, 200);
setTimeout(() => { console.log('none'); process.exit(0); }, 2000);`;

export interface NetworkLab {
  readonly nodeAddress: string;
  /** For tools that write rules of the node. */
  readonly inNode: RunCommand;
  serve(pod: string, port: number): Promise<void>;
  /** What a web server answers to one of the namespaces, each time; `refused` or `silent` without an answer. */
  ask(from: string, address: string, port: number, times?: number): Promise<readonly string[]>;
  /** As `ask`, from a port of its own. */
  askUdp(from: string, address: string, port: number, fromPort: number): Promise<string>;
  close(): Promise<void>;
}

/** A node with pods around it, each in a network namespace and reached by a route of its own, as with the CNI plugin ptp. */
export const networkLab = async (options: {
  readonly nodeAddress: string;
  readonly pods: Readonly<Record<string, string>>;
}): Promise<NetworkLab> => {
  const { nodeAddress, pods } = options;
  const space = ownedNamespace;
  const exec = (where: string, ...argv: string[]) => run('ip', ['netns', 'exec', space(where), ...argv]);
  const running: ChildProcess[] = [];
  const spaces = ['node', ...Object.keys(pods)];
  const close = async (): Promise<void> => {
    for (const child of running) child.kill('SIGKILL');
    for (const one of spaces) await run('ip', ['netns', 'delete', space(one)]).catch(() => undefined);
  };
  await sweepLeftovers();
  try {
    for (const one of spaces) await run('ip', ['netns', 'add', space(one)]);
    for (const one of spaces) await exec(one, 'ip', 'link', 'set', 'lo', 'up');
    await exec('node', 'ip', 'address', 'add', `${nodeAddress}/32`, 'dev', 'lo');
    // As every node, it has a route to the world, although nothing is there.
    await exec('node', 'ip', 'link', 'add', 'up0', 'type', 'bridge');
    await exec('node', 'ip', 'link', 'set', 'up0', 'up');
    await exec('node', 'ip', 'route', 'add', 'default', 'dev', 'up0');
    await exec('node', 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    for (const [pod, address] of Object.entries(pods)) {
      await run('ip', [
        'link',
        'add',
        `v-${pod}`,
        'netns',
        space('node'),
        'type',
        'veth',
        'peer',
        'name',
        'eth0',
        'netns',
        space(pod),
      ]);
      await exec('node', 'ip', 'link', 'set', `v-${pod}`, 'up');
      await exec('node', 'ip', 'route', 'add', `${address}/32`, 'dev', `v-${pod}`);
      await exec(pod, 'ip', 'link', 'set', 'eth0', 'up');
      await exec(pod, 'ip', 'address', 'add', `${address}/32`, 'dev', 'eth0');
      await exec(pod, 'ip', 'route', 'add', nodeAddress, 'dev', 'eth0', 'scope', 'link');
      await exec(pod, 'ip', 'route', 'add', 'default', 'via', nodeAddress);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    nodeAddress,
    inNode: (argv, input) => runCommand(['ip', 'netns', 'exec', space('node'), ...argv], input),
    async serve(pod, port) {
      const child = spawn('ip', [
        'netns',
        'exec',
        space(pod),
        process.execPath,
        '-e',
        SERVER,
        pod,
        String(port),
      ]);
      running.push(child);
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await until(`the server of ${pod}`, () => said.includes('ready'));
    },
    async ask(from, address, port, times = 1) {
      const argv = [process.execPath, '-e', TCP_CLIENT, address, String(port), String(times)];
      return (await exec(from, ...argv)).stdout.trim().split('\n');
    },
    async askUdp(from, address, port, fromPort) {
      const { stdout } = await exec(
        from,
        process.execPath,
        '-e',
        UDP_CLIENT,
        address,
        String(port),
        String(fromPort),
      );
      return stdout.trim();
    },
    close,
  };
};
