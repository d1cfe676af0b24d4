import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { fieldElement, FieldSet, type FieldManager } from '../../api/apply/index.ts';
import {
  apiVersionOf,
  formatTime,
  parseApiVersion,
  sameKind,
  type GroupVersionKind,
  type GroupVersionResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { mergeStringData } from '../registry/strategies/data.ts';
import { builtInFields } from '../registry/built-in-fields.ts';
import {
  applyDefaults,
  decodeObject,
  fillZeroValues,
  structOfKind,
  type Decoded,
  type DecodeWords,
  type DefaultsContext,
  type StructType,
} from '../../api/schema/index.ts';
import {
  convertObject,
  fieldLookupOf,
  printerOf,
  registryOf,
  resolveFieldLabel,
  unenforcedWarning,
  type ResourceType,
  type TablePrinter,
  type Verb,
} from '../../api/scheme/index.ts';
import type { FieldLookup } from '../../api/selector/index.ts';
import type { ObjectInterfaces } from '../admission/attributes.ts';
import { valueFieldsOf, type FindStruct } from '../protobuf/index.ts';
import type { RestRegistry, RestStorage } from '../registry/rest-storage.ts';
import type { RequestInfo } from '../server/request-info.ts';
import { rememberingShapes } from './created-fields.ts';
import { deprecationOf } from './deprecations.ts';
import { headOf } from './json-head.ts';
import { objectInterfacesOf } from './object-interfaces.ts';

/**
 * A resource or subresource in one version that it is served in: what handlers need to know to read a request
 * for it and to write its answer. Made once; custom resources bring their own.
 */
export interface Endpoint {
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  /** What requests and answers are, in the version of the path. */
  readonly kind: GroupVersionKind;
  /** The same as storage keeps it. */
  readonly hub: GroupVersionKind;
  readonly isHub: boolean;
  /** Names the JSON of this version among the forms of an object that are kept. */
  readonly format: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly storage: RestStorage;
  readonly struct: StructType;
  /** Reads a body or the result of a patch as the kind; throws a ReasonError with Go's sentence for what is wrong. */
  decode(value: Record<string, unknown>, words?: DecodeWords): Decoded;
  /** Whether any kind may stand in a body until it is validated: custom resources have no scheme of kinds. */
  readonly isCustom: boolean;
  /** Where the replicas of the object behind a Scale are. */
  readonly replicasPath: readonly string[];
  /** The type of any kind in the release that is served. */
  readonly findStruct: FindStruct;
  /** The first bytes of the JSON of every object: a list leaves them out of its items. */
  readonly head: Buffer;
  readonly printer: TablePrinter;
  /** Absent where no one owns fields: what is asked and not kept, and views of another kind such as Scale. */
  readonly fields: FieldManager | undefined;
  /** Of a view: who owns the fields of the object behind it that the view changes. */
  readonly viewedFields: FieldManager | undefined;
  /** Of a view: reads what is applied to it; who owns it is then a matter of the object behind. */
  readonly viewConfigurations: FieldManager | undefined;
  /** Whether strategic merge patches are known for it; custom resources have none. */
  readonly isStrategic: boolean;
  /** Told to anyone who uses it. */
  readonly deprecation: string;
  /** Told to anyone who writes it: that nothing acts upon it. */
  readonly unenforced: string;
  /** In place, on an object in the version of the path: what its author left out. */
  complete(object: Record<string, unknown>): void;
  /** Present where conversion asks another server: called before `fromHub` is, with all objects it will be given. */
  prepare?(objects: readonly KubernetesObject[]): Promise<void>;
  toHub(object: KubernetesObject): KubernetesObject;
  fromHub(object: KubernetesObject): KubernetesObject;
  /** For admission plugins that want objects in a version of their own. */
  readonly objects: ObjectInterfaces;
  /** The values that field selectors may ask for, of an object as it is kept. */
  readonly fieldsOf: (object: KubernetesObject) => FieldLookup;
  resolveField(label: string): { readonly label: string } | { readonly refusal: string };
}

/** Every built-in kind that can be scaled has its replicas there. */
const REPLICAS_PATH = ['spec', 'replicas'];

type EndpointParts = Omit<Endpoint, keyof typeof NO_FIELDS>;

/** No one owns what is asked and never kept. */
const NO_FIELDS = { fields: undefined, viewedFields: undefined, viewConfigurations: undefined };

/** Finds what a path names. */
export interface EndpointSource {
  find(info: RequestInfo): Endpoint | undefined | Promise<Endpoint | undefined>;
}

/** What a write through the endpoint puts back is no one's. */
const ignoredFields = ({ resetFields = [] }: RestStorage): FieldSet | undefined =>
  resetFields.length === 0
    ? undefined
    : FieldSet.of(...resetFields.map((path) => path.map((name) => fieldElement(name))));

export interface BuiltInOptions {
  readonly registry: RestRegistry;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly clock: Clock;
}

/** The endpoints of the built-in kinds, each made when first asked for: at most one for each path of discovery. */
export const builtInEndpoints = (
  options: BuiltInOptions,
): {
  find(info: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): Endpoint | undefined;
} => {
  const scheme = registryOf(options.minor);
  const made = new Map<string, Endpoint>();
  return {
    find({ apiGroup, apiVersion, resource, subresource }) {
      const key = `${apiGroup}/${apiVersion}/${resource}/${subresource}`;
      const known = made.get(key);
      if (known) return known;
      const type = scheme.findByResource({ group: apiGroup, version: apiVersion, resource });
      if (!type) return undefined;
      const endpoint = makeEndpoint(type, subresource, options);
      if (endpoint) made.set(key, endpoint);
      return endpoint;
    },
  };
};

const makeEndpoint = (
  type: ResourceType,
  subresource: string,
  { registry, minor, clock }: BuiltInOptions,
): Endpoint | undefined => {
  const sub = type.subresources.find(({ name }) => name === subresource);
  if (subresource !== '' && !sub) return undefined;
  const storage = registry.storageOf(type.group, type.plural, subresource);
  if (!storage) return undefined;
  const own: GroupVersionKind = { group: type.group, version: type.version, kind: type.kind };
  const kind = sub?.kind ?? own;
  const isOwnKind = sameKind(kind, own);
  const hub = isOwnKind ? (type.storage?.gvk ?? kind) : kind;
  const isConnection = storage.connect !== undefined;
  const struct = isConnection ? NO_OBJECT : requireStruct(kind, minor);
  const hubStruct = isConnection ? NO_OBJECT : requireStruct(hub, minor);
  const defaultsContext = (): DefaultsContext => ({ minor, now: formatTime(clock.nowMs()) });
  const convert = (object: KubernetesObject, to: GroupVersionKind): KubernetesObject => {
    const gv = parseApiVersion(object.apiVersion ?? '') ?? hub;
    return convertObject(object, { ...gv, kind: kind.kind }, to);
  };
  const endpoint: EndpointParts = {
    resource: { group: type.group, version: type.version, resource: type.plural },
    subresource,
    kind,
    hub,
    isHub: sameKind(kind, hub),
    format: `json ${apiVersionOf(kind)}`,
    head: Buffer.from(headOf(kind.kind, apiVersionOf(kind))),
    listKind: type.listKind,
    namespaced: type.namespaced,
    verbs: sub?.verbs ?? type.verbs,
    storage,
    struct,
    decode: (value, words) => decodeObject(struct, value, words, valueFieldsOf),
    isCustom: false,
    replicasPath: REPLICAS_PATH,
    findStruct: (gvk) => structOfKind(gvk, minor),
    printer: printerOf(kind),
    isStrategic: true,
    deprecation: deprecationOf(own),
    unenforced: (subresource === '' && unenforcedWarning({ group: type.group, resource: type.plural })) || '',
    complete(object) {
      if (struct.id === SECRET) mergeStringData(object);
      applyDefaults(struct, object, defaultsContext());
      fillZeroValues(struct, object);
    },
    toHub(object) {
      if (sameKind(kind, hub)) return object;
      const converted = convert(object, hub);
      fillZeroValues(hubStruct, converted);
      return converted;
    },
    fromHub(object) {
      if (sameKind(kind, hub)) return object;
      const converted = convert(object, kind);
      fillZeroValues(struct, converted);
      return converted;
    },
    objects: objectInterfacesOf({ type, subresource, kind, hub, minor, clock }),
    fieldsOf: (object) => fieldLookupOf(hub, object),
    resolveField: (label) => resolveFieldLabel(kind, label),
  };
  if (isConnection || (type.storage === undefined && !isOwnKind)) return { ...endpoint, ...NO_FIELDS };
  // Reviews are not stored, and their answers name owners all the same.
  if (isOwnKind) return { ...endpoint, ...NO_FIELDS, fields: fieldManagerOf(endpoint, minor) };
  const viewed = { ...endpoint, kind: own, struct: requireStruct(own, minor) };
  return {
    ...endpoint,
    fields: undefined,
    viewedFields: fieldManagerOf(viewed, minor),
    viewConfigurations: fieldManagerOf(endpoint, minor),
  };
};

/** Upstream reads its texts as data already, so that they are owned as such. */
const SECRET = 'core.v1.Secret';

/** Connections take options in their query and answer with a stream: no object of theirs has a type. */
const NO_OBJECT: StructType = { id: 'none', fields: new Map() };

const requireStruct = (kind: GroupVersionKind, minor: number): StructType => {
  const struct = structOfKind(kind, minor);
  assert(struct !== undefined, `there is no type for ${apiVersionOf(kind)} ${kind.kind}`);
  return struct;
};

const fieldManagerOf = ({ kind, subresource, struct, storage }: EndpointParts, minor: number): FieldManager =>
  rememberingShapes(builtInFields({ kind, subresource, struct, minor, ignored: ignoredFields(storage) }));
