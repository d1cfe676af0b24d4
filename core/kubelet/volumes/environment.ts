import type { V1Container, V1EnvVar } from '../../api/schema/index.ts';
import { fieldValue, resourceValue, type DownwardContext } from './downward.ts';
import { own } from './own.ts';
import { configError } from './errors.ts';
import type { ObjectSource } from './object-source.ts';

const REFERENCE = /\$\$|\$\(([^()]+)\)/g;
/** What the kernel takes of one argument or variable, and of all variables together. */
export const VALUE_CHARACTERS_MAX = 128 * 1024;
export const ENVIRONMENT_CHARACTERS_MAX = 2 * 1024 * 1024;

const tooLong = (what: string): Error => configError(`${what}: argument list too long`);

/**
 * `$(NAME)` as Kubernetes expands it: `$$` is a dollar, an unknown name stays as it is. References to references double
 * with each line of a manifest, so the result is bounded; VolumeError `CreateContainerConfigError` beyond it.
 */
export const expandReferences = (text: string, values: ReadonlyMap<string, string>): string => {
  if (!text.includes('$')) return text;
  let result = '';
  let at = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, name] = match;
    result += text.slice(at, match.index) + (name === undefined ? '$' : (values.get(name) ?? whole));
    at = match.index + whole.length;
    if (result.length > VALUE_CHARACTERS_MAX) throw tooLong(text.slice(0, 64));
  }
  return result + text.slice(at);
};

const fromConfigMap = async (
  source: ObjectSource,
  namespace: string,
  reference: { readonly key: string; readonly name?: string; readonly optional?: boolean },
): Promise<string | undefined> => {
  const { key, name = '', optional } = reference;
  const value = own((await source.configMap(namespace, name))?.data, key);
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
  const value = own(object?.data, key);
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
  let characters = 0;
  for (const [name, value] of values) characters += name.length + value.length;
  if (characters > ENVIRONMENT_CHARACTERS_MAX) throw tooLong(`environment of container ${container.name}`);
  return values;
};
