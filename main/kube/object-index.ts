import { pause } from '../../core/client/index.ts';
import {
  FOUND_PER_ITEM_MAX,
  type FoundItem,
  type FoundObject,
  type KubeResource,
  type TableColumn,
} from '../../core/contract/index.ts';
import { LiveList } from './live-list.ts';
import { resourcePath } from './resource-path.ts';
import { readPage, TABLE_ACCEPT, type VersionedRow } from './table-rows.ts';
import { BURST_INTERVAL_MS, type WatchSurroundings } from './table-watch.ts';

/** More are not found by name; a list of their kind has them all. */
export const INDEXED_OBJECTS_MAX = 50_000;
/** Kinds that are listed at a time; the rest waits, so that a person's own requests do not. */
const LISTS_MAX = 4;
const LABEL_CHARACTERS_MAX = 512;

/** They change all the time and no one looks for one by name. */
const SKIPPED = new Set(['events', 'leases', 'componentstatuses', 'controllerrevisions']);
/** Their tables have addresses; of all others names and labels are enough. */
const WITH_ADDRESSES = new Set(['pods', 'services', 'nodes']);
const METADATA_ACCEPT = [
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json',
].join(',');
const METADATA_EVENT_ACCEPT = [
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json',
].join(',');
const ADDRESS_COLUMN = /^(ip|(cluster|external|internal)-ip)$/i;
const ADDRESS = /^[0-9a-f.:]+$/i;

/** What people look for most comes first. */
const FIRST = [
  'pods',
  'services',
  'deployments',
  'nodes',
  'statefulsets',
  'daemonsets',
  'configmaps',
  'ingresses',
];
const rankOf = ({ plural }: KubeResource): number => {
  const rank = FIRST.indexOf(plural);
  return rank < 0 ? FIRST.length : rank;
};

export const indexedKinds = (resources: readonly KubeResource[]): readonly KubeResource[] =>
  resources
    .filter(
      ({ isPreferred, verbs, plural, group }) =>
        isPreferred &&
        verbs.includes('list') &&
        verbs.includes('watch') &&
        !SKIPPED.has(plural) &&
        // A copy of what the endpoint slices of the newer group say.
        !(group === '' && plural === 'endpoints'),
    )
    .sort((a, b) => rankOf(a) - rankOf(b));

