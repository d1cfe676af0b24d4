import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane, type ControlPlaneOptions } from '../support/control-plane.ts';
import { kubernetesClient, type KubernetesClient, type RunningTool } from '../support/kubectl.ts';
import { until } from '../support/until.ts';

/** Control planes are run as they are shipped: from the built command line. */
export const isBuilt = existsSync(join(process.cwd(), 'dist/cli/cli.js'));

export interface Terminal {
  /**
   * What a user would see of `kubectl <line>`: what it printed, then what it complained about, then `[exit n]` when it
   * failed. Each command goes to the next of the API servers, so a server that lags behind the others is noticed.
   */
  run(line: string, input?: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** The rows of a table without their column AGE. */
  rows(line: string): Promise<string[][]>;
  start(line: string): RunningTool;
  /** Runs the command again until it prints what satisfies: for what servers learn of each other a little later. */
  eventually(line: string, isEnough: (text: string) => boolean): Promise<string>;
}

/** Words separated by blanks; single quotes keep what is between them together. */
export const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));

/** A table of kubectl: columns begin where their headings do. */
export const rowsOf = (text: string): string[][] => {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map(({ index }) => index);
  const cells = (line: string): string[] =>
    starts.map((start, column) => line.slice(start, starts[column + 1]).trim());
  const age = cells(head).indexOf('AGE');
  return [head, ...lines].map((line) => cells(line).filter((_cell, column) => column !== age));
};

const terminalOf = (client: KubernetesClient, servers: readonly string[]): Terminal => {
  let turn = 0;
  const wordsFor = (line: string): string[] => {
    const server = servers[turn % servers.length]!;
    turn += 1;
    return [`--server=${server}`, ...wordsOf(line)];
  };
  const run: Terminal['run'] = async (line, input, env) => {
    const options = { ...(input !== undefined && { input }), ...(env !== undefined && { env }) };
    const { code, stdout, stderr } = await client.kubectl(wordsFor(line), options);
    return `${stdout}${stderr}${code === 0 ? '' : `[exit ${code}]`}`.trimEnd();
  };
  return {
    run,
    rows: async (line) => rowsOf(await run(line)),
    start: (line) => client.start(...wordsFor(line)),
    eventually(line, isEnough) {
      return until(`enough of kubectl ${line}`, async () => {
        const text = await run(line);
        if (!isEnough(text)) throw new Error(`it prints: ${text}`);
        return text;
      });
    },
  };
};

export interface KubectlCluster {
  readonly plane: ControlPlane;
  /** A terminal of kubectl 1.<minor>, in a namespace of its own that is made here. */
  terminal(minor: number, namespace: string): Promise<Terminal>;
  client(minor: number): Promise<KubernetesClient>;
  close(): Promise<void>;
}

/** API servers on members of their own, and real clients of any version for them. */
export const openKubectlCluster = async (
  options: Omit<ControlPlaneOptions, 'directory'>,
): Promise<KubectlCluster> => {
  const directory = await mkdtemp(join(tmpdir(), 'pilothouse-clients-'));
  const plane = await ControlPlane.create({ ...options, directory });
  const clients: KubernetesClient[] = [];
  const client = async (minor: number): Promise<KubernetesClient> => {
    const made = await kubernetesClient(minor, plane.kubeconfig());
    if (made === undefined) throw new Error(`kubectl 1.${minor} cannot be had`);
    clients.push(made);
    return made;
  };
  try {
    await plane.start();
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return {
    plane,
    client,
    async terminal(minor, namespace) {
      const made = await client(minor);
      await made.ok('create', 'namespace', namespace);
      // No one else would: there are no controllers here.
      await made.ok('create', 'serviceaccount', 'default', '-n', namespace);
      await made.ok('config', 'set-context', '--current', `--namespace=${namespace}`);
      const urls = plane.apiServers.map(({ url }) => url);
      return terminalOf(made, urls);
    },
    async close() {
      await plane.stop();
      await Promise.all(clients.map((one) => one.close()));
      await rm(directory, { recursive: true, force: true });
    },
  };
};
