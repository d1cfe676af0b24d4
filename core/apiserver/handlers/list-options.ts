import type { FeatureGates } from '../../api/releases/index.ts';
import { ReasonError } from '../../base/errors.ts';
import { badRequest, invalid } from '../../api/meta/index.ts';
import {
  EVERY_FIELD,
  EVERYTHING,
  fieldSelector,
  parseFieldSelector,
  parseLabelSelector,
  requiredFieldValue,
  type FieldSelector,
} from '../../api/selector/index.ts';
import { causesOf, forbidden, notSupported, type FieldError } from '../../api/field/field-error.ts';
import { parseRevision } from '../registry/generic/object-reads.ts';
import type { ListOptions, WatchOptions } from '../registry/rest-storage.ts';
import type { Endpoint } from './endpoint.ts';
import { flagOf, integerOf, textOf } from './query-values.ts';

/** ListOptions of a query: what lists, watches and deletions of collections are asked with. */
export interface QueryOptions extends ListOptions {
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

const MATCH = 'resourceVersionMatch';

const listErrors = (query: URLSearchParams): FieldError[] => {
  const match = textOf(query, MATCH);
  const resourceVersion = textOf(query, 'resourceVersion');
  const errors: FieldError[] = [];
  if (match !== '') {
    if (resourceVersion === '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (textOf(query, 'continue') !== '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0')
      errors.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (query.has('sendInitialEvents'))
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
};

const watchErrors = (query: URLSearchParams, allowsInitialEvents: boolean): FieldError[] => {
  const match = textOf(query, MATCH);
  const sendsInitialEvents = query.has('sendInitialEvents');
  const errors: FieldError[] = [];
  if (sendsInitialEvents && match !== 'NotOlderThan')
    errors.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (sendsInitialEvents && !allowsInitialEvents)
    errors.push(
      forbidden(
        'sendInitialEvents',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ),
    );
  if (match === '') return errors;
  if (!sendsInitialEvents)
    errors.push(
      forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  if (match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan']));
  if (textOf(query, 'continue') !== '')
    errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
};

const parseOr400 = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ReasonError && error.reason === 'SelectorInvalid') throw badRequest(error.message);
    throw error;
  }
};

const resolveFields = (selector: FieldSelector, endpoint: Endpoint): FieldSelector => {
  if (selector.isEmpty) return selector;
  return fieldSelector(
    selector.requirements.map((requirement) => {
      const resolved = endpoint.resolveField(requirement.field);
      if ('refusal' in resolved) throw badRequest(resolved.refusal);
      return { ...requirement, field: resolved.label };
    }),
  );
};

/** A path that names one object selects it; a selector beside it must mean the same. */
const withName = (selector: FieldSelector, name: string): FieldSelector => {
  if (name === '') return selector;
  if (selector.isEmpty) return fieldSelector([{ field: 'metadata.name', operator: '=', value: name }]);
  if (requiredFieldValue(selector, 'metadata.name') !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return selector;
};

export const queryOptionsOf = (
  query: URLSearchParams,
  endpoint: Endpoint,
  {
    name,
    isWatch,
    gates,
  }: { readonly name: string; readonly isWatch: boolean; readonly gates?: FeatureGates },
): QueryOptions => {
  const limit = integerOf(query, 'limit') ?? 0;
  const timeoutSeconds = integerOf(query, 'timeoutSeconds');
  const labels = textOf(query, 'labelSelector');
  const fields = textOf(query, 'fieldSelector');
  const labelSelector = labels === '' ? EVERYTHING : parseOr400(() => parseLabelSelector(labels));
  const given = fields === '' ? EVERY_FIELD : parseOr400(() => parseFieldSelector(fields));
  const errors = isWatch ? watchErrors(query, gates?.isEnabled('WatchList') ?? true) : listErrors(query);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causesOf(errors));
  return {
    labelSelector,
    fieldSelector: withName(resolveFields(given, endpoint), name),
    limit,
    continueToken: textOf(query, 'continue'),
    resourceVersion: textOf(query, 'resourceVersion'),
    resourceVersionMatch: textOf(query, MATCH) as ListOptions['resourceVersionMatch'],
    sendInitialEvents: flagOf(query, 'sendInitialEvents'),
    allowWatchBookmarks: flagOf(query, 'allowWatchBookmarks') ?? false,
    timeoutSeconds,
  };
};

/**
 * Where a watch begins. Without a version it begins with the state there is, as if everything had just been added;
 * clients that list by watching ask for that and for a bookmark at its end.
 */
export const watchOptionsOf = (options: QueryOptions): WatchOptions => {
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  const isAny = resourceVersion === '' || resourceVersion === '0';
  const shared = {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    bookmarks: allowWatchBookmarks,
  };
  const at =
    resourceVersion === '' ? 'latest' : resourceVersion === '0' ? 'any' : parseRevision(resourceVersion);
  if (sendInitialEvents === true)
    return { ...shared, start: 'state', at, stateBookmark: allowWatchBookmarks };
  if (sendInitialEvents === false)
    return { ...shared, start: isAny ? 'now' : parseRevision(resourceVersion), stateBookmark: false };
  if (isAny) return { ...shared, start: 'state', at, stateBookmark: false };
  return { ...shared, start: parseRevision(resourceVersion), stateBookmark: false };
};
