import type { Command } from './command.ts';
import { parseUsage, type CommandReference } from './reference/parse-usage.ts';

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
    summary: 'run a cluster in the foreground; create it if it does not exist',
    load: async () => (await import('./commands/up.ts')).up,
  },
  {
    name: 'status',
    summary: 'show hosts and components of the running cluster',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'timeline',
    summary: 'show what happened to the cluster, with causes and effects',
    load: async () => (await import('./commands/timeline.ts')).timeline,
  },
  {
    name: 'host',
    summary: 'kill, stop, start, restart, pause or resume a host',
    load: async () => (await import('./commands/host.ts')).host,
  },
  {
    name: 'fault',
    summary: 'inject faults: cut or delay links, slow disks, skew clocks',
    load: async () => (await import('./commands/fault.ts')).fault,
  },
  {
    name: 'drill',
    summary: 'rehearse incidents on a scratch cluster',
    load: async () => (await import('./commands/drill.ts')).drill,
  },
  {
    name: 'snapshot',
    summary: 'save, verify, browse, compare, restore or schedule etcd snapshots',
    load: async () => (await import('./commands/snapshot.ts')).snapshot,
  },
  {
    name: 'controllers',
    summary: 'show queues, reconciliations and errors of controllers',
    load: async () => (await import('./commands/controllers.ts')).controllers,
  },
  {
    name: 'graph',
    summary: 'show the parts of an application and why relations between them are broken',
    load: async () => (await import('./commands/graph.ts')).graph,
  },
  {
    name: 'helm',
    summary: 'list, inspect, roll back or uninstall Helm releases',
    load: async () => (await import('./commands/helm.ts')).helm,
  },
  {
    name: 'login',
    summary: 'sign in through the browser (OpenID Connect) and write the kubeconfig',
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    name: 'certs',
    summary: 'certificate expiry and renewal',
    load: async () => (await import('./commands/certs.ts')).certs,
  },
  {
    name: 'encryption',
    summary: 'encryption at rest: enable, rotate keys, export or import them',
    load: async () => (await import('./commands/encryption.ts')).encryption,
  },
  {
    name: 'member',
    summary: 'list, add or remove etcd members, move the leader',
    load: async () => (await import('./commands/member.ts')).member,
  },
  {
    name: 'token',
    summary: 'create, list or delete bootstrap tokens for machines that join',
    load: async () => (await import('./commands/token.ts')).token,
  },
  {
    name: 'join',
    summary: 'add this machine to a cluster as a node',
    load: async () => (await import('./commands/join.ts')).join,
  },
  {
    name: 'defrag',
    summary: 'defragment the etcd members one by one',
    load: async () => (await import('./commands/defrag.ts')).defrag,
  },
  {
    name: 'compact',
    summary: 'compact etcd history',
    load: async () => (await import('./commands/compact.ts')).compact,
  },
  {
    name: 'etcd',
    summary: 'compare the hashes of etcd members, list locks, users and roles',
    load: async () => (await import('./commands/etcd.ts')).etcd,
  },
  {
    name: 'upgrade',
    summary: 'plan, apply or roll back a Kubernetes upgrade',
    load: async () => (await import('./commands/upgrade.ts')).upgrade,
  },
  {
    name: 'harden',
    summary: 'show and roll out the settings of a production cluster',
    load: async () => (await import('./commands/harden.ts')).harden,
  },
  {
    name: 'check',
    summary: 'check the cluster for production readiness',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'policy',
    summary: 'check which NetworkPolicies allow or deny a connection',
    load: async () => (await import('./commands/policy.ts')).policy,
  },
  {
    name: 'doctor',
    summary: 'diagnose problems that keep a cluster from running',
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
    summary: 'run a single component with its upstream flags',
    load: async () => (await import('./commands/component.ts')).component,
  },
  {
    name: 'completion',
    summary: 'print the completion script of bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./commands/version.ts')).version,
  },
];

/** What the commands say of themselves, for completions, the man page and the reference. */
export const referencesOf = (commands: readonly TableEntry[]): Promise<CommandReference[]> =>
  Promise.all(
    commands.map(async ({ name, summary, load }) => parseUsage(name, summary, (await load()).usage)),
  );
