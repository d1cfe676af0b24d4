import { parseApiVersion, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import { convertObject } from '../../../api/scheme/index.ts';
import type { FindResource, FoundResource } from '../kind-finder.ts';
import type { ConvertCustom, ObjectReader } from '../../storage/object-reader.ts';
import type { Binding, ParamKind, Policy } from './policy.ts';

const kindText = ({ apiVersion, kind }: ParamKind): string => {
  const slash = apiVersion.indexOf('/');
  const [group, version] =
    slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  return `${group}/${version}, Kind=${kind}`;
};

const findParamResource = async (
  { apiVersion, kind }: ParamKind,
  find: FindResource,
): Promise<FoundResource | undefined> => {
  const version = parseApiVersion(apiVersion);
  const found = version && (await find({ ...version, kind }));
  return found?.isStored ? found : undefined;
};

/** A policy whose parameters are of no kind that is served. */
export const missingParamKind = async (policy: Policy, find: FindResource): Promise<string | undefined> =>
  policy.paramKind && !(await findParamResource(policy.paramKind, find))
    ? `failed to find resource referenced by paramKind: '${kindText(policy.paramKind)}'`
    : undefined;

export interface ParamSources {
  readonly reader: ObjectReader;
  readonly find: FindResource;
  readonly convertCustom: ConvertCustom;
}

/**
 * The parameters that a binding evaluates its policy with, one evaluation each. A policy without parameters is evaluated
 * once, with none. An empty list means that nothing was found and that this is all right.
 */
export const collectParams = async (
  { paramKind }: Policy,
  { paramRef }: Binding,
  namespace: string,
  { reader, find, convertCustom }: ParamSources,
): Promise<readonly (KubernetesObject | undefined)[]> => {
  if (!paramKind || !paramRef) return [undefined];
  const resource = await findParamResource(paramKind, find);
  if (!resource) throw new Error(`paramKind kind \`${kindText(paramKind)}\` not known`);
  if (!resource.namespaced && paramRef.namespace !== '')
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const within = resource.namespaced ? paramRef.namespace || namespace : '';
  if (resource.namespaced && within === '')
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  const found = await findParams(resource, within, paramRef, reader);
  if (found.length === 0 && paramRef.deniesMissing)
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  if (resource.isCustom) return convertCustom(found, resource);
  const to = { ...resource, kind: paramKind.kind };
  return found.map((param) => {
    const stored = parseApiVersion(param.apiVersion ?? '') ?? to;
    const converted = convertObject(param, { ...stored, kind: to.kind }, to);
    return { ...converted, apiVersion: paramKind.apiVersion, kind: paramKind.kind };
  });
};

const findParams = async (
  resource: FoundResource,
  namespace: string,
  { name, selector }: NonNullable<Binding['paramRef']>,
  reader: ObjectReader,
): Promise<readonly KubernetesObject[]> => {
  if (name !== '') {
    const found = await reader.get(resource, namespace, name);
    return found ? [found] : [];
  }
  if (!selector) throw new Error('one of name or selector must be provided');
  if (selector instanceof StatusError) throw selector;
  const all = await reader.list(resource, namespace);
  return selector.isEmpty ? all : all.filter(({ metadata }) => selector.matches(metadata?.labels ?? {}));
};
