import { assert } from '../../../base/assert.ts';
import type { GroupVersionKind, KubernetesObject } from '../../../api/meta/index.ts';
import { releaseOf } from '../../../api/releases/index.ts';
import { convertObject, fieldLookupOf, type ResourceType } from '../../../api/scheme/index.ts';
import { structOfKind, type StructType } from '../../../api/schema/index.ts';
import type { FieldLookup } from '../../../api/selector/index.ts';
import { isPathSegmentName } from '../../../api/field/formats.ts';
import { objectWarnings } from '../../../api/validation/warnings/objects.ts';
import { privilegedContainers } from '../../../api/validation/privileged.ts';
import { validateCreate, validateUpdate } from '../../../api/validation/validate.ts';
import type { FieldErrorList } from '../../../api/field/field-error.ts';
import type { FindStruct } from '../../protobuf/index.ts';
import type { Strategy } from './strategy.ts';

/**
 * Everything that storing one resource needs to know of it. Built-in kinds are defined from the scheme's tables when a
 * server starts; anyone who adds a resource later brings a definition of its own, and the store knows no difference.
 */
export interface ResourceDefinition {
  /** Names, verbs, subresources, and where objects are kept. */
  readonly type: ResourceType & { readonly storage: NonNullable<ResourceType['storage']> };
  /** Of the objects as they are kept; absent where nothing is to be filled in. */
  readonly struct: StructType | undefined;
  /** Types of what may be found in storage, in any version. */
  readonly findStruct: FindStruct;
  convert(object: KubernetesObject, from: GroupVersionKind, to: GroupVersionKind): KubernetesObject;
  /** Present where objects are stored in other versions than this definition works with. */
  readonly stored?: StoredVersions;
  /**
   * An object as it was stored, with what its type says today: fields that are gone are removed, defaults that came are
   * set. The object itself where nothing changes; it is the callee's.
   */
  settle?(object: KubernetesObject): KubernetesObject;
  validateCreate(object: KubernetesObject): FieldErrorList | Promise<FieldErrorList>;
  /** `subresource` is empty for the object itself. */
  validateUpdate(
    object: KubernetesObject,
    before: KubernetesObject,
    subresource: string,
  ): FieldErrorList | Promise<FieldErrorList>;
  /** What the client is told of a valid object. `before` is absent where it is created. */
  warnings?(object: KubernetesObject, before: KubernetesObject | undefined): readonly string[];
  /** The values that field selectors may ask for. */
  fieldsOf(object: KubernetesObject): FieldLookup;
  readonly strategy: Strategy;
  /** By name, of subresources that are parts of the object itself. */
  partStrategy(subresource: string): Strategy | undefined;
}

/** The way between the version that a definition works with and those that its objects are stored in. */
export interface StoredVersions {
  /** From whatever version the object is stored in; the object itself where that is the same. */
  load(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>;
  /** To the version that is written. */
  save(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>;
}

export interface BuiltInDefinitionOptions {
  readonly type: ResourceType;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly allowPrivileged: boolean;
  readonly strategy: Strategy;
  partStrategy(subresource: string): Strategy | undefined;
}

/** A kind of the scheme, as the release that is emulated has it. */
export const builtInDefinition = (options: BuiltInDefinitionOptions): ResourceDefinition => {
  const { type, minor, allowPrivileged, strategy } = options;
  const { storage } = type;
  assert(storage !== undefined, `${type.plural} are not kept`);
  const kind = { group: storage.gvk.group, kind: storage.gvk.kind };
  const meta = { namespaced: type.namespaced, name: isPathSegmentName };
  const privileged = (object: KubernetesObject): FieldErrorList =>
    allowPrivileged ? [] : privilegedContainers(kind, object);
  return {
    type: { ...type, storage },
    struct: structOfKind(storage.gvk, minor),
    findStruct: (gvk) => structOfKind(gvk, minor),
    convert: convertObject,
    validateCreate: (object) => [
      ...validateCreate(kind, object, meta, releaseOf(minor)),
      ...privileged(object),
    ],
    validateUpdate(object, before, subresource) {
      const errors = validateUpdate(kind, object, before, subresource);
      // What a pod runs with cannot be changed, so one that was there before the flag stays writable.
      const known = kind.kind === 'Pod' ? privileged(before).map(({ field }) => field) : [];
      return [...errors, ...privileged(object).filter(({ field }) => !known.includes(field))];
    },
    warnings: (object, before) => objectWarnings(kind, object, before, minor),
    fieldsOf: (object) => fieldLookupOf(kind, object),
    strategy,
    partStrategy: (subresource) => options.partStrategy(subresource),
  };
};
