import { apiVersionOf, jsonText, type KubernetesObject } from '../../api/meta/index.ts';
import type { Held } from '../registry/rest-storage.ts';
import type { Endpoint } from './endpoint.ts';
import { goYaml } from '../server/go-yaml.ts';
import { JSON_MEDIA_TYPE, YAML_MEDIA_TYPE } from './media-types.ts';
import type { OutputForm } from './negotiate-output.ts';

/** One line of JSON, without its newline. */
export const encodeJson = (object: KubernetesObject): Uint8Array => Buffer.from(jsonText(object));

/** Whether the line names its kind first, as lists rely on; other servers may have stored it in another order. */
const startsWithHead = (line: Uint8Array, { head }: Endpoint): boolean =>
  head.compare(line, 0, Math.min(head.byteLength, line.byteLength)) === 0;

/**
 * The object in the endpoint's version as one line of JSON. In the version it is kept in that is the stored bytes, which
 * are put together for each who asks: a second copy of every object would cost more than that. Others are made once.
 */
export const heldJson = (held: Held, endpoint: Endpoint): Uint8Array => {
  const stored = endpoint.isHub ? endpoint.storage.json?.(held) : undefined;
  if (stored && startsWithHead(stored, endpoint)) return stored;
  return held.encoded(endpoint.format, (object) => encodeJson(namedAs(endpoint, endpoint.fromHub(object))));
};

/** The same as an item of a list, which does not repeat its kind, as Go's typed lists do not. */
export const itemJson = (held: Held, endpoint: Endpoint): readonly Uint8Array[] => {
  // Lists of custom resources hold objects of no Go type, which name their kind.
  if (endpoint.isCustom) return [heldJson(held, endpoint)];
  const parts = endpoint.isHub ? endpoint.storage.itemJson?.(held) : undefined;
  return parts ?? [OPEN, heldJson(held, endpoint).subarray(endpoint.head.byteLength)];
};

const OPEN = Buffer.from('{');

const NEWLINE = Buffer.from('\n');

/** An answer ends its line, as Go's encoder does. */
export const asAnswer = (line: Uint8Array): Uint8Array => Buffer.concat([line, NEWLINE]);

/** Under the name that the endpoint serves it by, whatever it was read as. */
export const namedAs = ({ kind }: Endpoint, object: KubernetesObject): KubernetesObject => {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), ...rest };
};

export const contentTypeOf = ({ encoding }: OutputForm): string =>
  encoding === 'json' ? JSON_MEDIA_TYPE : YAML_MEDIA_TYPE;

export const encodeValue = (value: unknown, { encoding, pretty }: OutputForm): string => {
  if (encoding === 'yaml') return goYaml(value);
  return `${jsonText(value, pretty ? 2 : 0)}\n`;
};
