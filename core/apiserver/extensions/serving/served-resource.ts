import { assert } from '../../../base/assert.ts';
import { internalError, type GroupVersionKind, type KubernetesObject } from '../../../api/meta/index.ts';
import { structOfKind } from '../../../api/schema/index.ts';
import { customResourcePrefix } from '../../../api/scheme/storage-keys.ts';
import {
  READ_WRITE_VERBS,
  type ResourceType,
  type Subresource,
  type Verb,
} from '../../../api/scheme/resource-type.ts';
import type { FieldLookup } from '../../../api/selector/index.ts';
import type { ResourceDefinition } from '../../registry/generic/resource-definition.ts';
import type { Converter } from './conversion.ts';
import type { CustomResource, CustomVersion } from './custom-resource.ts';
import { parseJsonPath, type FindResults } from './json-path.ts';
import { customStatusStrategy, customStrategy } from './strategy.ts';
import { VersionModel, type CheckRules } from './version-model.ts';
import type { Structural } from '../structural/structural.ts';

/** In upstream's order. */
const VERBS: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
/** What can be done while the definition is deleted. */
const TERMINATING_VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];

export interface ServedResourceOptions {
  readonly resource: CustomResource;
  readonly converter: Converter;
  readonly loadRules: (schema: Structural) => Promise<CheckRules | undefined>;
}

/** A custom resource with all its versions. Schemas are compiled when a version is first used. */
export class ServedResource {
  resource: CustomResource;
  readonly #options: ServedResourceOptions;
  readonly #models = new Map<string, VersionModel>();
  /** Stored objects in other versions, as far as they were asked for. */
  readonly #converted = new Map<string, WeakMap<KubernetesObject, KubernetesObject>>();

  constructor(options: ServedResourceOptions) {
    this.resource = options.resource;
    this.#options = options;
  }

  version(name: string): CustomVersion | undefined {
    return this.resource.versions.find((version) => version.name === name);
  }

  kindIn(version: string): GroupVersionKind {
    const { group, names } = this.resource;
    return { group, version, kind: names.kind };
  }

  model(name: string): VersionModel | undefined {
    const known = this.#models.get(name);
    if (known) return known;
    const version = this.version(name);
    if (!version) return undefined;
    const { isNamespaced, preservesUnknown } = this.resource;
    const { loadRules } = this.#options;
    const made = new VersionModel(version, { isNamespaced, preservesUnknown, loadRules });
    this.#models.set(name, made);
    return made;
  }

  mustModel(name: string): VersionModel {
    const model = this.model(name);
    assert(model !== undefined, `${this.resource.id} has no version ${name}`);
    return model;
  }

  #versionOf({ apiVersion = '' }: KubernetesObject): string {
    return apiVersion.slice(apiVersion.indexOf('/') + 1);
  }

  isIn(object: KubernetesObject, version: string): boolean {
    return this.#versionOf(object) === version;
  }

  /** What conversion gives is pruned by the schema of its version, as a request would be. */
  #coerced(object: KubernetesObject, version: string): KubernetesObject {
    return this.mustModel(version).prune(object);
  }

  /** A stored object in a version; where conversion asks another server, it must have been prepared. */
  convert(object: KubernetesObject, version: string): KubernetesObject {
    if (this.isIn(object, version)) return object;
    const { now } = this.#options.converter;
    if (now) return this.#coerced(now(object, version), version);
    const known = this.#converted.get(version)?.get(object);
    if (known) return known;
    throw internalError(`${this.resource.id} was not converted to ${version}`);
  }

  get asksForConversion(): boolean {
    return this.#options.converter.now === undefined;
  }

  /** Converts what `convert` will be asked for, all of it in one request. */
  async prepare(objects: readonly KubernetesObject[], version: string): Promise<void> {
    if (!this.asksForConversion) return;
    let known = this.#converted.get(version);
    if (!known) this.#converted.set(version, (known = new WeakMap()));
    const missing = [...new Set(objects)].filter(
      (object) => !this.isIn(object, version) && !known.has(object),
    );
    if (missing.length === 0) return;
    const converted = await this.#options.converter.convert(missing, version);
    missing.forEach((object, at) => known.set(object, this.#coerced(converted[at]!, version)));
  }

  async #convertAny(object: KubernetesObject, version: string): Promise<KubernetesObject> {
    await this.prepare([object], version);
    return this.convert(object, version);
  }

  typeIn({ name, hasStatus, scale }: CustomVersion): ResourceType & {
    readonly storage: NonNullable<ResourceType['storage']>;
  } {
    const { group, names, isNamespaced, storageVersion, isTerminating } = this.resource;
    const subresources: Subresource[] = [];
    if (hasStatus)
      subresources.push({
        name: 'status',
        kind: this.kindIn(name),
        verbs: READ_WRITE_VERBS,
        connects: false,
      });
    if (scale)
      subresources.push({
        name: 'scale',
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        verbs: READ_WRITE_VERBS,
        connects: false,
      });
    return {
      group,
      version: name,
      kind: names.kind,
      listKind: names.listKind,
      plural: names.plural,
      singular: names.singular,
      namespaced: isNamespaced,
      shortNames: names.shortNames,
      categories: names.categories,
      verbs: isTerminating ? TERMINATING_VERBS : VERBS,
      subresources,
      storage: { prefix: customResourcePrefix(group, names.plural), gvk: this.kindIn(storageVersion) },
    };
  }

  /** How requests for one version store and validate objects. */
  definition(version: CustomVersion): ResourceDefinition {
    const { resource } = this;
    const { name } = version;
    const strategy = customStrategy(() => this.resource, version);
    const fields = selectableFields(version);
    return {
      type: this.typeIn(version),
      struct: undefined,
      findStruct: (gvk) => structOfKind(gvk),
      convert: (object) => object,
      stored: {
        load: (object) => (this.isIn(object, name) ? object : this.#convertAny(object, name)),
        save: (object) =>
          this.isIn(object, resource.storageVersion)
            ? object
            : this.#convertAny(object, resource.storageVersion),
      },
      settle: (object) => this.model(this.#versionOf(object))?.settle(object) ?? object,
      validateCreate: (object) => this.mustModel(name).validateCreate(object),
      validateUpdate: (object, before, subresource) =>
        subresource === 'status'
          ? this.mustModel(name).validateStatus(object, before)
          : this.mustModel(name).validateUpdate(object, before),
      fieldsOf: (object) => this.#fieldsOf(object, name, fields),
      strategy,
      partStrategy: (part) => (part === 'status' ? customStatusStrategy : undefined),
    };
  }

  #fieldsOf(
    object: KubernetesObject,
    version: string,
    fields: ReadonlyMap<string, FindResults>,
  ): FieldLookup {
    return (label) => {
      if (label === 'metadata.name') return object.metadata?.name ?? '';
      if (label === 'metadata.namespace' && this.resource.isNamespaced)
        return object.metadata?.namespace ?? '';
      const find = fields.get(label);
      if (!find) return undefined;
      const value = find(this.asksForConversion ? object : this.convert(object, version))[0];
      return value === undefined || value === null ? '' : String(value);
    };
  }
}

/** By the label that selectors use: the path without its dot. */
export const selectableFields = ({
  selectableFields: paths,
}: CustomVersion): ReadonlyMap<string, FindResults> =>
  new Map(
    paths.flatMap((path) => {
      const find = parseJsonPath(path);
      return find ? [[path.replace(/^\./, ''), find] as const] : [];
    }),
  );
