import type { AuditEventView, AuditQuery } from '../../../core/contract/index.ts';

export const SPANS = ['15m', '1h', '24h', 'all'] as const;
export type Span = (typeof SPANS)[number];
const SPAN_MS: Readonly<Record<Exclude<Span, 'all'>, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
};

export const WHO = ['people', 'all'] as const;
export type Who = (typeof WHO)[number];

/** The page as it opens shows changes by people; components write most of the log. This query shows everything. */
export const EVERYTHING = { who: 'all', verb: 'any' } as const;
const DEFAULT_VERB = 'write';

/** What the address of the page says, so that a search can be linked and left with Back. */
export interface AuditAddress {
  readonly user: string;
  readonly verb: string;
  readonly object: string;
  readonly span: Span;
  readonly onlyDenied: boolean;
  readonly who: Who;
  readonly resource: AuditQuery['resource'];
}

type Query = Readonly<Record<string, unknown>>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const addressOf = (query: Query): AuditAddress => {
  const span = text(query['span']) as Span;
  const [resource, name] = [text(query['resource']), text(query['name'])];
  return {
    user: text(query['user']),
    verb: text(query['verb']) || DEFAULT_VERB,
    object: text(query['object']),
    span: SPANS.includes(span) ? span : 'all',
    onlyDenied: query['denied'] === '1',
    who: query['who'] === 'all' ? 'all' : 'people',
    resource:
      resource === '' || name === ''
        ? null
        : { group: text(query['group']), resource, namespace: text(query['namespace']), name },
  };
};

export const queryOf = (cluster: string, address: AuditAddress, nowMs: number): AuditQuery => ({
  cluster,
  user: address.user.trim(),
  verb: address.verb === EVERYTHING.verb ? '' : address.verb,
  object: address.object.trim(),
  resource: address.resource,
  fromMs: address.span === 'all' ? null : nowMs - SPAN_MS[address.span],
  toMs: null,
  onlyDenied: address.onlyDenied,
  onlyPeople: address.who === 'people',
});

/** `default/pods/web/exec`; the path of a request that is about no object. */
export const objectText = ({ namespace, resource, name, subresource, path }: AuditEventView): string =>
  resource === '' ? path : [namespace, resource, name, subresource].filter((part) => part !== '').join('/');
