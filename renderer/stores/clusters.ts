import { defineStore } from 'pinia';
import { computed, ref, shallowRef } from 'vue';
import {
  isCancelled,
  type ClusterEntry,
  type ClusterList,
  type ExecPlugin,
} from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { cutMiddle } from '../components/middle-cut.ts';
import { createTurns } from '../composables/turns.ts';
import { useCall, type CallResult } from '../composables/useCall.ts';
import { useStream } from '../composables/useStream.ts';
import { t } from '../locales/i18n.ts';
import { readRemembered, remember } from './remembered.ts';
import { useToastStore, type ToastContent } from './toasts.ts';

const TOAST_PATH_CHARS_MAX = 40;
export const CLUSTER_STORAGE_KEY = 'pilothouse.cluster';

/** A console that hosts one cluster, and knows no other, has nothing to choose from. */
const onlyOwn = ({ clusters: [only, ...others] }: ClusterList): string | undefined =>
  only?.local && others.length === 0 ? only.id : undefined;

const openedMessage = (added: readonly ClusterEntry[]): ToastContent =>
  added.length === 0
    ? { severity: 'info', title: t('clusters.opened.none'), detail: t('clusters.opened.none.detail') }
    : {
        severity: 'ok',
        title: t('clusters.opened', { count: added.length }),
        detail: t('clusters.opened.detail', { names: added.map(({ name }) => name).join(', ') }),
      };

