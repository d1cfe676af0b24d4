import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isNotFound, successStatus, type Status } from '../../api/meta/status.ts';
import { alreadyExists, badRequest, methodNotSupported, notFound } from '../../api/meta/status-errors.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { ResourceType } from '../../api/scheme/resource-type.ts';
import { checkPreconditions, mayGo, prepareDelete, type DeleteBody } from './deletion.ts';
import type { FakeRequest } from './fake-request.ts';
import { listAnswer, selectionOf } from './fake-selection.ts';
import { answerSubresource } from './fake-subresources.ts';
import type { AnyStored, MemoryStore } from './memory-store.ts';
import { isSame, prepareCreate, prepareUpdate, resourceOf, type RuleContext } from './object-rules.ts';
import { applied, APPLY, patched } from './patching.ts';

export interface Answer {
  readonly code: number;
  readonly body: unknown;
}

export const tableOf = (type: Pick<ResourceType, 'group' | 'plural'>): string =>
  `${type.group}/${type.plural}`;

const keyOf = ({ namespace, name }: { namespace: string; name: string }): string =>
  namespace === '' ? name : `${namespace}/${name}`;

const ok = (body: unknown): Answer => ({ code: 200, body });

/** The verbs of the API over the store: what is written there went through here. */
export class FakeVerbs {
  readonly store: MemoryStore;
  readonly context: RuleContext;

  constructor(store: MemoryStore, context: RuleContext) {
    this.store = store;
    this.context = context;
  }

  answer(request: FakeRequest): Answer {
    const { subresource } = request;
    if (subresource !== '' && subresource !== 'status') return answerSubresource(this, request);
    switch (request.verb) {
      case 'get':
        return ok(this.get(request));
      case 'list':
        return ok(listAnswer(request, this.store, tableOf(request.type)));
      case 'create':
        return { code: 201, body: this.create(request.type, request.body as KubernetesObject, request) };
      case 'update':
        return ok(this.write(request, () => request.body as KubernetesObject));
      case 'patch':
        return this.#patch(request);
      case 'delete':
        return ok(this.delete(request, (request.body ?? {}) as DeleteBody));
      case 'deletecollection':
        return ok(this.#deleteCollection(request));
      case 'watch':
        throw methodNotSupported(resourceOf(request.type), 'watch');
    }
  }

  get(request: FakeRequest): AnyStored {
    const found = this.store.get(tableOf(request.type), keyOf(request));
    if (!found) throw notFound(resourceOf(request.type), request.name);
    return found;
  }

  create(
    type: ResourceType,
    given: KubernetesObject,
    options: { readonly namespace: string; readonly keepStatus?: boolean; readonly query?: URLSearchParams },
  ): AnyStored {
    const { namespace } = options;
    if (given.metadata?.namespace && namespace !== '' && given.metadata.namespace !== namespace)
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    const object = prepareCreate(type, given, {
      ...this.context,
      namespace: namespace || (given.metadata?.namespace ?? ''),
      keepStatus: options.keepStatus === true,
    });
    const name = object.metadata?.name ?? '';
    const place = { namespace: object.metadata?.namespace ?? '', name };
    if (this.store.get(tableOf(type), keyOf(place))) throw alreadyExists(resourceOf(type), name);
    if (isDryRun(options.query)) return object as AnyStored;
    return this.store.put(tableOf(type), object);
  }

  /** Reads, changes and keeps an object by the rules of updates; finishes a deletion that waited for it. */
  write(request: FakeRequest, change: (live: AnyStored) => KubernetesObject): AnyStored {
    const live = this.get(request);
    const { subresource, type } = request;
    const next = prepareUpdate(type, live, change(live), {
      ...this.context,
      subresource: subresource === 'status' ? 'status' : '',
    });
    return this.keep(request, live, next);
  }

  keep(request: FakeRequest, live: AnyStored, next: KubernetesObject): AnyStored {
    if (isSame(live, next)) return live;
    if (isDryRun(request.query)) return next as AnyStored;
    const kept = this.store.put(tableOf(request.type), next);
    if (mayGo(request.type, kept)) this.store.remove(tableOf(request.type), keyOf(request));
    return kept;
  }

  delete(request: FakeRequest, body: DeleteBody): AnyStored | Status {
    const { type } = request;
    const live = this.get(request);
    checkPreconditions(type, live, body);
    const next = prepareDelete(type, live, body, this.context.clock);
    if (next !== 'gone') return this.keep(request, live, next);
    if (!isDryRun(request.query)) this.store.remove(tableOf(type), keyOf(request));
    const { name, uid } = live.metadata;
    return successStatus({ name, uid, group: type.group, kind: type.plural });
  }

  #patch(request: FakeRequest): Answer {
    const contentType = request.contentType.split(';')[0]!.trim();
    if (contentType !== APPLY)
      return ok(this.write(request, (live) => patched(request.type, live, contentType, request.body)));
    const live = this.#find(request);
    const next = applied(request.type, live, request.body, {
      manager: request.query.get('fieldManager') ?? '',
      force: request.query.get('force') === 'true',
      subresource: request.subresource,
      time: formatTime(this.context.clock.nowMs()),
    });
    if (live) return ok(this.write(request, () => next));
    if (request.subresource !== '') throw notFound(resourceOf(request.type), request.name);
    return { code: 201, body: this.create(request.type, next, request) };
  }

  #find(request: FakeRequest): AnyStored | undefined {
    try {
      return this.get(request);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #deleteCollection(request: FakeRequest): object {
    const items = this.store.list(tableOf(request.type)).filter(selectionOf(request));
    for (const { metadata } of items)
      this.delete(
        { ...request, namespace: metadata.namespace ?? '', name: metadata.name },
        (request.body ?? {}) as DeleteBody,
      );
    return successStatus({ kind: request.type.plural, group: request.type.group });
  }
}

const isDryRun = (query: URLSearchParams | undefined): boolean => query?.get('dryRun') === 'All';
