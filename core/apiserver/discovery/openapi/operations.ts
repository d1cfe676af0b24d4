import { apiPathOf, type GroupVersionKind } from '../../../api/meta/index.ts';
import { definitionNameOf, structOfKind } from '../../../api/schema/index.ts';
import type { Subresource, Verb } from '../../../api/scheme/index.ts';
import type { PublishedGroupVersion, PublishedResource } from '../catalog.ts';
import { operationIdParts, upperFirst } from './operation-ids.ts';
import type { Pace } from './pace.ts';
import {
  nameParameter,
  namespaceParameter,
  PARAMETERS_OF_ACTION,
  PARAMETERS_OF_SUBRESOURCE,
  pathParameter,
  queryParameter,
  type ApiParameter,
} from './parameters.ts';

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export interface ApiBody {
  readonly definition: string;
  readonly required: boolean;
  readonly consumes: readonly string[];
}

/** A definition's name, or the text that a stream begins with. */
export type ResponseSchema = { readonly definition: string } | 'string' | undefined;

export interface ApiOperation {
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly ApiParameter[];
  readonly body?: ApiBody;
  readonly produces: readonly string[];
  readonly consumes: readonly string[];
  /** By status code; 401 is everywhere and left out. */
  readonly responses: readonly (readonly [code: 200 | 201 | 202, schema: ResponseSchema])[];
}

export interface ApiPath {
  readonly path: string;
  readonly operations: readonly ApiOperation[];
}

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const OBJECT_TYPES = ['application/json', 'application/yaml'] as const;
const STREAM_TYPES = [...OBJECT_TYPES, 'application/json;stream=watch'] as const;
const ANY_TYPE = ['*/*'] as const;
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;
/** Strategic merge patches need types, which custom resources do not have. */
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => !type.includes('strategic'));
const CONNECT_METHODS: Readonly<Partial<Record<Verb, readonly Method[]>>> = {
  create: ['post'],
  delete: ['delete'],
  get: ['get'],
  patch: ['patch'],
  update: ['put'],
};

