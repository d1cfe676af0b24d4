import { noSuchRepresentation, notAcceptable } from '../../api/meta/index.ts';
import type { ApiRequest } from '../server/request.ts';
import {
  JSON_MEDIA_TYPE,
  LIST_REPRESENTATIONS,
  REPRESENTATIONS,
  STREAM_MEDIA_TYPES,
  YAML_MEDIA_TYPE,
  type Encoding,
} from './media-types.ts';

/** What the client wants instead of the object itself. */
export type View = 'object' | 'table' | 'metadata' | 'metadata-list';

export interface OutputForm {
  readonly encoding: Encoding;
  readonly pretty: boolean;
  readonly view: View;
  /** `meta.k8s.io/v1` or its beta: the version of tables and bare metadata. */
  readonly metaVersion: string;
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly params: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Clauses of one header that are looked at; real clients send a handful. */
const CLAUSES_MAX = 64;

const parseClause = (text: string): Clause | undefined => {
  const [range = '', ...rest] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = ''] = range.toLowerCase().split('/');
  const params = new Map<string, string>();
  let quality = 1;
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const [name, value] = [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
    if (name === 'q') quality = Number(value);
    else params.set(name, value);
  }
  if (type === '' || !Number.isFinite(quality)) return undefined;
  return { type, subtype: subtype || '*', params, quality };
};

/** By quality; clauses of one quality stay as the client wrote them. */
const parseAccept = (header: string): readonly Clause[] =>
  header
    .split(',', CLAUSES_MAX)
    .map(parseClause)
    .filter((clause) => clause !== undefined && clause.quality > 0)
    .map((clause) => clause!)
    .sort((a, b) => b.quality - a.quality);

const ENCODINGS: readonly (readonly [Encoding, string])[] = [
  ['json', JSON_MEDIA_TYPE],
  ['yaml', YAML_MEDIA_TYPE],
];

const VIEWS: Readonly<Record<string, View | undefined>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata-list',
};
const META_GROUP = 'meta.k8s.io';
const META_VERSIONS = new Set(['v1', 'v1beta1']);

/** Undefined where the parameters ask for something this server does not do. */
const formOf = (encoding: Encoding, params: ReadonlyMap<string, string>): OutputForm | undefined => {
  const stream = params.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || encoding !== 'json')) return undefined;
  const pretty = params.get('pretty') === '1';
  if (!params.has('as') && !params.has('g') && !params.has('v'))
    return { encoding, pretty, view: 'object', metaVersion: '' };
  const view = VIEWS[params.get('as') ?? ''];
  const version = params.get('v') ?? '';
  if (view === undefined || params.get('g') !== META_GROUP || !META_VERSIONS.has(version)) return undefined;
  return { encoding, pretty, view, metaVersion: `${META_GROUP}/${version}` };
};

const PLAIN_JSON: OutputForm = { encoding: 'json', pretty: false, view: 'object', metaVersion: '' };

const accepts = ({ type, subtype }: Clause, mediaType: string): boolean =>
  `${type}/${subtype}` === mediaType ||
  (type === '*' && subtype === '*') ||
  (subtype === '*' && mediaType.startsWith(`${type}/`));

/** Clients send the same few headers with every request. */
const KNOWN_HEADERS_MAX = 64;
const KNOWN_HEADER_LENGTH_MAX = 512;
const knownHeaders = new Map<string, OutputForm | undefined>();

const negotiate = (header: string): OutputForm | undefined => {
  if (header === '') return PLAIN_JSON;
  if (knownHeaders.has(header)) return knownHeaders.get(header);
  const form = negotiateAnew(header);
  if (knownHeaders.size < KNOWN_HEADERS_MAX && header.length <= KNOWN_HEADER_LENGTH_MAX)
    knownHeaders.set(header, form);
  return form;
};

const negotiateAnew = (header: string): OutputForm | undefined => {
  for (const clause of parseAccept(header))
    for (const [encoding, mediaType] of ENCODINGS) {
      const form = accepts(clause, mediaType) ? formOf(encoding, clause.params) : undefined;
      if (form) return form;
    }
  return undefined;
};

/** Programs that people read the output of. */
const HUMAN_AGENT = /^(curl|Wget|Mozilla\/5\.0)/;
const GO_TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

export const isPretty = ({ query, headers }: ApiRequest): boolean => {
  const asked = query.get('pretty');
  if (asked !== null && asked !== '') return GO_TRUE.has(asked);
  return HUMAN_AGENT.test(headers.get('user-agent') ?? '');
};

/** Whether a route of built-in kinds would be chosen: by the bare type, or for any type. */
const isRouted = (header: string): boolean =>
  parseAccept(header).some(
    ({ type, subtype }) =>
      (type === '*' && subtype === '*') || REPRESENTATIONS.includes(`${type}/${subtype}`),
  );

/** How the client wants its answer; 406 where it wants nothing that there is. */
export const negotiateOutput = (
  request: ApiRequest,
  route?: { readonly isCustom: boolean; readonly isList: boolean },
): OutputForm => {
  const header = request.headers.all('accept').join(',');
  const form = negotiate(header);
  if (form === undefined && route && !route.isCustom && !isRouted(header))
    throw noSuchRepresentation(route.isList ? LIST_REPRESENTATIONS : REPRESENTATIONS);
  if (form === undefined) throw notAcceptable(REPRESENTATIONS);
  return isPretty(request) && !form.pretty ? { ...form, pretty: true } : form;
};

/** Whether even a failure is to be told in YAML; what cannot be told as asked for is told in JSON. */
export const wantsYaml = (request: ApiRequest): boolean =>
  negotiate(request.headers.all('accept').join(','))?.encoding === 'yaml';

/** A stream of events is JSON only. */
export const negotiateStream = (request: ApiRequest): OutputForm => {
  const form = negotiate(request.headers.all('accept').join(','));
  if (form === undefined || form.encoding !== 'json') throw notAcceptable(STREAM_MEDIA_TYPES);
  return form;
};
