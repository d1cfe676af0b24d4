import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import { useClusterStore } from './clusters.ts';
import { isPin, PINS_MAX, useHotbar, type Pin } from './hotbar.ts';
import { useNamespaceStore } from './namespaces.ts';
import { readRemembered, remember, rememberedKeys } from './remembered.ts';

export const WORKSPACES_MAX = 20;
export const WORKSPACE_NAME_CHARACTERS_MAX = 60;
const STORAGE_KEY = 'pilothouse.workspaces';
const CURRENT_KEY = 'pilothouse.workspace';
/** What lists remember about their columns, as they wrote it. */
const COLUMNS_PREFIX = 'pilothouse.columns.';
const LISTS_MAX = 64;
const TEXT_CHARACTERS_MAX = 4096;
const NAMESPACES_MAX = 64;

/** What a person had open, under a name. */
export interface Workspace {
  readonly name: string;
  /** The id of an entry of the console; undefined: none was chosen. */
  readonly cluster: string | undefined;
  readonly namespaces: readonly string[];
  readonly pins: readonly Pin[];
  /** By list. */
  readonly columns: Readonly<Record<string, string>>;
  /** Within the console. */
  readonly address: string;
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= TEXT_CHARACTERS_MAX;

/** What was stored may have been written by anything: each field is taken only if it is one. */
const workspaceOf = (value: unknown): Workspace[] => {
  const one = (value ?? {}) as Partial<Record<keyof Workspace, unknown>>;
  if (!isText(one.name) || one.name.trim() === '' || one.name.length > WORKSPACE_NAME_CHARACTERS_MAX)
    return [];
  if (!isText(one.address) || !isPin({ title: '', address: one.address })) return [];
  const columns = typeof one.columns === 'object' && one.columns !== null ? one.columns : {};
  return [
    {
      name: one.name,
      address: one.address,
      cluster: isText(one.cluster) ? one.cluster : undefined,
      namespaces: Array.isArray(one.namespaces) ? one.namespaces.filter(isText).slice(0, NAMESPACES_MAX) : [],
      pins: Array.isArray(one.pins) ? one.pins.filter(isPin).slice(0, PINS_MAX) : [],
      columns: Object.fromEntries(
        Object.entries(columns)
          .filter((entry): entry is [string, string] => isText(entry[1]))
          .slice(0, LISTS_MAX),
      ),
    },
  ];
};

const read = (): readonly Workspace[] => {
  try {
    const stored: unknown = JSON.parse(readRemembered(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.slice(0, WORKSPACES_MAX).flatMap(workspaceOf) : [];
  } catch {
    // Written by hand or cut off.
    return [];
  }
};

const columnsNow = (): Record<string, string> =>
  Object.fromEntries(
    rememberedKeys(COLUMNS_PREFIX)
      .slice(0, LISTS_MAX)
      .map((key) => [key.slice(COLUMNS_PREFIX.length), readRemembered(key) ?? '']),
  );

const restoreColumns = (columns: Readonly<Record<string, string>>): void => {
  for (const key of rememberedKeys(COLUMNS_PREFIX))
    if (!Object.hasOwn(columns, key.slice(COLUMNS_PREFIX.length))) remember(key, undefined);
  for (const [list, text] of Object.entries(columns)) remember(COLUMNS_PREFIX + list, text);
};

/** Named workspaces, in the order of their names. */
export const useWorkspaces = defineStore('workspaces', () => {
  const clusters = useClusterStore();
  const namespaces = useNamespaceStore();
  const hotbar = useHotbar();
  const saved = shallowRef(read());
  const current = shallowRef(readRemembered(CURRENT_KEY));

  const become = (next: readonly Workspace[]): void => {
    saved.value = [...next].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    remember(STORAGE_KEY, next.length > 0 ? JSON.stringify(saved.value) : undefined);
  };
  const choose = (name: string | undefined): void => {
    current.value = name;
    remember(CURRENT_KEY, name);
  };
  const others = (name: string): readonly Workspace[] => saved.value.filter((one) => one.name !== name);
  /** Keeps what is open now; one of the same name is replaced. False where all places are taken. */
  const save = (given: string, address: string): boolean => {
    const name = given.trim();
    const rest = others(name);
    const [workspace] = workspaceOf({
      name,
      address,
      cluster: clusters.current?.id,
      namespaces: namespaces.chosen,
      pins: hotbar.pins,
      columns: columnsNow(),
    });
    if (!workspace || rest.length >= WORKSPACES_MAX) return false;
    become([...rest, workspace]);
    choose(name);
    return true;
  };
  const remove = (name: string): void => {
    become(others(name));
    if (current.value === name) choose(undefined);
  };
  const isGone = ({ cluster }: Workspace): boolean =>
    cluster !== undefined && !clusters.clusters.some(({ id }) => id === cluster);
  /** Brings back what was open; the address to go to, or undefined where its cluster is gone. */
  const open = (name: string): string | undefined => {
    const workspace = saved.value.find((one) => one.name === name);
    if (!workspace || isGone(workspace)) return undefined;
    clusters.select(workspace.cluster);
    namespaces.choose(workspace.namespaces);
    hotbar.replace(workspace.pins);
    restoreColumns(workspace.columns);
    choose(name);
    return workspace.address;
  };
  return { saved, current, save, remove, isGone, open };
});
