import { shallowRef, watch, type Ref, type ShallowRef } from 'vue';
import type { KubeResource } from '../../../core/contract/index.ts';
import { useConnection } from '../../bridge/index.ts';
import { manifestSchema, openApiPath, type Schema } from '../../editor/kube-schema.ts';

const GROUP_VERSIONS_MAX = 32;

/** The schema for the group versions that a text speaks of; each is asked for once a cluster. */
export const useManifestSchema = (
  cluster: Ref<string | undefined>,
  resources: Ref<readonly KubeResource[]>,
  apiVersions: Ref<readonly string[]>,
): { readonly schema: ShallowRef<Schema | undefined>; readonly failed: ShallowRef<string | undefined> } => {
  const connection = useConnection();
  const documents = shallowRef<Readonly<Record<string, Schema>>>({});
  const schema = shallowRef<Schema>();
  const failed = shallowRef<string>();
  const asked = new Set<string>();

  const ask = async (id: string, path: string): Promise<void> => {
    try {
      const { schemas } = await connection.call('kube.openapi', { cluster: id, path });
      if (cluster.value === id) documents.value = { ...documents.value, [path]: schemas as Schema };
    } catch (error) {
      if (cluster.value !== id) return;
      asked.delete(path);
      failed.value = String(error);
    }
  };

  watch(cluster, () => {
    asked.clear();
    documents.value = {};
    failed.value = undefined;
  });
  watch(
    [cluster, resources, () => apiVersions.value.join('\n')],
    () => {
      const id = cluster.value;
      if (id === undefined) return;
      const served = new Set(
        resources.value.map(({ group, version }) => (group === '' ? version : `${group}/${version}`)),
      );
      for (const apiVersion of apiVersions.value.slice(0, GROUP_VERSIONS_MAX)) {
        const path = openApiPath(apiVersion);
        if (!served.has(apiVersion) || asked.has(path)) continue;
        asked.add(path);
        void ask(id, path);
      }
    },
    { immediate: true },
  );
  watch(
    [resources, documents],
    () =>
      (schema.value =
        resources.value.length === 0 ? undefined : manifestSchema(resources.value, documents.value)),
    { immediate: true },
  );
  return { schema, failed };
};
