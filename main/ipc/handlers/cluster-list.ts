import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import * as v from 'valibot';
import type { Clock } from '../../../core/base/clock.ts';
import { toDisposable, type Disposable } from '../../../core/base/disposable.ts';
import {
  type ClusterEntry,
  type ClusterList,
  ContractError,
  saidOf,
  say,
} from '../../../core/contract/index.ts';
import { Feed } from '../../state/feed.ts';
import { openJsonDocument, type Damage } from '../../state/json-document.ts';
import type { OwnClusters } from '../../clusters/own-clusters.ts';
import type { ExecConsent } from '../../kube/exec-consent.ts';
import { clusterId, contextsOf, readKubeconfig } from './kubeconfig.ts';

const KUBECONFIG_FILES_MAX = 64;
const FORGOTTEN_CONTEXTS_MAX = 1024;
/** Only the newest list matters to a listener. */
const LISTENER_ITEMS_MAX = 1;
const POLL_INTERVAL_MS = 2000;

/** What `console.json` remembers: paths, never contents, so that credentials stay where the user keeps them. */
const memorySchema = v.object({
  kubeconfigs: v.pipe(
    v.array(
      v.object({
        path: v.string(),
        forgottenContexts: v.optional(v.pipe(v.array(v.string()), v.maxLength(FORGOTTEN_CONTEXTS_MAX)), []),
      }),
    ),
    v.maxLength(KUBECONFIG_FILES_MAX),
  ),
});
type Memory = v.InferOutput<typeof memorySchema>;

export interface ClusterRegistry {
  list(): Promise<ClusterList>;
  /**
   * Adds the contexts of a file, by absolute path or one that starts with `~/`. A file that is absent is
   * refused; one that cannot be understood is kept as a problem, so that repairing it is enough.
   */
  open(path: string): Promise<ClusterList>;
  /** Forgets one context by the id of its entry, or a whole file by its path. */
  forget(id: string): Promise<ClusterList>;
  /** Allows or refuses changes to a cluster until this host ends; nothing of it is written down. */
  setReadOnly(id: string, readOnly: boolean): Promise<ClusterList>;
  /** Whether a person has named this file before: it is listed, or is a problem of the list. */
  knows(path: string): boolean;
  /** Consents to the program that the kubeconfig of a cluster runs, if it is still the one that was shown. */
  allowPlugin(id: string, fingerprint: string): Promise<ClusterList>;
  watch(signal: AbortSignal): AsyncIterable<ClusterList[]>;
  dispose(): void;
}

export interface ClusterRegistryOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly onDamage: (damage: Damage) => void;
  readonly own?: OwnClusters;
  readonly consent: ExecConsent;
}

const absolutePath = (typed: string): string => {
  const expanded = typed.startsWith('~/') ? join(homedir(), typed.slice(2)) : typed.trim();
  if (!isAbsolute(expanded))
    throw new ContractError('BadRequest', say('failure.notFullPath', { path: typed }));
  return normalize(expanded);
};

/** What was decided here about changes to a cluster; without an entry it is as its origin says. */
type Access = ReadonlyMap<string, 'locked' | 'unlocked'>;

const withAccess = (entry: ClusterEntry, access: Access): ClusterEntry => {
  const decided = access.get(entry.id);
  return decided === undefined ? entry : { ...entry, readOnly: decided === 'locked' };
};

const readFiles = async (memory: Memory, consent: ExecConsent): Promise<ClusterList> => {
  const list: ClusterList = { clusters: [], problems: [] };
  for (const { path, forgottenContexts } of memory.kubeconfigs) {
    try {
      const { clusters, problems } = contextsOf(path, await readKubeconfig(path), consent.pluginOf);
      for (const entry of clusters) if (!forgottenContexts.includes(entry.name)) list.clusters.push(entry);
      list.problems.push(...problems.map((message) => ({ path, message })));
    } catch (error) {
      list.problems.push({ path, message: saidOf(error) });
    }
  }
  return list;
};

/** Changes when a file is edited, replaced, removed or comes back. */
const stampOfFiles = async (memory: Memory): Promise<string> => {
  const stamps = memory.kubeconfigs.map(async ({ path, forgottenContexts }) => {
    const file = await stat(path).catch(() => undefined);
    return [path, file?.mtimeMs, file?.size, file?.ino, ...forgottenContexts].join('\n');
  });
  return (await Promise.all(stamps)).join('\n\n');
};