/** The clusters this console knows, and which one it looks at. */
export const useClusterStore = defineStore('clusters', () => {
  const connection = useConnection();
  const toasts = useToastStore();
  const open = useCall('clusters.openKubeconfig');
  const remove = useCall('clusters.forget');
  const access = useCall('clusters.setReadOnly');
  const consent = useCall('clusters.allowPlugin');

  const list = shallowRef<ClusterList>();
  const currentId = ref(readRemembered(CLUSTER_STORAGE_KEY));
  /** Differs after each sign-in and sign-out: pages then read again what they show. */
  const identity = ref(0);
  /** In a browser the path is typed: the dialog that asks for it is open. */
  const askingPath = ref(false);

  const { health, reopen } = useStream('clusters.watch', undefined, (items) => {
    const newest = items.at(-1);
    if (newest && !list.value && currentId.value === undefined) select(onlyOwn(newest));
    if (newest) list.value = newest;
  });

  const clusters = computed(() => list.value?.clusters ?? []);
  const problems = computed(() => list.value?.problems ?? []);
  /**
   * A kubeconfig that is being rewritten is no kubeconfig for a moment: the cluster that is looked at stays, and with it
   * what is open and typed. Its problem is told in the list.
   */
  const current = computed<ClusterEntry | undefined>((before) => {
    const found = clusters.value.find((entry) => entry.id === currentId.value);
    if (found || before?.id !== currentId.value) return found;
    return problems.value.some(({ path }) => path === before?.kubeconfigPath) ? before : undefined;
  });

  const select = (id: string | undefined): void => {
    currentId.value = id;
    remember(CLUSTER_STORAGE_KEY, id);
  };

  const turns = createTurns();
  /** A change that returns the new list; the response to an earlier change never replaces it. */
  const changeList = async (
    change: () => Promise<CallResult<ClusterList>>,
  ): Promise<CallResult<ClusterList>> => {
    const turn = turns.next();
    const result = await change();
    if (result.ok && turn.take()) list.value = result.value;
    return result;
  };
  /** The answer of a call that changed the list; the stream tells the same a moment later. */
  const takeList = (next: ClusterList): void => {
    list.value = next;
    if (currentId.value !== undefined && !next.clusters.some(({ id }) => id === currentId.value))
      select(undefined);
  };

  const announceOpened = (before: readonly ClusterEntry[], after: readonly ClusterEntry[]): void => {
    const known = new Set(before.map((entry) => entry.id));
    toasts.show(openedMessage(after.filter((entry) => !known.has(entry.id))));
  };

  /** Without a path the desktop app asks with its native dialog. A change of mind is no failure. */
  const openPath = async (path?: string): Promise<CallResult<ClusterList>> => {
    const before = clusters.value;
    const result = await changeList(() => open.run(path === undefined ? {} : { path }));
    if (result.ok) announceOpened(before, result.value.clusters);
    return result;
  };

  /** For a button: failures are told as a toast. */
  const openAndTell = async (path?: string): Promise<void> => {
    const result = await openPath(path);
    if (!result.ok && !isCancelled(result.error))
      toasts.show({ severity: 'error', title: t('clusters.open.failed'), detail: result.error.message });
  };

  const openKubeconfig = async (): Promise<void> => {
    if (connection.shell === 'browser') askingPath.value = true;
    else await openAndTell();
  };

  /** A refusal is told where the question was asked: by `forgetError`. */
  const forget = async (entry: ClusterEntry): Promise<boolean> => {
    const result = await changeList(() => remove.run({ id: entry.id }));
    if (!result.ok) return false;
    if (currentId.value === entry.id) select(undefined);
    toasts.show({
      severity: 'ok',
      title: t('clusters.forgotten', { name: entry.name }),
      detail: t('clusters.forgotten.detail', { path: cutMiddle(entry.kubeconfigPath, TOAST_PATH_CHARS_MAX) }),
      action: { label: t('clusters.forgotten.undo'), run: () => void openAndTell(entry.kubeconfigPath) },
    });
    return true;
  };

  /** A file that cannot be read is no longer asked for; it is not touched. */
  const forgetProblem = async (path: string): Promise<void> => {
    const result = await changeList(() => remove.run({ id: path }));
    const shown = cutMiddle(path, TOAST_PATH_CHARS_MAX);
    if (!result.ok) {
      toasts.show({
        severity: 'error',
        title: t('clusters.forget.failed', { name: shown }),
        detail: result.error.message,
      });
      return;
    }
    toasts.show({
      severity: 'ok',
      title: t('clusters.forgotten', { name: shown }),
      detail: t('clusters.forgotten.detail', { path: shown }),
      action: { label: t('clusters.forgotten.undo'), run: () => void openAndTell(path) },
    });
  };

  /** Clusters from a kubeconfig are read-only until allowed, and again after a restart of the host. */
  const setReadOnly = async (entry: ClusterEntry, readOnly: boolean): Promise<boolean> => {
    const result = await changeList(() => access.run({ id: entry.id, readOnly }));
    if (result.ok)
      toasts.show({
        severity: readOnly ? 'ok' : 'info',
        title: t(readOnly ? 'access.lock.done' : 'access.unlock.done', { name: entry.name }),
      });
    else
      toasts.show({
        severity: 'error',
        title: t('access.failed', { name: entry.name }),
        detail: result.error.message,
      });
    return result.ok;
  };

  /** What the current kubeconfig would run, while no one has agreed to it. */
  const pendingPlugin = computed(() =>
    current.value?.plugin?.isAllowed === false ? current.value.plugin : undefined,
  );
  const allowPlugin = async ({ id }: ClusterEntry, { fingerprint }: ExecPlugin): Promise<void> => {
    await changeList(() => consent.run({ id, fingerprint }));
  };

  return {
    list,
    clusters,
    problems,
    current,
    health,
    reopen,
    askingPath,
    identity,
    opening: open.pending,
    openError: open.error,
    clearOpenError: open.clear,
    forgetting: remove.pending,
    forgetError: remove.error,
    clearForgetError: remove.clear,
    select,
    takeList,
    openKubeconfig,
    openPath,
    openAndTell,
    forget,
    forgetProblem,
    setReadOnly,
    changingAccess: access.pending,
    pendingPlugin,
    allowPlugin,
    consenting: consent.pending,
    consentError: consent.error,
  };
});
