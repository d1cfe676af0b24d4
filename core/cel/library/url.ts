import type { UnitEquality } from '../cost/runtime.ts';
import { BOOL, STRING, listOf, mapOf, structOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { ArrayList } from '../values/lists.ts';
import { LiteralMap } from '../values/maps.ts';
import { CelError, CelObject, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import type { Overload } from '../values/overload.ts';
import { type GoUrl, escapedPath, hostOf, hostnameOf, parseUrl, portOf, queryOf, urlText } from './go-url.ts';

const URL_TYPE = structOf('kubernetes.URL');

class CelUrl extends CelObject implements SelfEqual, UnitEquality {
  readonly type = URL_TYPE;
  readonly hasUnitEquality = true;
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    super();
    this.url = url;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelUrl)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return urlText(this.url) === urlText(other.url);
  }
}

const toUrl = (text: string): Value => {
  const url = parseUrl(text);
  return typeof url === 'string'
    ? error(`URL parse error during conversion from string: ${url}`)
    : new CelUrl(url);
};

const query = ({ url }: CelUrl): Value =>
  LiteralMap.of(Array.from(queryOf(url), ([key, values]) => [key, new ArrayList(values)] as const));

const part = (fn: string, id: string, read: (url: GoUrl) => string): Overload =>
  member([fn, id, [URL_TYPE], STRING], ({ url }: CelUrl) => read(url));

/** Absolute URLs. */
export const KUBERNETES_URLS: Library = {
  name: 'kubernetes.urls',
  overloads: [
    global(['url', 'string_to_url', [STRING], URL_TYPE], toUrl),
    part('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    part('getHost', 'url_get_host', hostOf),
    part('getHostname', 'url_get_hostname', hostnameOf),
    part('getPort', 'url_get_port', portOf),
    part('getEscapedPath', 'url_get_escaped_path', escapedPath),
    member(['getQuery', 'url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING))], query),
    global(['isURL', 'is_url_string', [STRING], BOOL], (text: string) => typeof parseUrl(text) !== 'string'),
  ],
};
