import { createFieldManager, fieldElement, FieldSet, type FieldManager } from '../../../api/apply/index.ts';
import {
  apiVersionOf,
  compareKubeVersions,
  parseApiVersion,
  type GroupVersionKind,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import { typeNodeOf } from '../../../api/patch/schema-types.ts';
import type { JsonObject } from '../../../api/patch/json.ts';
import {
  applyDefaults,
  decodeObject,
  fillZeroValues,
  structOf,
  structOfKind,
  type StructType,
} from '../../../api/schema/index.ts';
import { ALL_VERBS, READ_WRITE_VERBS } from '../../../api/scheme/resource-type.ts';
import { printerOf } from '../../../api/scheme/index.ts';
import { rememberingShapes } from '../../handlers/created-fields.ts';
import type { Endpoint } from '../../handlers/endpoint.ts';
import { headOf } from '../../handlers/json-head.ts';
import { GenericStore } from '../../registry/generic/generic-store.ts';
import { PartStore } from '../../registry/generic/part-store.ts';
import type { RestStorage } from '../../registry/rest-storage.ts';
import { scaleOfParent } from '../../registry/subresources/scale.ts';
import { customPrinter } from './columns.ts';
import type { CustomResource, CustomVersion } from './custom-resource.ts';
import { customScaleView, pathOf } from './scale-view.ts';
import { selectableFields, type ServedResource } from './served-resource.ts';
import { customStatusStrategy } from './strategy.ts';

const SCALE: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
/** Custom resources have a schema instead of a type. */
const NO_TYPE: StructType = { id: 'custom', fields: new Map() };
const REPLICAS_PATH = ['spec', 'replicas'];

/** Empty for a version that is not deprecated. */
export const deprecationOf = ({ group, names, versions }: CustomResource, version: CustomVersion): string => {
  if (!version.isDeprecated) return '';
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [newest] = versions
    .filter((one) => one.isServed && !one.isDeprecated && compareKubeVersions(one.name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareKubeVersions);
  const said = `${group}/${version.name} ${names.kind} is deprecated`;
  return newest === undefined ? said : `${said}; use ${group}/${newest} ${names.kind}`;
};

const ignoredFields = ({ resetFields = [] }: RestStorage): FieldSet | undefined =>
  resetFields.length === 0
    ? undefined
    : FieldSet.of(...resetFields.map((path) => path.map((name) => fieldElement(name))));

const fieldManagerOf = (
  served: ServedResource,
  kind: GroupVersionKind,
  { subresource, storage }: { readonly subresource: string; readonly storage: RestStorage },
): FieldManager => {
  const ignored = ignoredFields(storage);
  return rememberingShapes(
    createFieldManager({
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      subresource,
      empty: {},
      versions: {
        typeOf(apiVersion) {
          const gv = parseApiVersion(apiVersion);
          return gv?.group === kind.group ? served.model(gv.version)?.typeNode : undefined;
        },
        // Owners of fields in another version than the request's: what versions call alike is theirs there, too.
        convert: (object, apiVersion) => ({ ...object, apiVersion }),
        ignored: () => ignored,
      },
    }),
  );
};

const NO_FIELDS = { fields: undefined, viewedFields: undefined, viewConfigurations: undefined };

/** What handlers need to know of one version of a custom resource: the object, its status, its scale. */
export const customEndpoints = (
  served: ServedResource,
  version: CustomVersion,
  shared: GenericStore,
): ReadonlyMap<string, Endpoint> => {
  const { resource } = served;
  const { name } = version;
  const kind = served.kindIn(name);
  const hub = served.kindIn(resource.storageVersion);
  const definition = served.definition(version);
  const store = new GenericStore(shared.core.inVersion(definition), definition.strategy);
  const fromHub = (object: KubernetesObject): KubernetesObject => served.convert(object, name);
  const fields = selectableFields(version);
  const base = {
    resource: { group: resource.group, version: name, resource: resource.names.plural },
    namespaced: resource.isNamespaced,
    findStruct: (gvk: GroupVersionKind) => structOfKind(gvk),
    isStrategic: false,
    deprecation: deprecationOf(resource, version),
    unenforced: '',
    listKind: resource.names.listKind,
    fieldsOf: (object: KubernetesObject) => definition.fieldsOf(object),
    resolveField: (label: string) =>
      label === 'metadata.name' ||
      (label === 'metadata.namespace' && resource.isNamespaced) ||
      fields.has(label)
        ? { label }
        : { refusal: `field label not supported: ${label}` },
  };
  const whole = (subresource: string, storage: RestStorage): Endpoint => ({
    ...base,
    ...NO_FIELDS,
    subresource,
    kind,
    hub,
    isHub: name === resource.storageVersion,
    format: `json ${apiVersionOf(kind)}`,
    head: Buffer.from(headOf(kind.kind, apiVersionOf(kind))),
    verbs: subresource === '' ? ALL_VERBS : READ_WRITE_VERBS,
    storage,
    struct: NO_TYPE,
    isCustom: true,
    replicasPath: REPLICAS_PATH,
    decode: (value) => served.mustModel(name).decode(value),
    printer: customPrinter(version.columns, fromHub),
    fields: fieldManagerOf(served, kind, { subresource, storage }),
    complete: (object) => served.mustModel(name).complete(object),
    ...(served.asksForConversion && {
      prepare: (objects: readonly KubernetesObject[]) => served.prepare(objects, name),
    }),
    toHub: (object) => object,
    fromHub,
    objects: {
      equivalents: [version, ...resource.versions.filter((one) => one.isServed && one !== version)].map(
        (one) => ({
          resource: { group: resource.group, version: one.name, resource: resource.names.plural },
          kind: served.kindIn(one.name),
        }),
      ),
      hub: kind,
      typeOf: ({ version: wanted }) => served.model(wanted)?.typeNode,
      async convert(object, to) {
        await served.prepare([object], to.version);
        return served.convert(object, to.version);
      },
      decode(json, { version: wanted }) {
        const model = served.mustModel(wanted);
        const { object } = model.decode(json);
        model.complete(object);
        return object;
      },
    },
  });
  const endpoints = new Map<string, Endpoint>([['', whole('', store)]]);
  if (version.hasStatus) endpoints.set('status', whole('status', new PartStore(store, customStatusStrategy)));
  if (version.scale) {
    const struct = structOf('autoscaling.v1.Scale');
    const storage = scaleOfParent(store, customScaleView(version.scale));
    endpoints.set('scale', {
      ...base,
      subresource: 'scale',
      kind: SCALE,
      hub: SCALE,
      isHub: true,
      format: `json ${apiVersionOf(SCALE)}`,
      head: Buffer.from(headOf(SCALE.kind, apiVersionOf(SCALE))),
      verbs: READ_WRITE_VERBS,
      storage,
      struct,
      isCustom: false,
      replicasPath: pathOf(version.scale.specReplicasPath),
      decode: (value, words) => decodeObject(struct, value, words),
      printer: printerOf(SCALE),
      fields: undefined,
      viewedFields: fieldManagerOf(served, kind, { subresource: 'scale', storage }),
      viewConfigurations: scaleConfigurations(struct),
      complete(object) {
        applyDefaults(struct, object, { minor: 0, now: '' });
        fillZeroValues(struct, object);
      },
      toHub: (object) => object,
      fromHub: (object) => object,
      objects: {
        equivalents: [{ resource: base.resource, kind: SCALE }],
        hub: SCALE,
        convert: (object) => object,
        decode: (json) => decodeObject(struct, json).object,
      },
    });
  }
  return endpoints;
};

const scaleConfigurations = (struct: StructType): FieldManager =>
  createFieldManager({
    apiVersion: apiVersionOf(SCALE),
    kind: SCALE.kind,
    subresource: 'scale',
    empty: {} satisfies JsonObject,
    versions: {
      typeOf: (apiVersion) => (apiVersion === apiVersionOf(SCALE) ? typeNodeOf(struct) : undefined),
      convert: (object) => object,
      ignored: () => undefined,
    },
  });
