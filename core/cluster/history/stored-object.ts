import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { isJsonObject, parseApiVersion, parseJsonText, type KubernetesObject } from '../../api/meta/index.ts';
import { definitionFromV1Beta1 } from '../../api/scheme/index.ts';
import { fillZeroValues, structOfKind } from '../../api/schema/index.ts';
import { loadTransformers, type Transformers } from '../../apiserver/encryption/index.ts';
import { isProtobuf, parseProtobuf } from '../../apiserver/protobuf/index.ts';
import { say, verbatim, type Said } from '../../contract/index.ts';
import type { StoredValue } from './source.ts';

/** `k8s:enc:secretbox:v1:key-1:` names provider and key. */
const ENCRYPTED = /^k8s:enc:[^:]*:v\d+:[^:]{0,256}:/;
const ENCRYPTED_BYTES_MAX = 320;

export type Read =
  | { readonly object: KubernetesObject; readonly problem?: undefined }
  | { readonly object?: undefined; readonly problem: Said };

/** Turns stored values into objects: decrypts with the given configurations, then reads JSON or protobuf. */
export interface Decoder extends Disposable {
  /** `isExact`: integers that a number cannot hold are bigints, for an object that is written again. */
  decode(stored: StoredValue, isExact?: boolean): Promise<Read>;
}

/** kube-apiserver still stores CustomResourceDefinitions in v1beta1, which no server offers. */
const inServedVersion = (object: KubernetesObject): KubernetesObject =>
  object.apiVersion === 'apiextensions.k8s.io/v1beta1' && object.kind === 'CustomResourceDefinition'
    ? definitionFromV1Beta1(object)
    : object;

const parse = (bytes: Uint8Array, isExact: boolean): KubernetesObject | undefined => {
  if (isProtobuf(bytes)) return settled(parseProtobuf(bytes, (gvk) => structOfKind(gvk)));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const parsed = isExact ? parseJsonText(text) : (JSON.parse(text) as unknown);
  return isJsonObject(parsed) ? inServedVersion(parsed) : undefined;
};

/** As JSON of Go has it: lists that are always written, and kinds in a version that is served. */
const settled = (parsed: KubernetesObject): KubernetesObject => {
  const object = inServedVersion(parsed);
  const gv = parseApiVersion(object.apiVersion ?? '');
  const struct = gv && structOfKind({ ...gv, kind: object.kind ?? '' });
  if (struct) fillZeroValues(struct, object as Record<string, unknown>);
  return object;
};

const encryptionOf = (value: Uint8Array): string | undefined =>
  ENCRYPTED.exec(Buffer.from(value.subarray(0, ENCRYPTED_BYTES_MAX)).toString('latin1'))?.[0];

/** `files`: EncryptionConfigurations, of which the first that can decrypt a value does. */
export const openDecoder = async (files: readonly string[], clock: Clock): Promise<Decoder> => {
  const loaded: Transformers[] = [];
  const dispose = (): void => {
    for (const transformers of loaded) transformers.dispose();
  };
  try {
    for (const file of files)
      loaded.push((await loadTransformers(file, { clock, log: silentLog })).transformers);
  } catch (error) {
    dispose();
    throw error;
  }

  const plain = async ({ key, value }: StoredValue): Promise<Uint8Array | Said> => {
    const prefix = encryptionOf(value);
    if (prefix === undefined) return value;
    for (const transformers of loaded)
      try {
        return (await transformers.fromStorage(value, key)).value;
      } catch {
        // Another configuration may have the key; without one the value is told as unreadable.
        continue;
      }
    return say('failure.history.encrypted', { key, prefix });
  };

  return {
    dispose,
    async decode(stored, isExact = false) {
      const bytes = await plain(stored);
      if (!(bytes instanceof Uint8Array)) return { problem: bytes };
      try {
        const object = parse(bytes, isExact);
        if (!object) return { problem: say('failure.history.noObject', { key: stored.key }) };
        object.metadata = { ...object.metadata, resourceVersion: String(stored.modRevision) };
        return { object };
      } catch (error) {
        return {
          problem: say('failure.history.unreadable', { key: stored.key, why: verbatim(messageOf(error)) }),
        };
      }
    },
  };
};