export const createClusterRegistry = (options: ClusterRegistryOptions): ClusterRegistry => {
  const { clock, own, consent } = options;
  const document = openJsonDocument({
    path: join(options.dataDirectory, 'console.json'),
    schema: memorySchema,
    initial: { kubeconfigs: [] },
    onDamage: options.onDamage,
  });
  const access = new Map<string, 'locked' | 'unlocked'>();
  const read = async (memory: Memory): Promise<ClusterList> => {
    const files = await readFiles(memory, consent);
    // Asked for after the files were read: what changes meanwhile is in it.
    const mine = own?.list();
    return {
      clusters: [...(mine?.clusters ?? []), ...files.clusters].map((entry) => withAccess(entry, access)),
      problems: [...(mine?.problems ?? []), ...files.problems],
    };
  };
  /** Of our own clusters too: what changes before a listener is heard is told by the first look. */
  const stampOf = async (memory: Memory): Promise<string> =>
    `${await stampOfFiles(memory)}\n\n${JSON.stringify(own?.list())}`;
  let polling: Disposable | undefined;
  /** What the files looked like when the list that listeners have was read; undefined while no one listens. */
  let told: string | undefined;

  // Polled, not watched: editors replace the file, and network file systems send no events.
  const startPolling = (): Disposable => {
    let timer: Disposable | undefined;
    let stopped = false;
    const look = async (): Promise<void> => {
      const stamp = await stampOf(document.value);
      if (stamp !== told) feed.publish(await read(document.value));
      if (stopped) return;
      told = stamp;
      timer = clock.after(POLL_INTERVAL_MS, () => void look());
    };
    void look();
    const following = own?.onChange(() => void read(document.value).then((list) => feed.publish(list)));
    return toDisposable(() => {
      following?.dispose();
      stopped = true;
      told = undefined;
      timer?.dispose();
    });
  };

  const feed = new Feed<ClusterList>({
    listenerItemsMax: LISTENER_ITEMS_MAX,
    onHeard(heard) {
      polling?.dispose();
      polling = heard ? startPolling() : undefined;
    },
  });

  const change = async (next: (memory: Memory) => Memory): Promise<ClusterList> => {
    const memory = await document.change(next);
    const stamp = await stampOf(memory);
    const list = await read(memory);
    feed.publish(list);
    if (told !== undefined) told = stamp;
    return list;
  };

  return {
    list: () => read(document.value),

    async open(typed) {
      const path = absolutePath(typed);
      try {
        await readKubeconfig(path);
      } catch (error) {
        const reason = (error as ContractError).reason === 'NotFound' ? 'NotFound' : 'BadRequest';
        throw new ContractError(reason, say('failure.cannotOpen', { path, why: saidOf(error) }), {
          cause: error,
        });
      }
      if (await own?.attach(path)) return read(document.value);
      return change(({ kubeconfigs }) => {
        const others = kubeconfigs.filter((known) => known.path !== path);
        if (others.length >= KUBECONFIG_FILES_MAX)
          throw new ContractError('Conflict', say('failure.kubeconfigsMax', { max: KUBECONFIG_FILES_MAX }));
        return { kubeconfigs: [...others, { path, forgottenContexts: [] }] };
      });
    },

    async forget(id) {
      if (own?.has(id)) {
        await own.forget(id);
        access.delete(id);
        return read(document.value);
      }
      const { clusters } = await read(document.value);
      return change(({ kubeconfigs }) => {
        const file = kubeconfigs.find(({ path }) => path === id || id.startsWith(clusterId(path, '')));
        if (!file) throw new ContractError('NotFound', say('failure.noCluster', { id }));
        for (const known of [...access.keys()])
          if (known === id || (file.path === id && known.startsWith(clusterId(id, '')))) access.delete(known);
        const others = kubeconfigs.filter((known) => known !== file);
        const remaining = clusters.filter((entry) => entry.kubeconfigPath === file.path && entry.id !== id);
        if (file.path === id || remaining.length === 0) return { kubeconfigs: others };
        const context = id.slice(clusterId(file.path, '').length);
        const forgottenContexts = [...new Set([...file.forgottenContexts, context])];
        return {
          kubeconfigs: kubeconfigs.map((known) => (known === file ? { ...file, forgottenContexts } : known)),
        };
      });
    },

    async setReadOnly(id, readOnly) {
      const { clusters } = await read(document.value);
      if (!clusters.some((entry) => entry.id === id))
        throw new ContractError('NotFound', say('failure.noCluster', { id }));
      access.set(id, readOnly ? 'locked' : 'unlocked');
      const list = await read(document.value);
      feed.publish(list);
      return list;
    },

    knows: (path) => document.value.kubeconfigs.some((known) => known.path === path),

    async allowPlugin(id, fingerprint) {
      const entry = (await read(document.value)).clusters.find((known) => known.id === id);
      if (!entry) throw new ContractError('NotFound', say('failure.noCluster', { id }));
      if (entry.plugin?.fingerprint !== fingerprint)
        throw new ContractError('Conflict', say('failure.pluginChanged', { path: entry.kubeconfigPath }));
      await consent.allow(entry.plugin);
      const list = await read(document.value);
      feed.publish(list);
      return list;
    },

    async *watch(signal) {
      let memory = document.value;
      // The stamp before the contents: an edit in between is then seen by the first look.
      const stamp = await stampOf(memory);
      let list = await read(memory);
      // What changed while the files were read is in no feed yet that this listener hears.
      while (memory !== document.value && !signal.aborted) {
        memory = document.value;
        list = await read(memory);
      }
      told ??= stamp;
      yield* feed.listen(signal, [list]);
    },

    dispose() {
      polling?.dispose();
      polling = undefined;
      feed.close();
    },
  };
};
