import { apiPathOf, type GroupVersion } from '../../api/meta/index.ts';
import { isObj, obj, str, type Obj } from '../../api/validation/read.ts';
import type { RemoteSwagger } from '../discovery/catalog.ts';
import { referencesIn } from '../discovery/openapi/definitions.ts';

const DEFINITIONS_MAX = 5_000;

/** The part of another server's OpenAPI 2 document that is about its group version: paths, and what they refer to. */
export const swaggerPart = (document: Obj, gv: GroupVersion): RemoteSwagger => {
  const prefix = `${apiPathOf(gv)}/`;
  const known = obj(document, 'definitions');
  const paths: [string, string][] = [];
  const pending: string[] = [];
  for (const [path, item] of Object.entries(obj(document, 'paths'))) {
    if (!path.startsWith(prefix) || !isObj(item)) continue;
    const text = JSON.stringify(item);
    paths.push([path, text]);
    pending.push(...referencesIn(text));
  }
  const definitions = new Map<string, string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (definitions.has(name) || !Object.hasOwn(known, name) || definitions.size >= DEFINITIONS_MAX) continue;
    const text = JSON.stringify(known[name]);
    definitions.set(name, text);
    pending.push(...referencesIn(text));
  }
  return { paths, definitions: [...definitions] };
};

/** The address of a group version's OpenAPI 3 document, in the index of the server that writes it. */
export const openApiThreeUrl = (index: Obj, gv: GroupVersion): string | undefined => {
  const url = str(obj(obj(index, 'paths'), apiPathOf(gv).slice(1)), 'serverRelativeURL');
  return url.startsWith('/openapi/v3/') ? url : undefined;
};