const foundOf = (resource: string, { row }: VersionedRow, columns: readonly TableColumn[]): FoundObject => ({
  resource,
  namespace: row.namespace,
  name: row.name,
  labels: Object.entries(row.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')
    .slice(0, LABEL_CHARACTERS_MAX),
  addresses: columns.flatMap(({ name }, index) => {
    const cell = row.cells[index];
    if (!ADDRESS_COLUMN.test(name) || typeof cell !== 'string') return [];
    return cell.split(',').filter((each) => ADDRESS.test(each));
  }),
});

const keyOf = ({ resource, namespace, name }: Omit<FoundObject, 'labels' | 'addresses'>): string =>
  `${resource}/${namespace}/${name}`;

/** What the console has not been told yet, and how much of the cluster is known. */
class Findings {
  #pending = new Map<string, FoundObject | null>();
  #knownCount = 0;
  #listedCount = 0;
  #isCut = false;
  #isStateNew = true;
  readonly #refused: string[] = [];
  readonly #kindCount: number;
  #wake = (): void => undefined;

  constructor(kindCount: number) {
    this.#kindCount = kindCount;
  }

  /** False when there are too many objects to add one. */
  put(key: string, found: FoundObject, isNew: boolean): boolean {
    if (isNew && this.#knownCount >= INDEXED_OBJECTS_MAX) {
      this.#isStateNew ||= !this.#isCut;
      this.#isCut = true;
      return false;
    }
    if (isNew) this.#knownCount += 1;
    this.#pending.set(key, found);
    this.wake();
    return true;
  }

  drop(key: string): void {
    this.#knownCount -= 1;
    this.#pending.set(key, null);
    this.wake();
  }

  noteListed(): void {
    this.#listedCount += 1;
    this.#isStateNew = true;
    this.wake();
  }

  noteRefused(resource: string): void {
    this.#refused.push(resource);
    this.#isStateNew = true;
  }

  wake(): void {
    this.#wake();
  }

  async whenChanged(): Promise<void> {
    if (this.#pending.size === 0 && !this.#isStateNew)
      await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  take(): FoundItem[] {
    const items = itemsOf(this.#pending);
    this.#pending = new Map();
    if (this.#isStateNew)
      items.push({
        kind: 'state',
        listedCount: this.#listedCount,
        kindCount: this.#kindCount,
        isCut: this.#isCut,
        refused: [...this.#refused],
      });
    this.#isStateNew = false;
    return items;
  }
}

const itemsOf = (pending: ReadonlyMap<string, FoundObject | null>): FoundItem[] => {
  const objects: FoundObject[] = [];
  const gone: string[] = [];
  for (const [key, found] of pending) {
    if (found) objects.push(found);
    else gone.push(key);
  }
  const items: FoundItem[] = [];
  for (let from = 0; from < gone.length; from += FOUND_PER_ITEM_MAX)
    items.push({ kind: 'gone', keys: gone.slice(from, from + FOUND_PER_ITEM_MAX) });
  for (let from = 0; from < objects.length; from += FOUND_PER_ITEM_MAX)
    items.push({ kind: 'objects', objects: objects.slice(from, from + FOUND_PER_ITEM_MAX) });
  return items;
};

/** Keeps one kind in the findings until the signal is aborted. Calls `onSettled` once, when others may begin. */
const followKind = async (
  kind: KubeResource,
  findings: Findings,
  { client, clock, random, signal }: WatchSurroundings & { readonly signal: AbortSignal },
  onSettled: () => void,
): Promise<void> => {
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const isTable = WITH_ADDRESSES.has(kind.plural) && kind.group === '';
  const keys = new Set<string>();
  let columns: readonly TableColumn[] = [];
  let listed = new Set<string>();
  const keyIn = ({ row }: VersionedRow): string =>
    keyOf({ resource, namespace: row.namespace, name: row.name });
  const put = (row: VersionedRow): void => {
    const key = keyIn(row);
    if (findings.put(key, foundOf(resource, row, isTable ? columns : []), !keys.has(key))) keys.add(key);
  };
  const drop = (key: string): void => {
    if (keys.delete(key)) findings.drop(key);
  };
  const list = new LiveList({
    client,
    clock,
    random,
    path: resourcePath(kind, null),
    query: isTable ? { includeObject: 'Metadata' } : {},
    accept: isTable ? TABLE_ACCEPT : METADATA_ACCEPT,
    ...(!isTable && { watchAccept: METADATA_EVENT_ACCEPT }),
    signal,
    sink: {
      onListing: () => (listed = new Set()),
      onPage(answer) {
        const page = readPage(answer);
        if (page.columns) columns = page.columns;
        for (const row of page.rows) {
          put(row);
          listed.add(keyIn(row));
        }
        return page;
      },
      onListed() {
        for (const key of [...keys]) if (!listed.has(key)) drop(key);
        listed = new Set();
        onSettled();
      },
      onEvent({ type, object }) {
        const page = readPage(object);
        if (page.columns) columns = page.columns;
        for (const row of type === 'BOOKMARK' ? [] : page.rows) {
          if (type === 'DELETED') drop(keyIn(row));
          else put(row);
        }
        return page.rows[0]?.resourceVersion || page.resourceVersion;
      },
      // A server that does not answer is told elsewhere; other kinds do not wait for this one.
      onHealth: ({ phase }) => phase === 'waiting' && onSettled(),
    },
  });
  try {
    await list.run();
  } catch {
    findings.noteRefused(resource);
  }
  onSettled();
};

/**
 * Every object of the cluster by name, kind, labels and address, live for as long as it is asked for. A kind that may
 * not be listed is named and left out.
 */
export async function* indexObjects(
  resources: readonly KubeResource[],
  surroundings: WatchSurroundings,
  outer: AbortSignal,
): AsyncGenerator<FoundItem[], void, void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const kinds = indexedKinds(resources);
  const findings = new Findings(kinds.length);
  signal.addEventListener('abort', () => findings.wake(), { once: true });

  const following: Promise<void>[] = [];
  let next = 0;
  const followNext = (): void => {
    const kind = kinds[next];
    next += 1;
    if (!kind || signal.aborted) return;
    let isSettled = false;
    const onSettled = (): void => {
      if (isSettled) return;
      isSettled = true;
      findings.noteListed();
      followNext();
    };
    // A signal of its own: what listens to one is bounded.
    const own = { ...surroundings, signal: AbortSignal.any([signal]) };
    following.push(followKind(kind, findings, own, onSettled));
  };
  for (let count = 0; count < LISTS_MAX; count += 1) followNext();
  try {
    while (!signal.aborted) {
      await findings.whenChanged();
      if (signal.aborted) break;
      yield findings.take();
      await pause(surroundings.clock, BURST_INTERVAL_MS, signal).catch(() => undefined);
    }
  } finally {
    stop.abort();
    await Promise.all(following);
  }
}
