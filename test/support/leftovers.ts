import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CGROUPS = '/sys/fs/cgroup';
const TASKS = 'state/io.containerd.runtime.v2.task/k8s.io';
const CNI_STATE = '/var/lib/cni';
/** Where CNI plugins write rules of iptables. */
const CNI_TABLES = ['nat', 'filter'];
const UNMOUNTS_MAX = 10_000;

const OWNED = /^pilothouse-(?:containers|operate|machine|node)-(\d+)-/;

type OwnedKind = 'containers' | 'operate' | 'node';

/**
 * A folder that says in its name which process made it. Containers, mounts and cgroups outlive a run that is killed; the
 * next one finds them by it.
 */
export const ownedFolder = (kind: OwnedKind): string =>
  mkdtempSync(join(tmpdir(), `pilothouse-${kind}-${process.pid}-`));

/** The name of a network namespace, likewise. */
export const ownedNamespace = (what: string): string => `pilothouse-machine-${process.pid}-${what}`;

const isLeftOver = (name: string): boolean => {
  const owner = OWNED.exec(name)?.[1];
  return owner !== undefined && !existsSync(`/proc/${owner}`);
};

/** The innermost first. */
export const mountsBelow = async (folder: string): Promise<string[]> =>
  (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
    .reverse();

/** Unmounts whatever is mounted in a folder, and removes it. */
export const removeWithMounts = async (folder: string): Promise<void> => {
  // What mounts meanwhile was started before it was killed: it ends soon.
  for (let tried = 0; tried < UNMOUNTS_MAX; tried += 1) {
    const [innermost] = await mountsBelow(folder);
    if (innermost === undefined) break;
    await run('umount', ['-l', innermost]).catch(() => undefined);
  }
  await rm(folder, { recursive: true, force: true });
};

const hierarchies = async (): Promise<string[]> => {
  const found = await readdir(CGROUPS, { withFileTypes: true }).catch(() => []);
  return [CGROUPS, ...found.filter((one) => one.isDirectory()).map(({ name }) => join(CGROUPS, name))];
};

/** A tree of cgroups in every hierarchy, the innermost first. One with processes stays. */
export const removeCgroupTree = async (root: string): Promise<void> => {
  const remove = async (folder: string): Promise<void> => {
    const inner = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const one of inner) if (one.isDirectory()) await remove(join(folder, one.name));
    await rmdir(folder).catch(() => undefined);
  };
  for (const hierarchy of await hierarchies())
    if (existsSync(join(hierarchy, root))) await remove(join(hierarchy, root));
};

interface TaskLeft {
  readonly id: string;
  readonly cgroup: string;
  readonly namespaces: readonly string[];
}

/** What containerd has written down of the containers that it runs, whether it runs itself or not. */
const tasksOf = async (folder: string): Promise<readonly TaskLeft[]> => {
  const ids = await readdir(join(folder, TASKS)).catch(() => []);
  return Promise.all(
    ids.map(async (id) => {
      const text = await readFile(join(folder, TASKS, id, 'config.json'), 'utf8').catch(() => '');
      const cgroup = /"cgroupsPath":"([^"]+)"/.exec(text)?.[1] ?? '';
      return { id, cgroup, namespaces: text.match(/\/(?:var\/)?run\/netns\/cni-[-0-9a-f]+/g) ?? [] };
    }),
  );
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
};

const killCgroup = async (cgroup: string): Promise<void> => {
  for (const hierarchy of await hierarchies()) {
    const pids = await readFile(join(hierarchy, cgroup, 'cgroup.procs'), 'utf8').catch(() => '');
    for (const pid of pids.split('\n').filter(Boolean)) kill(Number(pid));
  }
};

/** containerd itself and its shims: they name its folder in their arguments. */
const killRuntime = async (folder: string): Promise<void> => {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (/^[^\0]*\/containerd(-shim[^\0/]*)?\0/.test(args) && args.includes(`${folder}/`)) kill(Number(pid));
  }
};

