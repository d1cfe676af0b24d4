import type { KubernetesObject } from '../../../api/meta/index.ts';

/** How objects of one kind change from version to version. Versions are names, as `v1`. */
export interface Converter {
  /** Undefined where another server has to be asked. */
  readonly now: ((object: KubernetesObject, version: string) => KubernetesObject) | undefined;
  /** All objects in one version, in their order. Objects given are not changed. */
  convert(objects: readonly KubernetesObject[], version: string): Promise<readonly KubernetesObject[]>;
}

/** Strategy `None`: versions differ in their name alone. */
export const renamingConverter = (group: string): Converter => {
  const now = (object: KubernetesObject, version: string): KubernetesObject => ({
    ...object,
    apiVersion: `${group}/${version}`,
  });
  return { now, convert: async (objects, version) => objects.map((object) => now(object, version)) };
};
