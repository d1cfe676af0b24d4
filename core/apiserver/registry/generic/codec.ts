import {
  apiVersionOf,
  jsonText,
  parseJsonText,
  parseApiVersion,
  type GroupVersionKind,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import { convertStored } from '../../../api/scheme/index.ts';
import { fillZeroValues } from '../../../api/schema/index.ts';
import { isProtobuf, parseProtobuf, type FindStruct } from '../../protobuf/index.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import type { Held } from '../rest-storage.ts';

export interface CodecOptions {
  /** What a type says today of an object that was stored before. */
  readonly settle?: ((object: KubernetesObject) => KubernetesObject) | undefined;
  /** Objects are written in the version they name: the kind has several, and conversion is the caller's. */
  readonly keepsVersion?: boolean;
}

/** Objects this server wrote a moment ago and has not yet seen in the watch. */
const RECENT_MAX = 512;
/** Larger ones are decoded again rather than held by two hands. */
const RECENT_BYTES_MAX = 16 * 1024;

const headOf = ({ kind, ...gv }: GroupVersionKind): string =>
  `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersionOf(gv))},"metadata":{`;

/**
 * Objects of one kind as bytes: JSON in the version they are kept in, without the revision, which is the key's. What a
 * server of upstream wrote as protobuf is read as well.
 */
export class ObjectCodec {
  readonly #gvk: GroupVersionKind;
  readonly #findStruct: FindStruct;
  readonly #apiVersion: string;
  readonly #kind: string;
  readonly #head: Buffer;
  readonly #recent = new Map<string, KubernetesObject>();
  readonly #options: CodecOptions;
  /** Objects that are no longer what their bytes say. */
  readonly #settled = new WeakSet<KubernetesObject>();

  constructor(gvk: GroupVersionKind, findStruct: FindStruct, options: CodecOptions = {}) {
    this.#options = options;
    this.#gvk = gvk;
    this.#findStruct = findStruct;
    this.#apiVersion = apiVersionOf(gvk);
    this.#kind = gvk.kind;
    this.#head = Buffer.from(headOf(gvk));
  }

  /** Takes the revision off the object, which the caller owns, and sets its kind. */
  encode(object: KubernetesObject): Buffer {
    const { kind: _kind, apiVersion: _apiVersion, metadata = {}, ...rest } = object;
    delete metadata.resourceVersion;
    const apiVersion = (this.#options.keepsVersion && object.apiVersion) || this.#apiVersion;
    object.kind = this.#kind;
    object.apiVersion = apiVersion;
    return Buffer.from(jsonText({ kind: this.#kind, apiVersion, metadata, ...rest }));
  }

  decode(key: string, value: Uint8Array, revision: number): KubernetesObject {
    const known = this.#recent.get(key);
    if (known?.metadata?.resourceVersion === String(revision)) {
      this.#recent.delete(key);
      return known;
    }
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    const object = isProtobuf(bytes) ? this.#fromProtobuf(bytes) : this.#fromJson(bytes);
    object.metadata = { ...object.metadata, resourceVersion: String(revision) };
    return this.#settle(object);
  }

  #settle(object: KubernetesObject): KubernetesObject {
    const settled = this.#options.settle?.(object) ?? object;
    if (settled !== object) this.#settled.add(settled);
    return settled;
  }

  #fromJson(bytes: Buffer): KubernetesObject {
    const object = parseJsonText(bytes.toString('utf8')) as KubernetesObject;
    return this.#options.keepsVersion === true ? object : this.#converted(object);
  }

  /** Other servers may keep the kind in another version. */
  #converted(object: KubernetesObject): KubernetesObject {
    const { apiVersion = this.#apiVersion } = object;
    if (apiVersion === this.#apiVersion) return object;
    const gv = parseApiVersion(apiVersion) ?? this.#gvk;
    return convertStored(object, { ...gv, kind: this.#kind }, this.#gvk);
  }

  #fromProtobuf(bytes: Uint8Array): KubernetesObject {
    // Versions that are not served any more, or not yet, have the fields of the one that is.
    const find: FindStruct = (kind) => this.#findStruct(kind) ?? this.#findStruct(this.#gvk);
    const converted = this.#converted(parseProtobuf(bytes, find));
    const struct = this.#findStruct(this.#gvk);
    if (struct) fillZeroValues(struct, converted);
    return converted;
  }

  /** What was written, as the answer to its writer; the watch cache will find the same object. */
  written(key: string, value: Uint8Array, revision: number, object: KubernetesObject): Held {
    (object.metadata ??= {}).resourceVersion = String(revision);
    if (value.length <= RECENT_BYTES_MAX) this.#remember(key, object);
    return new CachedObject(key, value, revision, object);
  }

  #remember(key: string, object: KubernetesObject): void {
    if (this.#recent.size >= RECENT_MAX) {
      const oldest = this.#recent.keys().next();
      if (oldest.done !== true) this.#recent.delete(oldest.value);
    }
    this.#recent.set(key, object);
  }

  /** The same without its kind, in parts that share the stored bytes. Undefined where they are in another order. */
  itemJson(held: Held): readonly Uint8Array[] | undefined {
    if (this.#settled.has(held.object)) return undefined;
    const head = this.#head;
    const { value, revision } = held;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    if (revision === 0 || head.compare(bytes, 0, Math.min(head.length, bytes.length)) !== 0) return undefined;
    return [Buffer.from(`{"metadata":{"resourceVersion":"${revision}",`), bytes.subarray(head.length)];
  }

  /**
   * The JSON of an object in the version it is kept in, made of the stored bytes without encoding it again. Undefined
   * where their members are in another order, or where they are no JSON.
   */
  json(held: Held): Uint8Array | undefined {
    if (this.#settled.has(held.object)) return undefined;
    const head = this.#head;
    const { value, revision } = held;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    if (revision === 0) return bytes;
    if (head.compare(bytes, 0, Math.min(head.length, bytes.length)) !== 0) return undefined;
    return Buffer.concat([
      head,
      Buffer.from(`"resourceVersion":"${revision}",`),
      bytes.subarray(head.length),
    ]);
  }
}
