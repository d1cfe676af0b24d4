import { apiVersionOf } from '../../api/meta/group-version.ts';
import { objectKey } from '../../api/meta/object-meta.ts';
import { badRequest } from '../../api/meta/status-errors.ts';
import { parseFieldSelector, parseLabelSelector } from '../../api/selector/index.ts';
import { fieldLookupOf, resolveFieldLabel } from '../../api/scheme/selectable-fields.ts';
import type { FakeRequest } from './fake-request.ts';
import type { AnyStored, MemoryStore } from './memory-store.ts';

export type Matches = (object: AnyStored) => boolean;

/** Namespace, name and selectors of a list, watch or deletecollection as one question. */
export const selectionOf = (request: FakeRequest): Matches => {
  const labels = parseLabelSelector(request.query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(request.query.get('fieldSelector') ?? '');
  for (const { field } of fields.requirements) {
    const resolved = resolveFieldLabel(request.type, field);
    if ('refusal' in resolved) throw badRequest(resolved.refusal);
  }
  return (object) =>
    (request.namespace === '' || object.metadata.namespace === request.namespace) &&
    (request.name === '' || object.metadata.name === request.name) &&
    labels.matches(object.metadata.labels) &&
    (fields.isEmpty || fields.matches(fieldLookupOf(request.type, object)));
};

interface Token {
  readonly revision: number;
  readonly after: string;
}

const encodeToken = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url');
const decodeToken = (text: string): Token => JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;

export const listAnswer = (request: FakeRequest, store: MemoryStore, table: string): object => {
  const { type, query } = request;
  const token = query.has('continue') ? decodeToken(query.get('continue')!) : undefined;
  if (token) store.checkContinue(token.revision);
  const matching = store.list(table).filter(selectionOf(request));
  const rest = token ? matching.filter((object) => objectKey(object) > token.after) : matching;
  const limit = Number(query.get('limit') ?? 0);
  const page = limit > 0 ? rest.slice(0, limit) : rest;
  const revision = token?.revision ?? store.revision;
  const more = rest.length > page.length;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.listKind,
    metadata: {
      resourceVersion: String(revision),
      ...(more && {
        continue: encodeToken({ revision, after: objectKey(page.at(-1)!) }),
        remainingItemCount: rest.length - page.length,
      }),
    },
    // Lists of a real server leave out what each item is.
    items: page.map(({ apiVersion: _, kind: __, ...item }) => item),
  };
};
