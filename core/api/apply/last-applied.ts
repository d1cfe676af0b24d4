import { jsonText, parseJsonText } from '../meta/json-text.ts';
import type { JsonObject } from '../patch/json.ts';
import { getOwn, isObject } from '../patch/json.ts';
import { byteLength } from '../field/go-text.ts';
import type { FieldSet } from './field-set.ts';
import { metadataOf } from './managed-fields.ts';
import { compareTyped } from './typed-compare.ts';
import { fieldSetOf, typeErrors } from './typed-fields.ts';
import type { Versions } from './updater.ts';

/**
 * kubectl once kept what it applied in an annotation. When kubectl applies on the server for the first time,
 * what that annotation holds unchanged is its own and no conflict; as long as the annotation is there it is
 * kept up to date, so that an older kubectl can still apply on the client.
 */
export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const ANNOTATIONS_BYTES_MAX = 256 * 1_024;

/** The manager name kubectl uses on the server. */
export const KUBECTL_MANAGER = 'kubectl';

const annotationsOf = (object: JsonObject): JsonObject => {
  const annotations = getOwn(metadataOf(object), 'annotations');
  return isObject(annotations) ? annotations : {};
};

export function lastAppliedOf(object: JsonObject): string | undefined {
  const text = getOwn(annotationsOf(object), LAST_APPLIED_ANNOTATION);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Fields that the annotation holds as they still are in the live object; undefined if it says nothing. */
export function unchangedSinceLastApplied(
  live: JsonObject,
  apiVersion: string,
  versions: Versions,
): FieldSet | undefined {
  const text = lastAppliedOf(live);
  const type = versions.typeOf(apiVersion);
  if (text === undefined || type === undefined) return undefined;
  let config: unknown;
  try {
    config = parseJsonText(text);
  } catch (error) {
    // Somebody else wrote the annotation; then it allows nothing.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isObject(config) || getOwn(config, 'apiVersion') !== apiVersion) return undefined;
  if (typeErrors(config, type).length > 0) return undefined;
  const { modified, added, removed } = compareTyped(config, live, type);
  return fieldSetOf(config, type).difference(modified).difference(added).difference(removed);
}

/** The object with the configuration in its annotation, or without the annotation if it has become too large. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const { [LAST_APPLIED_ANNOTATION]: _own, ...configAnnotations } = annotationsOf(config);
  const hasAnnotations = Object.hasOwn(metadataOf(config), 'annotations');
  const bare: JsonObject = {
    ...config,
    metadata: { ...metadataOf(config), ...(hasAnnotations && { annotations: configAnnotations }) },
  };
  const { [LAST_APPLIED_ANNOTATION]: _old, ...others } = annotationsOf(object);
  const next: JsonObject = { ...others, [LAST_APPLIED_ANNOTATION]: `${jsonText(bare)}\n` };
  const bytes = Object.entries(next).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(String(value)),
    0,
  );
  const annotations = bytes > ANNOTATIONS_BYTES_MAX ? others : next;
  return { ...object, metadata: { ...metadataOf(object), annotations } };
}
