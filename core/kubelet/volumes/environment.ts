import type { V1Container, V1EnvVar } from '../../api/schema/index.ts';
import { fieldValue, resourceValue, type DownwardContext } from './downward.ts';
import { configError } from './errors.ts';
import type { ObjectSource } from './object-source.ts';

const REFERENCE = /\$\$|\$\(([^()]+)\)/g;

/** `$(NAME)` as Kubernetes expands it: `$$` is a dollar, an unknown name stays as it is. */
export const expandReferences = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(REFERENCE, (match, name: string | undefined) =>
    name === undefined ? '$' : (values.get(name) ?? match),
  );

const fromConfigMap = async (
  source: ObjectSource,
  namespace: string,
  reference: { readonly key: string; readonly name?: string; readonly optional?: boolean },
): Promise<string | undefined> => {
  const { key, name = '', optional } = reference;
  const value = (await source.configMap(namespace, name))?.data?.[key];
  if (value !== undefined || optional) return value;
  if (!(await source.configMap(namespace, name))) throw configError(`configmap "${name}" not found`);
  throw configError(`couldn't find key ${key} in ConfigMap ${namespace}/${name}`);
};

const fromSecret = async (
  source: ObjectSource,
  namespace: string,
  reference: { readonly key: string; readonly name?: string; readonly optional?: boolean },
): Promise<string | undefined> => {
  const { key, name = '', optional } = reference;
  const object = await source.secret(namespace, name);
  const value = object?.data?.[key];
  if (value !== undefined) return Buffer.from(value, 'base64').toString();
  if (optional) return undefined;
  throw configError(
    object ? `couldn't find key ${key} in Secret ${namespace}/${name}` : `secret "${name}" not found`,
  );
};

const valueFrom = async (
  variable: V1EnvVar,
  container: V1Container,
  context: DownwardContext,
  source: ObjectSource,
): Promise<string | undefined> => {
  const namespace = context.pod.metadata?.namespace ?? '';
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = variable.valueFrom ?? {};
  if (configMapKeyRef) return fromConfigMap(source, namespace, configMapKeyRef);
  if (secretKeyRef) return fromSecret(source, namespace, secretKeyRef);
  if (resourceFieldRef) return resourceValue(context, resourceFieldRef, container);
  if (!fieldRef) return undefined;
  const value = fieldValue(context, fieldRef.fieldPath);
  if (value === undefined) throw configError(`unsupported fieldPath: ${fieldRef.fieldPath}`);
  return value;
};

const importAll = async (
  container: V1Container,
  namespace: string,
  source: ObjectSource,
  values: Map<string, string>,
): Promise<void> => {
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) {
      const object = await source.configMap(namespace, configMapRef.name ?? '');
      if (!object && !configMapRef.optional) throw configError(`configmap "${configMapRef.name}" not found`);
      for (const [key, value] of Object.entries(object?.data ?? {})) values.set(prefix + key, value);
    }
    if (secretRef) {
      const object = await source.secret(namespace, secretRef.name ?? '');
      if (!object && !secretRef.optional) throw configError(`secret "${secretRef.name}" not found`);
      for (const [key, value] of Object.entries(object?.data ?? {}))
        values.set(prefix + key, Buffer.from(value, 'base64').toString());
    }
  }
};

/**
 * The environment of a container: the given base first, then `envFrom`, then `env` in order, so that later ones
 * may refer to earlier ones. What is missing is VolumeError `CreateContainerConfigError`.
 */
export const resolveEnvironment = async (
  container: V1Container,
  context: DownwardContext,
  source: ObjectSource,
  base: ReadonlyMap<string, string>,
): Promise<Map<string, string>> => {
  const values = new Map(base);
  await importAll(container, context.pod.metadata?.namespace ?? '', source, values);
  for (const variable of container.env ?? []) {
    const value = variable.valueFrom
      ? await valueFrom(variable, container, context, source)
      : expandReferences(variable.value ?? '', values);
    if (value !== undefined) values.set(variable.name, value);
  }
  return values;
};
