import type {
  V1ConfigMap,
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1Secret,
  V1Volume,
  V1VolumeProjection,
} from '../../api/schema/index.ts';
import { messageOf } from '../../base/errors.ts';
import { fieldValue, resourceValue, type DownwardContext } from './downward.ts';
import { failedMount } from './errors.ts';
import type { ObjectSource } from './object-source.ts';
import { ownedFile, tokenFile } from './ownership.ts';

export interface VolumeFile {
  readonly content: Uint8Array;
  readonly mode: number;
  /** Owner and group; root without them. */
  readonly uid?: number;
  readonly gid?: number;
  /** Absent: since the volume is there. */
  readonly mtimeMs?: number;
}

/** Files by path below the mount point. Read-only ones are read on every access; scratch ones belong to the pod. */
export interface VolumeContent {
  readonly isWritable: boolean;
  readonly files: Map<string, VolumeFile>;
}

export interface PodVolumes {
  /** Everything that the pod's volumes need is there, else VolumeError `FailedMount`. */
  check(): Promise<void>;
  /** An empty volume for a name that the pod does not define. */
  read(volumeName: string): Promise<VolumeContent>;
}

const FILE_MODE_DEFAULT = 0o644;
const encoder = new TextEncoder();
const fromBase64 = (text: string): Uint8Array => Buffer.from(text, 'base64');

type Data = ReadonlyMap<string, Uint8Array>;

const configMapData = (object: V1ConfigMap): Data =>
  new Map([
    ...Object.entries(object.data ?? {}).map(([key, text]) => [key, encoder.encode(text)] as const),
    ...Object.entries(object.binaryData ?? {}).map(([key, text]) => [key, fromBase64(text)] as const),
  ]);

const secretData = (object: V1Secret): Data =>
  new Map(Object.entries(object.data ?? {}).map(([key, text]) => [key, fromBase64(text)] as const));

interface KeyedSource {
  readonly items?: readonly V1KeyToPath[];
  readonly optional?: boolean;
  readonly mode: number;
}

const pickKeys = (volume: string, data: Data, source: KeyedSource): Map<string, VolumeFile> => {
  if (!source.items || source.items.length === 0)
    return new Map([...data].map(([key, content]) => [key, { content, mode: source.mode }]));
  const files = new Map<string, VolumeFile>();
  for (const { key, path, mode } of source.items) {
    const content = data.get(key);
    if (content) files.set(path, { content, mode: mode ?? source.mode });
    else if (!source.optional) throw failedMount(volume, `references non-existent config key: ${key}`);
  }
  return files;
};

/** What a pod's volumes hold. Nothing is fetched before it is asked for, and nothing is kept but scratch space. */
export const podVolumes = (context: () => DownwardContext, source: ObjectSource): PodVolumes => {
  let scratch: Map<string, VolumeContent> | undefined;
  const namespace = (): string => context().pod.metadata?.namespace ?? '';

  const configMapFiles = async (volume: string, name: string, keyed: KeyedSource) => {
    const object = await source.configMap(namespace(), name);
    if (!object && !keyed.optional) throw failedMount(volume, `configmap "${name}" not found`);
    return object ? pickKeys(volume, configMapData(object), keyed) : new Map<string, VolumeFile>();
  };

  const secretFiles = async (volume: string, name: string, keyed: KeyedSource) => {
    const object = await source.secret(namespace(), name);
    if (!object && !keyed.optional) throw failedMount(volume, `secret "${name}" not found`);
    return object ? pickKeys(volume, secretData(object), keyed) : new Map<string, VolumeFile>();
  };

  const downwardFiles = (
    items: readonly V1DownwardAPIVolumeFile[],
    mode: number,
  ): Map<string, VolumeFile> => {
    const facts = context();
    const [first] = facts.pod.spec?.containers ?? [];
    return new Map(
      items.map((item) => {
        const text = item.fieldRef
          ? fieldValue(facts, item.fieldRef.fieldPath)
          : item.resourceFieldRef && first && resourceValue(facts, item.resourceFieldRef, first);
        return [item.path, { content: encoder.encode(text ?? ''), mode: item.mode ?? mode }];
      }),
    );
  };

  const projectionFiles = async (
    volume: string,
    part: V1VolumeProjection,
    mode: number,
    withTokens: boolean,
  ): Promise<Map<string, VolumeFile>> => {
    const { configMap, secret, downwardAPI, serviceAccountToken } = part;
    if (configMap) return configMapFiles(volume, configMap.name ?? '', { ...configMap, mode });
    if (secret) return secretFiles(volume, secret.name ?? '', { ...secret, mode });
    if (downwardAPI) return downwardFiles(downwardAPI.items ?? [], mode);
    // A token is asked for when a file is read, not for each of ten thousand pods that never look.
    if (serviceAccountToken && withTokens) {
      const token = await source.token(context().pod, serviceAccountToken).catch((error: unknown) => {
        throw failedMount(volume, `failed to fetch token: ${messageOf(error)}`);
      });
      const { path } = serviceAccountToken;
      return new Map([[path, tokenFile(encoder.encode(token), mode, context().pod)]]);
    }
    return new Map();
  };

  const scratchOf = (name: string): VolumeContent => {
    scratch ??= new Map();
    const known = scratch.get(name) ?? { isWritable: true, files: new Map<string, VolumeFile>() };
    scratch.set(name, known);
    return known;
  };

  const load = async (volume: V1Volume, withTokens: boolean): Promise<VolumeContent> => {
    const { name, configMap, secret, downwardAPI, projected } = volume;
    const fixed = (files: Map<string, VolumeFile>): VolumeContent => ({
      isWritable: false,
      files: new Map([...files].map(([path, file]) => [path, ownedFile(file, context().pod)])),
    });
    if (configMap) {
      const mode = configMap.defaultMode ?? FILE_MODE_DEFAULT;
      return fixed(await configMapFiles(name, configMap.name ?? '', { ...configMap, mode }));
    }
    if (secret) {
      const mode = secret.defaultMode ?? FILE_MODE_DEFAULT;
      return fixed(await secretFiles(name, secret.secretName ?? '', { ...secret, mode }));
    }
    if (downwardAPI)
      return fixed(downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode ?? FILE_MODE_DEFAULT));
    if (projected) {
      const mode = projected.defaultMode ?? FILE_MODE_DEFAULT;
      const parts = (projected.sources ?? []).map((part) => projectionFiles(name, part, mode, withTokens));
      return fixed(new Map((await Promise.all(parts)).flatMap((files) => [...files])));
    }
    // Space of its own: emptyDir, claims and everything else that a simulated node cannot hold for real.
    return scratchOf(name);
  };

  return {
    async check() {
      for (const volume of context().pod.spec?.volumes ?? []) await load(volume, false);
    },
    async read(volumeName) {
      const volume = context().pod.spec?.volumes?.find(({ name }) => name === volumeName);
      return volume ? load(volume, true) : { isWritable: false, files: new Map() };
    },
  };
};
