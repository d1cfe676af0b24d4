import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { callControl } from '../../core/cluster/control/client.ts';
import { isAlreadyExists, isNotFound } from '../../core/api/meta/status.ts';
import { NAMESPACE, POD, type Client } from '../../core/client/index.ts';
import { until } from '../support/until.ts';
import type { Seeded } from './random.ts';

const NAMESPACE_NAME = 'hostile';
const GARBAGE_EVERY_MS = 20;
const PORT = 8080;

/** What users' content may try: crash loops, endless loops, memory hogs, forks, floods. */
const SCRIPTS: Readonly<Record<string, string>> = {
  crash: 'exit 1',
  hog: 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done',
  fill: 'while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> /tmp/f; do cat /tmp/f /tmp/f >> /tmp/g; done',
  loop: 'while true; do :; done',
  fork: "echo 'while true; do sh /tmp/f | sh /tmp/f; done' > /tmp/f; sh /tmp/f",
  flood: 'while true; do seq 1 10000; done',
};

const REQUESTS = [
  'GET // HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET http://[ HTTP/1.1\r\n\r\n',
  'CONNECT // HTTP/1.1\r\n\r\n',
  'POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nx',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
] as const;

/** Throws bytes at a port, requests and garbage, until told to stop. */
const pelt = async (address: string, random: Seeded, untilMs: number): Promise<number> => {
  let sent = 0;
  for (; Date.now() < untilMs; sent += 1) {
    const garbage = Buffer.from(Array.from({ length: 64 }, () => random.between(0, 255)));
    const socket = net.connect({ host: address, port: PORT });
    socket.on('error', () => undefined);
    socket.end(random.next() < 0.5 ? random.pick(REQUESTS) : garbage);
    await sleep(GARBAGE_EVERY_MS);
    socket.destroy();
  }
  return sent;
};

/**
 * Creates until it is there: a new namespace gets its service account a little later, and other faults may be at work. The
 * answer to an attempt before may have been lost.
 */
const made = (what: string, create: () => Promise<unknown>): Promise<true> =>
  until(what, async () => {
    await create().catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    return true as const;
  });

/** Hostile pods as a fault: no host may end by what runs in them. */
export class HostilePods {
  readonly #client: Client;
  readonly #data: string;
  readonly #random: Seeded;
  readonly violations: string[] = [];
  #round = 0;

  constructor(client: Client, data: string, random: Seeded) {
    this.#client = client;
    this.#data = data;
    this.#random = random;
  }

  /** Runs them for so long; resolves with what was done. */
  async strike(holdMs: number): Promise<string> {
    this.#round += 1;
    const before = await this.#pids();
    await made('the namespace of hostile pods', () =>
      this.#client.resource(NAMESPACE).create({ metadata: { name: NAMESPACE_NAME } }),
    );
    const names = await this.#create();
    const address = await until('the address of a hostile pod', async () => {
      const { status } = await this.#client.resource(POD, NAMESPACE_NAME).get(this.#name('web'));
      return status?.phase === 'Running' && status.podIP;
    });
    const sent = await pelt(address, this.#random, Date.now() + holdMs);
    for (const name of names)
      await until(`the deletion of ${name}`, async () => {
        const pods = this.#client.resource(POD, NAMESPACE_NAME);
        await pods.delete(name, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
        return true;
      });
    const after = await this.#pids();
    if (JSON.stringify(before) !== JSON.stringify(after))
      this.violations.push(
        `hostile pods ended a host: pids were ${JSON.stringify(before)}, now ${JSON.stringify(after)}`,
      );
    return `${names.length} hostile pods and ${sent} connections of garbage for ${holdMs} ms`;
  }

  async #create(): Promise<string[]> {
    const pods = this.#client.resource(POD, NAMESPACE_NAME);
    const make = async (name: string, container: object): Promise<string> => {
      await made(`hostile pod ${this.#name(name)}`, () =>
        pods.create({
          metadata: { name: this.#name(name), namespace: NAMESPACE_NAME },
          spec: {
            terminationGracePeriodSeconds: 1,
            automountServiceAccountToken: false,
            containers: [{ name: 'app', image: 'busybox:1', ...container }],
          },
        }),
      );
      return this.#name(name);
    };
    const names: string[] = [];
    for (const [name, script] of Object.entries(SCRIPTS))
      names.push(await make(name, { command: ['sh', '-c', script] }));
    const readinessProbe = { httpGet: { port: PORT, path: '//' }, periodSeconds: 1 };
    names.push(await make('web', { ports: [{ containerPort: PORT }], readinessProbe }));
    return names;
  }

  #name(name: string): string {
    return `${name}-${this.#round}`;
  }

  async #pids(): Promise<Record<string, number | undefined>> {
    const { hosts } = await callControl(this.#data, 'status', {});
    return Object.fromEntries(hosts.map(({ name, pid }) => [name, pid]));
  }
}
