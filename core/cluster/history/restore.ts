import { messageOf } from '../../base/errors.ts';
import {
  apiPathOf,
  isNotFound,
  isStatusError,
  jsonText,
  parseApiVersion,
  parseJsonText,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import type { Client, DiscoveredResource } from '../../client/index.ts';
import {
  SaidError,
  say,
  verbatim,
  type HistorySelection,
  type RestoredObject,
  type Said,
} from '../../contract/index.ts';
import { changeOf } from './compare.ts';
import { isLeftOut, manifestOf, ownersOf, rankOf } from './manifest.ts';
import { placeOf, prefixOf, REGISTRY, type Place } from './place.ts';
import type { Source } from './source.ts';
import type { Decoder } from './stored-object.ts';

const HTTP_CONFLICT = 409;
const FIELD_MANAGER = 'pilothouse';
/** One restore; more is refused before anything is written: it is a restore of the snapshot as a whole. */
export const RESTORE_OBJECTS_MAX = 20_000;

export interface RestoreOptions {
  readonly client: Client;
  resources(isFresh: boolean): Promise<readonly DiscoveredResource[]>;
  readonly source: Source;
  readonly decoder: Decoder;
  readonly dryRun: boolean;
  /** How many objects were chosen, before the first one is read. */
  readonly onChosen?: (count: number) => void;
  readonly signal?: AbortSignal;
}

interface Chosen {
  readonly key: string;
  readonly place: Place;
}

const chooseKeys = async (source: Source, selection: HistorySelection): Promise<readonly Chosen[]> => {
  if (selection.kind === 'objects')
    return selection.keys.flatMap((key) => {
      const place = placeOf(key);
      return place ? [{ key, place }] : [];
    });
  const chosen: Chosen[] = [];
  for await (const { key } of source.keys(REGISTRY)) {
    const place = placeOf(key);
    if (!place || isLeftOut(place)) continue;
    const isWanted =
      selection.kind === 'all' ||
      (place.namespaced
        ? place.namespace === selection.namespace
        : place.group === '' && place.plural === 'namespaces' && place.name === selection.namespace);
    if (isWanted) chosen.push({ key, place });
    if (chosen.length > RESTORE_OBJECTS_MAX)
      throw new SaidError('TooMany', say('failure.history.tooMany', { max: RESTORE_OBJECTS_MAX }));
  }
  return chosen.sort((a, b) => rankOf(a.place) - rankOf(b.place));
};

/** Creates what is missing and replaces what has changed, one object after the other, as the person of `client`. */
class Restore {
  readonly #options: RestoreOptions;
  readonly #chosen: ReadonlySet<string>;
  readonly #knownNamespaces = new Set<string>();
  /** Objects that a dry run would have created: what belongs to them cannot be checked by the server. */
  readonly #wouldExist = new Set<string>();

  constructor(options: RestoreOptions, chosen: readonly Chosen[]) {
    this.#options = options;
    this.#chosen = new Set(chosen.map(({ key }) => key));
  }

  async one({ key, place }: Chosen, isSingle: boolean): Promise<RestoredObject> {
    const base = { key, kind: place.kind || place.plural, namespace: place.namespace, name: place.name };
    const end = (
      outcome: RestoredObject['outcome'],
      message: Said | null,
      more: Partial<Pick<RestoredObject, 'warnings' | 'live' | 'result'>> = {},
    ): RestoredObject => ({ ...base, outcome, message, warnings: [], live: null, result: null, ...more });
    const stored = await this.#options.source.read(key);
    if (!stored) return end('failed', say('failure.history.absent', { key }));
    const read = await this.#options.decoder.decode(stored, true);
    if (!read.object) return end('failed', read.problem);
    const { object } = read;
    const kind = object.kind ?? base.kind;
    const controller = ownersOf(object).find((owner) => owner.controller);
    if (controller && !isSingle)
      return {
        ...end('skipped', say('history.skip.controlled', { kind: controller.kind, name: controller.name })),
        kind,
      };
    try {
      return { ...(await this.#write(place, object, end)), kind };
    } catch (error) {
      return { ...end('failed', verbatim(messageOf(error))), kind };
    }
  }

  async #write(
    place: Place,
    stored: KubernetesObject,
    end: (
      outcome: RestoredObject['outcome'],
      message: Said | null,
      more?: Partial<Pick<RestoredObject, 'warnings' | 'live' | 'result'>>,
    ) => RestoredObject,
  ): Promise<RestoredObject> {
    const resource = await this.#resourceOf(stored);
    if (!resource)
      return end(
        'failed',
        say('failure.history.notServed', { kind: stored.kind ?? '', version: stored.apiVersion ?? '' }),
      );
    const { object, warnings: found } = manifestOf(stored);
    const warnings = [...found];
    const isNamespaceMissing = place.namespaced && !(await this.#ensureNamespace(place.namespace, warnings));
    const owners = await this.#ownerReferences(stored, place, warnings);
    const metadata = { ...object.metadata, ...(owners.length > 0 && { ownerReferences: owners }) };
    const wanted = { ...object, metadata } as KubernetesObject;
    const collection = `${apiPathOf(resource)}${resource.namespaced ? `/namespaces/${encodeURIComponent(place.namespace)}` : ''}/${resource.plural}`;
    const path = `${collection}/${encodeURIComponent(place.name)}`;
    let live = isNamespaceMissing ? undefined : await this.#get(path);
    if (live?.metadata?.deletionTimestamp)
      return end('failed', say('failure.history.terminating'), { warnings, live: plain(live) });
    if (!live) {
      if (isNamespaceMissing) {
        this.#wouldExist.add(keyOfOwner(stored.kind, place));
        return end('created', null, { warnings, result: plain(wanted) });
      }
      const result = await this.#create(collection, wanted, warnings).catch((error: unknown) => {
        if (!isStatusError(error) || error.code !== HTTP_CONFLICT) throw error;
        return undefined;
      });
      if (this.#options.dryRun) this.#wouldExist.add(keyOfOwner(stored.kind, place));
      if (result) return end('created', null, { warnings, result: plain(result) });
      // A controller was faster: a new namespace gets its ServiceAccount within milliseconds.
      live = await this.#get(path);
      if (!live) return end('failed', say('failure.history.terminating'), { warnings });
    }
    const { uid, resourceVersion, creationTimestamp } = live.metadata ?? {};
    const body = {
      ...wanted,
      metadata: { ...metadata, uid, resourceVersion, creationTimestamp },
    } as KubernetesObject;
    const { status } = live as { status?: unknown };
    if (
      changeOf(live, { ...body, ...(status !== undefined && { status }) } as KubernetesObject) === undefined
    )
      return end('unchanged', null, { warnings, live: plain(live), result: plain(live) });
    const result = await this.#send('PUT', path, body);
    return end('replaced', null, { warnings, live: plain(live), result: plain(result) });
  }

  /** A Service gets another address where its own has been given away since. */
  async #create(collection: string, object: KubernetesObject, warnings: Said[]): Promise<KubernetesObject> {
    try {
      return await this.#send('POST', collection, object);
    } catch (error) {
      const spec = (object as { spec?: Record<string, unknown> }).spec;
      const isTaken =
        isStatusError(error) && error.code === 422 && object.kind === 'Service' && spec?.['clusterIP'];
      if (!isTaken || spec['clusterIP'] === 'None') throw error;
      const { clusterIP: _ip, clusterIPs: _ips, ...rest } = spec;
      const created = await this.#send('POST', collection, { ...object, spec: rest } as KubernetesObject);
      warnings.push(say('history.warn.clusterIp', { address: String(spec['clusterIP']) }));
      return created;
    }
  }

  /** False where it does not exist and, in a dry run, is not created either. */
  async #ensureNamespace(namespace: string, warnings: Said[]): Promise<boolean> {
    if (this.#knownNamespaces.has(namespace)) return true;
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    const live = await this.#get(path);
    if (live && !live.metadata?.deletionTimestamp) {
      this.#knownNamespaces.add(namespace);
      return true;
    }
    if (live) throw new Error(`namespace ${namespace} is being deleted; restore again when it is gone`);
    const key = `${prefixOf({ group: '', plural: 'namespaces' })}${namespace}`;
    if (!this.#chosen.has(key)) warnings.push(say('history.warn.namespace', { namespace }));
    if (this.#options.dryRun) return false;
    const stored = await this.#options.source.read(key);
    const read = stored && (await this.#options.decoder.decode(stored));
    const object: KubernetesObject = read?.object
      ? manifestOf(read.object).object
      : { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await this.#send('POST', '/api/v1/namespaces', object).catch((error: unknown) => {
      if (!isStatusError(error) || error.code !== HTTP_CONFLICT) throw error;
    });
    this.#knownNamespaces.add(namespace);
    return true;
  }

  /** Owners by the UID they have now. One that is gone is left out: with it the garbage collector would delete the object. */
  async #ownerReferences(
    stored: KubernetesObject,
    place: Place,
    warnings: Said[],
  ): Promise<readonly object[]> {
    const references = stored.metadata?.ownerReferences ?? [];
    const kept: object[] = [];
    for (const [at, { apiVersion, kind, name }] of ownersOf(stored).entries()) {
      const resource = await this.#resourceOf({ apiVersion, kind });
      const namespace = resource?.namespaced ? `/namespaces/${encodeURIComponent(place.namespace)}` : '';
      const live =
        resource &&
        (await this.#get(
          `${apiPathOf(resource)}${namespace}/${resource.plural}/${encodeURIComponent(name)}`,
        ));
      if (live) kept.push({ ...references[at], uid: live.metadata?.uid });
      else if (!this.#wouldExist.has(keyOfOwner(kind, { ...place, name })))
        warnings.push(say('history.warn.owner', { kind, name }));
    }
    return kept;
  }

  async #resourceOf({
    apiVersion = '',
    kind = '',
  }: KubernetesObject): Promise<DiscoveredResource | undefined> {
    const gv = parseApiVersion(apiVersion);
    if (!gv) return undefined;
    const find = async (isFresh: boolean) =>
      (await this.#options.resources(isFresh)).find(
        (one) => one.group === gv.group && one.version === gv.version && one.kind === kind,
      );
    // A CustomResourceDefinition that was restored a moment ago is not in what was discovered before.
    return (await find(false)) ?? find(true);
  }

  get #signal(): { readonly signal?: AbortSignal } {
    const { signal } = this.#options;
    return signal ? { signal } : {};
  }

  #get(path: string): Promise<KubernetesObject | undefined> {
    return this.#options.client
      .text({ method: 'GET', path, ...this.#signal })
      .then((text) => parseJsonText(text) as KubernetesObject)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
  }

  async #send(method: 'POST' | 'PUT', path: string, body: KubernetesObject): Promise<KubernetesObject> {
    const { client, dryRun } = this.#options;
    const query = { fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined };
    return parseJsonText(
      await client.text({ method, path, body, query, ...this.#signal }),
    ) as KubernetesObject;
  }
}

const keyOfOwner = (
  kind: string | undefined,
  { namespace, name }: Pick<Place, 'namespace' | 'name'>,
): string => `${kind ?? ''} ${namespace} ${name}`;

/** For people: the contract has no integers beyond those of JavaScript. */
const plain = (object: KubernetesObject): Record<string, unknown> =>
  JSON.parse(jsonText(object)) as Record<string, unknown>;

/** Every chosen object with what happened to it, or, in a dry run, what would. A failure of one ends no other. */
export async function* restoreObjects(
  selection: HistorySelection,
  options: RestoreOptions,
): AsyncGenerator<RestoredObject> {
  const chosen = await chooseKeys(options.source, selection);
  options.onChosen?.(chosen.length);
  const isSingle = selection.kind === 'objects';
  const restore = new Restore(options, chosen);
  for (const one of chosen) {
    options.signal?.throwIfAborted();
    yield await restore.one(one, isSingle);
  }
}