/** Kinds of which a deletion answers the object itself instead of a Status. */
const ANSWERS_DELETED = new Set([
  'PersistentVolumeClaim',
  'Pod',
  'PodTemplate',
  'ResourceQuota',
  'ServiceAccount',
  'Service',
  'PersistentVolume',
  'DeviceClass',
  'ResourceClaim',
  'ResourceClaimTemplate',
  'ResourceSlice',
  'CSIDriver',
  'CSINode',
  'StorageClass',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

/** Writes one group version's operations; every path of it is told once. */
class Writer {
  readonly #published: PublishedGroupVersion;
  readonly #minor: number;
  readonly #names: ReturnType<typeof operationIdParts>;
  readonly #paths = new Map<string, ApiOperation[]>();

  constructor(published: PublishedGroupVersion, minor: number) {
    this.#published = published;
    this.#minor = minor;
    this.#names = operationIdParts(published);
  }

  async write(pace: Pace): Promise<ApiPath[]> {
    const root = apiPathOf(this.#published);
    if (!this.#isCustom) this.#addRoot(root);
    for (const resource of this.#published.resources) {
      this.#resource(root, resource);
      const turn = pace();
      if (turn) await turn;
    }
    return [...this.#paths].map(([path, operations]) => ({ path, operations }));
  }

  /** Custom resources are published without the paths that upstream's generic server adds to its own. */
  get #isCustom(): boolean {
    return this.#published.schemas !== undefined;
  }

  #addRoot(root: string): void {
    this.#add(`${root}/`, {
      method: 'get',
      id: `get${this.#names.prefix}APIResources`,
      description: 'get available resources',
      parameters: [],
      produces: OBJECT_TYPES,
      consumes: OBJECT_TYPES,
      responses: [[200, { definition: `${META}.APIResourceList` }]],
    });
  }

  #add(path: string, operation: Omit<ApiOperation, 'tag'>): void {
    const known = this.#paths.get(path) ?? [];
    known.push({ ...operation, tag: this.#names.tag });
    this.#paths.set(path, known);
  }

  #definition({ group, version, kind }: GroupVersionKind): string {
    const { schemas } = this.#published;
    const own = schemas?.definitionNameOf(kind);
    if (own !== undefined) return own;
    const struct = structOfKind({ group, version, kind }, this.#minor);
    return struct ? definitionNameOf(struct.id) : `${META}.Patch`;
  }

  #resource(root: string, resource: PublishedResource): void {
    const { namespaced, plural, kind, listKind } = resource;
    const scope = namespaced ? [namespaceParameter] : [];
    const home = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
    const suffix = `${namespaced ? 'Namespaced' : ''}${kind}`;
    const object = this.#definition(resource);
    const list = this.#definition({ ...resource, kind: listKind });
    const item = { path: `${home}/{name}`, scope: [...scope, nameParameter(kind)], kind: resource, object };
    const collection = { path: home, scope, kind: resource, object };
    const has = (verb: Verb): boolean => resource.verbs.includes(verb);
    const describeList = has('watch') ? 'list or watch' : 'list';
    if (has('list')) {
      const said = `${describeList} objects of kind ${kind}`;
      this.#read(collection, 'list', { suffix, said, answers: list });
      if (namespaced) {
        const everywhere = { ...collection, path: `${root}/${plural}`, scope: [] };
        this.#read(everywhere, 'list', { suffix: `${kind}ForAllNamespaces`, said, answers: list });
      }
    }
    if (has('create')) this.#write(collection, 'post', { suffix, said: `create ${kind}` });
    if (has('deletecollection')) this.#delete(collection, 'deletecollection', suffix);
    if (has('get')) this.#read(item, 'get', { suffix, said: `read the ${kind}`, answers: object });
    if (has('update')) this.#write(item, 'put', { suffix, said: `replace the ${kind}` });
    if (has('patch')) this.#write(item, 'patch', { suffix, said: `change parts of the ${kind}` });
    if (has('delete')) this.#delete(item, 'delete', suffix);
    if (has('watch') && !this.#isCustom) this.#watches(root, resource, { item, collection });
    for (const sub of resource.subresources) this.#subresource(item, resource, sub);
  }

  #watches(
    root: string,
    { namespaced, kind, plural }: PublishedResource,
    at: { item: Place; collection: Place },
  ): void {
    const suffix = `${namespaced ? 'Namespaced' : ''}${kind}`;
    const under = (path: string): string => `${root}/watch${path.slice(root.length)}`;
    const answers = `${META}.WatchEvent`;
    const all = {
      suffix: `${suffix}List`,
      said: `watch ${kind} objects. deprecated: list with watch=true`,
      answers,
    };
    const one = {
      suffix,
      said: `watch one ${kind}. deprecated: list with watch=true and a field selector`,
      answers,
    };
    this.#read({ ...at.collection, path: under(at.collection.path) }, 'watchlist', all);
    this.#read({ ...at.item, path: under(at.item.path) }, 'watch', one);
    if (!namespaced) return;
    const everywhere = { ...at.collection, path: `${root}/watch/${plural}`, scope: [] };
    this.#read(everywhere, 'watchlist', { ...all, suffix: `${kind}ListForAllNamespaces` });
  }

  #subresource(item: Place, { namespaced, kind }: PublishedResource, sub: Subresource): void {
    const path = `${item.path}/${sub.name}`;
    const object = this.#definition(sub.kind);
    const scope = [...item.scope.slice(0, -1), nameParameter(sub.kind.kind)];
    const place = { path, scope, kind: sub.kind, object };
    const suffix = `${namespaced ? 'Namespaced' : ''}${kind}${upperFirst(sub.name)}`;
    const said = `${sub.name} of the ${kind}`;
    if (sub.connects) {
      this.#connect(place, sub, suffix, kind);
      if (sub.name !== 'proxy') return;
      const below = { ...place, path: `${path}/{path}`, scope: [...scope, pathParameter] };
      this.#connect(below, sub, `${suffix}WithPath`, kind);
      return;
    }
    if (sub.verbs.includes('get')) {
      if (sub.name === 'log') this.#log(place, suffix, said);
      else this.#read(place, 'get', { suffix, said: `read ${said}`, answers: object });
    }
    if (sub.verbs.includes('update')) this.#write(place, 'put', { suffix, said: `replace ${said}` });
    if (sub.verbs.includes('patch')) this.#write(place, 'patch', { suffix, said: `change parts of ${said}` });
    if (sub.verbs.includes('create')) this.#write(place, 'post', { suffix, said: `create ${said}` });
  }

  #read(
    place: Place,
    action: 'get' | 'list' | 'watch' | 'watchlist',
    what: Said & { answers: string },
  ): void {
    const verb = action === 'get' ? 'read' : action === 'list' ? 'list' : 'watch';
    this.#add(place.path, {
      method: 'get',
      action,
      kind: place.kind,
      id: `${verb}${this.#names.prefix}${what.suffix}`,
      description: what.said,
      parameters: parametersOf(place, [...PARAMETERS_OF_ACTION[action]!, 'pretty']),
      produces: action === 'get' ? OBJECT_TYPES : STREAM_TYPES,
      consumes: ANY_TYPE,
      responses: [[200, { definition: what.answers }]],
    });
  }

  #write(place: Place, action: 'post' | 'put' | 'patch', { suffix, said }: Said): void {
    const verb = { post: 'create', put: 'replace', patch: 'patch' }[action];
    const answer = { definition: place.object };
    const patchTypes = this.#isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
    const consumes = action === 'patch' ? patchTypes : ANY_TYPE;
    this.#add(place.path, {
      method: action,
      action,
      kind: place.kind,
      id: `${verb}${this.#names.prefix}${suffix}`,
      description: said,
      parameters: parametersOf(place, [...PARAMETERS_OF_ACTION[action]!, 'pretty']),
      body: { definition: action === 'patch' ? `${META}.Patch` : place.object, required: true, consumes },
      produces: OBJECT_TYPES,
      consumes,
      responses: [[200, answer], [201, answer], ...(action === 'post' ? [[202, answer] as const] : [])],
    });
  }

  #delete(place: Place, action: 'delete' | 'deletecollection', suffix: string): void {
    const isOne = action === 'delete';
    const { kind } = place.kind;
    const isAnswered = isOne && !this.#isCustom && ANSWERS_DELETED.has(kind);
    const answer = { definition: isAnswered ? place.object : `${META}.Status` };
    this.#add(place.path, {
      method: 'delete',
      action,
      kind: place.kind,
      id: `delete${this.#names.prefix}${isOne ? '' : 'Collection'}${suffix}`,
      description: isOne ? `delete the ${kind}` : `delete a collection of ${kind}`,
      parameters: parametersOf(place, [...PARAMETERS_OF_ACTION[action]!, 'pretty']),
      body: { definition: `${META}.DeleteOptions`, required: false, consumes: ANY_TYPE },
      produces: OBJECT_TYPES,
      consumes: ANY_TYPE,
      responses: [[200, answer], ...(isOne ? [[202, answer] as const] : [])],
    });
  }

  #log(place: Place, suffix: string, said: string): void {
    this.#add(place.path, {
      method: 'get',
      action: 'get',
      kind: place.kind,
      id: `read${this.#names.prefix}${suffix}`,
      description: `read ${said}`,
      parameters: parametersOf(place, [...PARAMETERS_OF_SUBRESOURCE['log']!, 'pretty']),
      produces: ['text/plain', ...OBJECT_TYPES],
      consumes: ANY_TYPE,
      responses: [[200, 'string']],
    });
  }

  #connect(place: Place, sub: Subresource, suffix: string, owner: string): void {
    // A proxy passes every method on; discovery has a verb for five of them.
    const passed = sub.verbs.flatMap((verb) => CONNECT_METHODS[verb] ?? []);
    const methods: Method[] = sub.name === 'proxy' ? [...passed, 'head', 'options'] : passed;
    for (const method of methods)
      this.#add(place.path, {
        method,
        action: 'connect',
        kind: place.kind,
        id: `connect${this.#names.prefix}${upperFirst(method)}${suffix}`,
        description: `connect ${method.toUpperCase()} requests to ${sub.name} of ${owner}`,
        parameters: parametersOf(place, PARAMETERS_OF_SUBRESOURCE[sub.name] ?? []),
        produces: ANY_TYPE,
        consumes: ANY_TYPE,
        responses: [[200, 'string']],
      });
  }
}

