import { jsonText } from '../../api/meta/json-text.ts';
import { apiVersionOf, StatusError, type ListMeta } from '../../api/meta/index.ts';
import { DEFAULT_PRINTER } from '../../api/scheme/index.ts';
import type { Held, HeldList } from '../registry/rest-storage.ts';
import type { RequestContext } from '../server/context.ts';
import { asAnswer, contentTypeOf, encodeValue, heldJson, itemJson, namedAs } from './encode.ts';
import type { Endpoint } from './endpoint.ts';
import type { HandlerCall } from './handler-call.ts';
import { headOf } from './json-head.ts';
import { negotiateOutput, type OutputForm } from './negotiate-output.ts';
import {
  columnDefinitions,
  includeObjectOf,
  partialMetadata,
  tableOf,
  tableRow,
  type TableForm,
} from './table.ts';
import { writeDocument } from './write-document.ts';

const notThat = (message: string): StatusError => new StatusError('NotAcceptable', message, { code: 406 });

const noList = ({ kind }: Endpoint): StatusError =>
  notThat(
    `you requested PartialObjectMetadataList, but the requested object is not a list (*${kind.version}.${kind.kind})`,
  );

/** How the one object of an answer is to be shown. Asked for before a write: what is refused is not stored. */
export const objectForm = ({ context, endpoint }: HandlerCall): OutputForm => {
  const form = negotiateOutput(context.request);
  if (form.view === 'metadata-list') throw noList(endpoint);
  return form;
};

export const tableFormOf = ({ context, services }: HandlerCall, form: OutputForm): TableForm => ({
  metaVersion: form.metaVersion,
  include: includeObjectOf(context.request.query),
  nowMs: services.clock.nowMs(),
});

/** Any object as it is: statuses, reviews, answers of subresources. */
export const sendObject = (
  { context, timer }: HandlerCall,
  form: OutputForm,
  code: number,
  object: unknown,
): Promise<void> => {
  timer.enter('conversion');
  context.warnings.writeTo(context.response);
  return context.response.send(code, contentTypeOf(form), encodeValue(object, form));
};

export const sendStatusYaml = async (context: RequestContext, error: StatusError): Promise<void> => {
  const { response, warnings } = context;
  const retryAfterSeconds = error.details?.retryAfterSeconds ?? 0;
  if (retryAfterSeconds > 0) response.setHeader('retry-after', String(retryAfterSeconds));
  warnings.writeTo(response);
  const form = { encoding: 'yaml', pretty: false, view: 'object', metaVersion: '' } as const;
  await response.send(error.code, contentTypeOf(form), encodeValue(error.status, form));
};

/** One object of storage, in the view that the client asked for. */
export const sendHeld = (call: HandlerCall, form: OutputForm, code: number, held: Held): Promise<void> => {
  const { context, endpoint, timer } = call;
  timer.enter('conversion');
  switch (form.view) {
    case 'object': {
      if (form.encoding !== 'json' || form.pretty)
        return sendObject(call, form, code, namedAs(endpoint, endpoint.fromHub(held.object)));
      const bytes = asAnswer(heldJson(held, endpoint));
      context.warnings.writeTo(context.response);
      return context.response.send(code, contentTypeOf(form), bytes);
    }
    case 'table':
      return sendObject(call, form, code, tableOf(endpoint, held.object, tableFormOf(call, form)));
    case 'metadata':
      return sendObject(call, form, code, partialMetadata(form.metaVersion, held.object.metadata));
    case 'metadata-list':
      throw noList(endpoint);
  }
};

/** Lists of custom resources are of no Go type, which writes an empty token. */
const listMeta = (
  { resourceVersion, continueToken, remainingItemCount }: HeldList,
  writesEmptyToken: boolean,
): ListMeta => ({
  ...(writesEmptyToken && { continue: '' }),
  ...(resourceVersion !== '' && { resourceVersion }),
  ...(continueToken !== undefined && continueToken !== '' && { continue: continueToken }),
  ...(remainingItemCount !== undefined && { remainingItemCount }),
});

const COMMA = Buffer.from(',');
const END_OF_LIST = Buffer.from(']}\n');