const iptables = (table: string, ...args: readonly string[]) => run('iptables', ['-w', '-t', table, ...args]);

/** Rules name their pod in a comment, and lead to a chain of its own. */
const forgetRules = async (table: string, pods: ReadonlySet<string>): Promise<void> => {
  const { stdout } = await iptables(table, '-S').catch(() => ({ stdout: '' }));
  const rules = stdout.split('\n').filter((line) => pods.has(/id: \\"([0-9a-f]+)\\"/.exec(line)?.[1] ?? ''));
  for (const rule of rules) {
    const words = (rule.match(/"(?:\\.|[^"])*"|\S+/g) ?? []).map((word) =>
      word.startsWith('"') ? word.slice(1, -1).replaceAll('\\"', '"') : word,
    );
    await iptables(table, '-D', ...words.slice(1)).catch(() => undefined);
  }
  const chains = rules.flatMap((rule) => / -j (CNI-[-0-9A-Za-z]+)$/.exec(rule)?.[1] ?? []);
  for (const change of ['-F', '-X'])
    for (const chain of chains) await iptables(table, change, chain).catch(() => undefined);
};

/** What CNI plugins keep of pods that ended without them: addresses, results and rules. */
const forgetPods = async (pods: ReadonlySet<string>): Promise<void> => {
  const addresses = join(CNI_STATE, 'networks');
  for (const network of await readdir(addresses).catch(() => []))
    for (const file of await readdir(join(addresses, network)).catch(() => [])) {
      const [owner = ''] = (await readFile(join(addresses, network, file), 'utf8').catch(() => '')).split(
        /\s/,
      );
      if (pods.has(owner)) await rm(join(addresses, network, file), { force: true });
    }
  for (const file of await readdir(join(CNI_STATE, 'results')).catch(() => []))
    if (file.split('-').some((word) => pods.has(word)))
      await rm(join(CNI_STATE, 'results', file), { force: true });
  for (const table of CNI_TABLES) await forgetRules(table, pods);
};

/** Unless pods are on it: it may be another machine's, or another run's. */
const dropBridge = async (bridge: string): Promise<void> => {
  const { stdout } = await run('ip', ['link', 'show', 'master', bridge]).catch(() => ({ stdout: 'none' }));
  if (stdout === '') await run('ip', ['link', 'delete', bridge]).catch(() => undefined);
};

/** Ends everything that containerd runs from a folder, without its help, and gives back what the kernel and CNI keep of it. */
export const endContainers = async (folder: string): Promise<void> => {
  const tasks = await tasksOf(folder);
  await killRuntime(folder);
  for (const { cgroup } of tasks) if (cgroup !== '') await killCgroup(cgroup);
  for (const place of new Set(tasks.flatMap(({ namespaces }) => namespaces))) {
    await run('umount', ['-l', place]).catch(() => undefined);
    await rm(place, { force: true });
  }
  if (tasks.length > 0) await forgetPods(new Set(tasks.map(({ id }) => id)));
  for (const file of await readdir(join(folder, 'cni')).catch(() => [])) {
    const text = await readFile(join(folder, 'cni', file), 'utf8').catch(() => '');
    const bridge = /"bridge": ?"([^"]+)"/.exec(text)?.[1];
    if (bridge !== undefined) await dropBridge(bridge);
  }
  for (const root of new Set(tasks.map(({ cgroup }) => `/${cgroup.split('/')[1] ?? ''}`)))
    if (root.startsWith('/pilothouse-')) await removeCgroupTree(root);
};

/** Ends and removes what runs that were killed have left on this machine. Those that run now keep theirs. */
export const sweepLeftovers = async (): Promise<void> => {
  const folders = (await readdir(tmpdir())).filter(isLeftOver).map((name) => join(tmpdir(), name));
  for (const folder of folders) {
    await endContainers(folder);
    await removeWithMounts(folder);
  }
  for (const name of (await readdir('/run/netns').catch(() => [])).filter(isLeftOver))
    await run('ip', ['netns', 'delete', name]).catch(() => undefined);
};
