import type { Command } from './command.ts';

export interface TableEntry {
  readonly name: string;
  readonly summary: string;
  /** Loaded when asked for: `version` need not wait for a server. */
  load(): Promise<Command>;
}

/** Every command, in the order of the help. A new one is a file in `commands/` and an entry here. */
export const COMMANDS: readonly TableEntry[] = [
  {
    name: 'up',
    summary: 'run the cluster in the foreground, and make it when there is none',
    load: async () => (await import('./commands/up.ts')).up,
  },
  {
    name: 'status',
    summary: 'hosts, components and nodes of the running cluster',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'host',
    summary: 'kill, stop or start a host of the running cluster',
    load: async () => (await import('./commands/host.ts')).host,
  },
  {
    name: 'fault',
    summary: 'cut or delay links, slow a disk, put a clock wrong; list and heal',
    load: async () => (await import('./commands/fault.ts')).fault,
  },
  {
    name: 'snapshot',
    summary: 'save, check or restore a snapshot of etcd',
    load: async () => (await import('./commands/snapshot.ts')).snapshot,
  },
  {
    name: 'certs',
    summary: 'when certificates end, and renewing them',
    load: async () => (await import('./commands/certs.ts')).certs,
  },
  {
    name: 'member',
    summary: 'the members of etcd: list, add, remove, move-leader',
    load: async () => (await import('./commands/member.ts')).member,
  },
  {
    name: 'defrag',
    summary: 'defragment the members of etcd, one after the other',
    load: async () => (await import('./commands/defrag.ts')).defrag,
  },
  {
    name: 'compact',
    summary: 'let etcd forget what was before a revision',
    load: async () => (await import('./commands/compact.ts')).compact,
  },
  {
    name: 'upgrade',
    summary: 'to which release a cluster may go, and taking it there',
    load: async () => (await import('./commands/upgrade.ts')).upgrade,
  },
  {
    name: 'check',
    summary: 'what a production control plane should have and this one lacks',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'doctor',
    summary: 'look for what keeps a cluster from running',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'serve',
    summary: 'serve the console to a browser on this machine',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'kubeconfig',
    summary: "print the path of the cluster's kubeconfig",
    load: async () => (await import('./commands/kubeconfig.ts')).kubeconfig,
  },
  {
    name: 'component',
    summary: "run one component alone, with upstream's flags",
    load: async () => (await import('./commands/component.ts')).component,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./commands/version.ts')).version,
  },
];
