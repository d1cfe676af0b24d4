import type { Environment, StructDeclaration, StructTypes, Variable, Version } from '../../../cel/index.ts';
import type { Cel } from './cel.ts';

type Type = ReturnType<Cel['types']['listOf']>;

/** What an expression may refer to besides the request and its objects. */
export interface Declared {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** The variables of a policy by name; more may be added while it is compiled. */
  readonly variables?: ReadonlyMap<string, Type>;
  /** Known types instead of dynamic ones, for checking alone. */
  readonly types?: { readonly object?: Variable | undefined; readonly params?: Variable | undefined };
  /** `Object{}` and `JSONPatch{}` of mutating policies. */
  readonly patchTypes?: { readonly structs: StructTypes };
}

export const VARIABLES_TYPE = 'kubernetes.variables';

const typeTable = ({ types }: Cel): ReadonlyMap<string, StructDeclaration> => {
  const { STRING, BOOL, INT, TIMESTAMP, DYN, listOf, mapOf, structOf } = types;
  const table = new Map<string, StructDeclaration>();
  const declare = (name: string, fields: Readonly<Record<string, Type>>): Type => {
    const type = structOf(name);
    table.set(name, {
      type,
      field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
    });
    return type;
  };
  const texts = (...names: readonly string[]): Record<string, Type> =>
    Object.fromEntries(names.map((name) => [name, STRING]));
  const kind = declare('kubernetes.GroupVersionKind', texts('group', 'version', 'kind'));
  const resource = declare('kubernetes.GroupVersionResource', texts('group', 'version', 'resource'));
  const userInfo = declare('kubernetes.UserInfo', {
    ...texts('username', 'uid'),
    groups: listOf(STRING),
    extra: mapOf(STRING, listOf(STRING)),
  });
  declare('kubernetes.AdmissionRequest', {
    ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    userInfo,
    dryRun: BOOL,
    options: DYN,
  });
  const condition = declare('kubernetes.NamespaceCondition', {
    ...texts('status', 'type', 'message', 'reason'),
    lastTransitionTime: TIMESTAMP,
  });
  const metadata = declare('kubernetes.NamespaceMetadata', {
    ...texts('name', 'generateName', 'namespace', 'UID', 'resourceVersion'),
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    creationTimestamp: TIMESTAMP,
    deletionTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    generation: INT,
    finalizers: listOf(STRING),
  });
  declare('kubernetes.Namespace', {
    metadata,
    spec: declare('kubernetes.NamespaceSpec', { finalizers: listOf(STRING) }),
    status: declare('kubernetes.NamespaceStatus', { phase: STRING, conditions: listOf(condition) }),
  });
  return table;
};

let table: ReadonlyMap<string, StructDeclaration> | undefined;

/** The environment of match conditions and policies, as upstream declares it. */
export const admissionEnvironment = (
  cel: Cel,
  version: Version,
  { hasParams, hasAuthorizer, variables, types: known = {}, patchTypes }: Declared,
): Environment => {
  const { types, fromNative, AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE, JSON_PATCH, createEnvironment } = cel;
  const declared = (table ??= typeTable(cel));
  const variablesType = types.structOf(VARIABLES_TYPE);
  const structs: StructTypes = (name) =>
    declared.get(name) ??
    (variables && name === VARIABLES_TYPE
      ? { type: variablesType, field: (field) => variables.get(field) }
      : undefined) ??
    patchTypes?.structs(name);
  const named = (name: string): Variable => ({ type: types.structOf(name), convert: fromNative });
  return createEnvironment({
    version,
    structs,
    ...(patchTypes && { libraries: [JSON_PATCH] }),
    variables: {
      object: known.object ?? types.DYN,
      oldObject: known.object ?? types.DYN,
      namespaceObject: named('kubernetes.Namespace'),
      request: named('kubernetes.AdmissionRequest'),
      ...(hasParams && { params: known.params ?? types.DYN }),
      ...(hasAuthorizer && {
        authorizer: AUTHORIZER_TYPE,
        'authorizer.requestResource': RESOURCE_CHECK_TYPE,
      }),
      ...(variables && { variables: variablesType }),
    },
  });
};