/** `head`, the items with commas between them, and the end. */
const listParts = (head: string, items: Iterable<readonly Uint8Array[]>): Uint8Array[] => {
  const parts: Uint8Array[] = [Buffer.from(head)];
  let isFirst = true;
  for (const item of items) {
    if (!isFirst) parts.push(COMMA);
    isFirst = false;
    for (const part of item) parts.push(part);
  }
  parts.push(END_OF_LIST);
  return parts;
};

function* plainItems(
  { endpoint }: HandlerCall,
  list: HeldList,
): Generator<readonly Uint8Array[], void, void> {
  for (const held of list.items) yield itemJson(held, endpoint);
}

function* jsonItems(objects: Iterable<unknown>): Generator<readonly Uint8Array[], void, void> {
  for (const object of objects) yield [Buffer.from(jsonText(object))];
}

function* mapped<T>(list: HeldList, make: (held: Held) => T): Generator<T, void, void> {
  for (const held of list.items) yield make(held);
}

interface ListView {
  readonly kind: string;
  readonly apiVersion: string;
  /** What stands between the metadata and the items. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly itemsName: 'items' | 'rows';
  /** How an empty list is written. */
  readonly none: [] | null;
  readonly item: (held: Held) => unknown;
}

const viewOf = (call: HandlerCall, form: OutputForm): ListView => {
  const { endpoint } = call;
  switch (form.view) {
    case 'object':
      return {
        kind: endpoint.listKind,
        apiVersion: apiVersionOf(endpoint.kind),
        extra: {},
        itemsName: 'items',
        none: [],
        item(held) {
          if (endpoint.isCustom) return namedAs(endpoint, endpoint.fromHub(held.object));
          const { kind: _kind, apiVersion: _apiVersion, ...rest } = endpoint.fromHub(held.object);
          return rest;
        },
      };
    case 'table': {
      const table = tableFormOf(call, form);
      return {
        kind: 'Table',
        apiVersion: form.metaVersion,
        extra: { columnDefinitions: columnDefinitions(endpoint) },
        itemsName: 'rows',
        // Upstream never fills in the rows of a kind without columns of its own.
        none: endpoint.printer === DEFAULT_PRINTER ? null : [],
        item: (held) => tableRow(endpoint, held.object, table),
      };
    }
    case 'metadata-list':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: form.metaVersion,
        extra: {},
        itemsName: 'items',
        // Upstream never fills in a list of bare metadata that is empty.
        none: null,
        item: (held) => partialMetadata(form.metaVersion, held.object.metadata),
      };
    case 'metadata':
      throw notThat(
        `you requested PartialObjectMetadata, but the requested object is a list (*${endpoint.kind.version}.${endpoint.listKind})`,
      );
  }
};

/** A list of storage, in the view that the client asked for. */
export const sendList = async (call: HandlerCall, form: OutputForm, list: HeldList): Promise<void> => {
  const { context, timer } = call;
  timer.enter('conversion');
  const view = viewOf(call, form);
  const metadata = listMeta(list, call.endpoint.isCustom && form.view === 'object');
  if (form.encoding !== 'json' || form.pretty) {
    const items = [...mapped(list, view.item)];
    await sendObject(call, form, 200, {
      kind: view.kind,
      apiVersion: view.apiVersion,
      metadata,
      ...view.extra,
      [view.itemsName]: items.length === 0 ? view.none : items,
    });
    return;
  }
  if (list.items.length === 0 && view.none === null) {
    const empty = {
      kind: view.kind,
      apiVersion: view.apiVersion,
      metadata,
      ...view.extra,
      [view.itemsName]: null,
    };
    await sendObject(call, form, 200, empty);
    return;
  }
  const extra = Object.entries(view.extra).map(([name, value]) => `"${name}":${jsonText(value)},`);
  const head = `${headOf(view.kind, view.apiVersion)}"metadata":${JSON.stringify(metadata)},${extra.join('')}"${view.itemsName}":[`;
  const items = form.view === 'object' ? plainItems(call, list) : jsonItems(mapped(list, view.item));
  const parts = listParts(head, items);
  context.warnings.writeTo(context.response);
  await writeDocument(context.response, { code: 200, contentType: contentTypeOf(form) }, parts);
};