/** A path with what it stands for. */
interface Place {
  readonly path: string;
  readonly scope: readonly ApiParameter[];
  readonly kind: GroupVersionKind;
  /** The definition of what is read and written there. */
  readonly object: string;
}

interface Said {
  readonly suffix: string;
  readonly said: string;
}

const byName = (a: ApiParameter, b: ApiParameter): number =>
  a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1;

const parametersOf = ({ scope }: Place, names: readonly string[]): ApiParameter[] =>
  [...scope, ...names.map(queryParameter)].sort(byName);

/** Every path of a group version with its operations, as upstream names them in the given minor. */
export const operationsOf = (
  published: PublishedGroupVersion,
  minor: number,
  pace: Pace,
): Promise<readonly ApiPath[]> => new Writer(published, minor).write(pace);

/** What all operations of a path take is said once, of the path. */
export const sharedParameters = ({ operations }: ApiPath): readonly ApiParameter[] =>
  (operations[0]?.parameters ?? []).filter((parameter) =>
    operations.every(({ parameters }) =>
      parameters.some((other) => other.name === parameter.name && other.in === parameter.in),
    ),
  );

export const ownParameters = (
  operation: ApiOperation,
  shared: readonly ApiParameter[],
): readonly ApiParameter[] =>
  operation.parameters.filter(
    (parameter) => !shared.some((other) => other.name === parameter.name && other.in === parameter.in),
  );
