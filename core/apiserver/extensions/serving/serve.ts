import { assert } from '../../../base/assert.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { notFound, type GroupVersionResource, type KubernetesObject } from '../../../api/meta/index.ts';
import { registryOf } from '../../../api/scheme/index.ts';
import { sameValue } from '../../../api/validation/read.ts';
import type { DiscoveryCatalog } from '../../discovery/catalog.ts';
import type { Endpoint, EndpointSource } from '../../handlers/index.ts';
import type { AddedResource, ObjectRegistry } from '../../registry/create-registry.ts';
import type { RequestInfo } from '../../server/request-info.ts';
import type { Structural } from '../structural/structural.ts';
import type { Converter } from './conversion.ts';
import { customEndpoints } from './custom-endpoint.ts';
import { customResourceOf, type CustomResource } from './custom-resource.ts';
import { publishedVersion } from './published.ts';
import { ServedResource } from './served-resource.ts';
import type { CheckRules } from './version-model.ts';

export interface ServeOptions {
  readonly registry: Pick<ObjectRegistry, 'add'>;
  readonly catalog: DiscoveryCatalog;
  readonly minor: number;
  readonly log: Log;
  readonly converterOf: (resource: CustomResource) => Converter;
  readonly loadRules: (schema: Structural) => Promise<CheckRules | undefined>;
}

interface Serving {
  definition: KubernetesObject;
  readonly served: ServedResource;
  readonly added: AddedResource;
  readonly endpoints: Map<string, ReadonlyMap<string, Endpoint>>;
}

/** As long as these are the same, the same store serves the resource and its watches continue. */
const shapeOf = (definition: KubernetesObject): unknown => {
  const status = definition['status'] as { readonly acceptedNames?: unknown } | undefined;
  const { isServed, uid } = customResourceOf(definition);
  return [definition['spec'], status?.acceptedNames, isServed, uid];
};

/** The custom resources that this server serves, each from when its names are accepted until its definition is gone. */
export class CustomResources implements EndpointSource, Disposable {
  readonly #options: ServeOptions;
  readonly #serving = new Map<string, Serving>();

  constructor(options: ServeOptions) {
    this.#options = options;
  }

  upsert(definition: KubernetesObject): void {
    const id = definition.metadata?.name ?? '';
    const known = this.#serving.get(id);
    const resource = customResourceOf(definition);
    if (known && sameValue(shapeOf(known.definition), shapeOf(definition))) {
      this.#refresh(known, definition, resource);
      return;
    }
    const groupVersions = [...(known?.served.resource.versions ?? []), ...resource.versions].map(
      ({ name }) => name,
    );
    this.#stop(id);
    if (resource.isServed && !this.#isBuiltIn(resource)) this.#start(definition, resource);
    this.#publish(resource.group, groupVersions);
  }

  /** What is left to change shows in discovery alone. */
  #refresh(known: Serving, definition: KubernetesObject, resource: CustomResource): void {
    const before = known.served.resource;
    known.definition = definition;
    known.served.resource = resource;
    if (before.isEstablished === resource.isEstablished && before.isTerminating === resource.isTerminating)
      return;
    this.#publish(
      resource.group,
      resource.versions.map(({ name }) => name),
    );
  }

  remove(definition: KubernetesObject): void {
    const id = definition.metadata?.name ?? '';
    const known = this.#serving.get(id);
    if (!known) return;
    this.#stop(id);
    const { group, versions } = known.served.resource;
    this.#publish(
      group,
      versions.map(({ name }) => name),
    );
  }

  find(info: RequestInfo): Endpoint | undefined {
    const { apiGroup, apiVersion, resource, subresource, name, namespace, verb } = info;
    const serving = this.#serving.get(`${resource}.${apiGroup}`);
    const version = serving?.served.version(apiVersion);
    if (!serving || version?.isServed !== true) return undefined;
    let endpoints = serving.endpoints.get(apiVersion);
    if (!endpoints) {
      endpoints = customEndpoints(serving.served, version, serving.added.store);
      serving.endpoints.set(apiVersion, endpoints);
    }
    const endpoint = endpoints.get(subresource);
    if (!endpoint) throw notFound({ group: apiGroup, resource }, name);
    const isOutside = endpoint.namespaced && namespace === '' && verb !== 'list' && verb !== 'watch';
    return isOutside ? undefined : endpoint;
  }

  /** Stored objects of a custom resource as its version is served. */
  async inVersion(
    objects: readonly KubernetesObject[],
    { group, version, resource }: GroupVersionResource,
  ): Promise<readonly KubernetesObject[]> {
    const served = this.#serving.get(`${resource}.${group}`)?.served;
    if (served?.version(version)?.isServed !== true)
      throw new Error(`${resource}.${group} are not served in version ${version}`);
    await served.prepare(objects, version);
    return objects.map((object) => served.convert(object, version));
  }

  has(id: string): boolean {
    return this.#serving.has(id);
  }

  dispose(): void {
    for (const id of [...this.#serving.keys()]) this.#stop(id);
  }

  /** A definition may name a resource that the server has itself; the server's own is then served. */
  #isBuiltIn({ group, names }: CustomResource): boolean {
    return registryOf(this.#options.minor).resources.some(
      (type) => type.group === group && type.plural === names.plural,
    );
  }

  #start(definition: KubernetesObject, resource: CustomResource): void {
    const { registry, log, converterOf, loadRules } = this.#options;
    const storage = resource.versions.find(({ isStorage }) => isStorage);
    assert(storage !== undefined, `${resource.id} has no storage version`);
    try {
      const served = new ServedResource({ resource, converter: converterOf(resource), loadRules });
      const added = registry.add(served.definition(storage));
      this.#serving.set(resource.id, { definition, served, added, endpoints: new Map() });
    } catch (error) {
      log.write('error', 'a custom resource cannot be served', {
        definition: resource.id,
        error: messageOf(error),
      });
    }
  }

  #stop(id: string): void {
    const known = this.#serving.get(id);
    if (!known) return;
    this.#serving.delete(id);
    known.added.dispose();
  }

  #publish(group: string, versions: readonly string[]): void {
    const { catalog } = this.#options;
    const all = [...this.#serving.values()].map(({ served }) => served);
    for (const version of new Set(versions)) {
      const published = publishedVersion(group, version, all);
      if (published) catalog.publish(published);
      else catalog.withdraw({ group, version });
    }
  }
}
