import { chmod, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { quantityFrom } from '../../../api/quantity/index.ts';
import type { Log } from '../../../base/log.ts';
import type { V1Container, V1HostPathVolumeSource, V1Pod, V1Volume } from '../../../api/schema/index.ts';
import { configError, failedMount } from '../../volumes/errors.ts';
import type { PodVolumes } from '../../volumes/pod-volumes.ts';
import { isInMemory, topMode } from '../../volumes/ownership.ts';
import { subPathOf } from '../../volumes/sub-path-name.ts';
import { AtomicWriter } from './atomic-writer.ts';
import { bindSubPath, mountMemory } from './bind-mounts.ts';
import type { CriMount } from './messages.ts';
import { openSubPath, resolveSubPath } from './sub-path.ts';

const FOLDER_MODE = 0o755;
const PROPAGATION = { None: 0, HostToContainer: 1, Bidirectional: 2 } as const;

const FIXED_KINDS = ['configMap', 'secret', 'downwardAPI', 'projected'] as const;
const FOLDERS = {
  configMap: 'kubernetes.io~configmap',
  secret: 'kubernetes.io~secret',
  downwardAPI: 'kubernetes.io~downward-api',
  projected: 'kubernetes.io~projected',
  emptyDir: 'kubernetes.io~empty-dir',
} as const;

const fixedKind = (volume: V1Volume) => FIXED_KINDS.find((kind) => volume[kind] !== undefined);

const checkHostPath = async (volume: string, { path, type = '' }: V1HostPathVolumeSource): Promise<void> => {
  if (type === '') return;
  if (type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  if (type === 'FileOrCreate') await writeFile(path, '', { flag: 'a', mode: 0o644 });
  const found = await stat(path).catch(() => undefined);
  const isRight =
    found !== undefined &&
    {
      DirectoryOrCreate: found.isDirectory(),
      Directory: found.isDirectory(),
      FileOrCreate: found.isFile(),
      File: found.isFile(),
      Socket: found.isSocket(),
      CharDevice: found.isCharacterDevice(),
      BlockDevice: found.isBlockDevice(),
    }[type];
  if (isRight !== true)
    throw failedMount(
      volume,
      `hostPath type check failed: ${path} is not a ${type.replace('OrCreate', '').toLowerCase()}`,
    );
};

/** Where a volume of the pod's own is. */
export const emptyDirFolder = (podFolder: string, volume: string): string =>
  join(podFolder, 'volumes', FOLDERS.emptyDir, volume);

/** The volumes of one pod as files on disk, below `<root>/pods/<uid>/volumes`. */
export class DiskVolumes {
  readonly #pod: V1Pod;
  readonly #volumes: PodVolumes;
  readonly #podFolder: string;
  readonly #folder: string;
  readonly #log: Log;
  readonly #writers = new Map<string, AtomicWriter>();

  constructor(pod: V1Pod, volumes: PodVolumes, podFolder: string, log: Log) {
    this.#pod = pod;
    this.#volumes = volumes;
    this.#podFolder = podFolder;
    this.#folder = join(podFolder, 'volumes');
    this.#log = log;
  }

  /** Everything is on disk afterwards, or VolumeError `FailedMount` says what is not. */
  async prepare(): Promise<void> {
    for (const volume of this.#pod.spec?.volumes ?? [])
      try {
        await this.#prepare(volume);
      } catch (error) {
        if (error instanceof Error && error.name === 'VolumeError') throw error;
        throw failedMount(volume.name, messageOf(error));
      }
  }

  /** Contents that have changed: ConfigMaps, Secrets, tokens, labels. */
  async refresh(): Promise<void> {
    for (const volume of this.#pod.spec?.volumes ?? []) if (fixedKind(volume)) await this.#prepare(volume);
  }

  get hasFixed(): boolean {
    return (this.#pod.spec?.volumes ?? []).some(fixedKind);
  }

  /** Mounts subPaths on the way. VolumeError says which mount cannot be had. */
  async mountsOf(
    container: V1Container,
    environment: ReadonlyMap<string, string>,
  ): Promise<readonly CriMount[]> {
    const mounts: CriMount[] = [];
    for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
      const volume = this.#pod.spec?.volumes?.find(({ name }) => name === mount.name);
      if (!volume) throw failedMount(mount.name, 'the pod has no such volume');
      const subPath = subPathOf(mount, environment);
      mounts.push({
        containerPath: mount.mountPath,
        hostPath:
          subPath === ''
            ? this.#placeOf(volume)
            : await this.#bind(volume, { subPath, container: container.name, index }),
        isReadOnly: mount.readOnly === true || fixedKind(volume) !== undefined,
        propagation: PROPAGATION[mount.mountPropagation as keyof typeof PROPAGATION] ?? 0,
      });
    }
    return mounts;
  }

  #placeOf(volume: V1Volume): string {
    if (volume.hostPath) return volume.hostPath.path;
    const kind = fixedKind(volume) ?? 'emptyDir';
    return join(this.#folder, FOLDERS[kind], volume.name);
  }

  /** Where the subPath is mounted. People read upstream's words: more would tell about the files of the machine. */
  async #bind(
    volume: V1Volume,
    { subPath, ...place }: { readonly subPath: string; readonly container: string; readonly index: number },
  ): Promise<string> {
    const { name } = volume;
    try {
      const opened = await openSubPath(await resolveSubPath(this.#placeOf(volume), subPath));
      try {
        return await bindSubPath(opened, { ...place, volume: name, podFolder: this.#podFolder });
      } finally {
        await opened.close();
      }
    } catch (error) {
      const { uid: pod } = this.#pod.metadata ?? {};
      const fields = { pod, container: place.container, volume: name, subPath, error: messageOf(error) };
      this.#log.write('warn', 'a subPath could not be mounted', fields);
      throw configError(
        `failed to prepare subPath for volumeMount "${name}" of container "${place.container}"`,
      );
    }
  }

  async #prepare(volume: V1Volume): Promise<void> {
    const { name, emptyDir, hostPath } = volume;
    const gid = this.#pod.spec?.securityContext?.fsGroup;
    const place = this.#placeOf(volume);
    if (hostPath) return checkHostPath(name, hostPath);
    if (fixedKind(volume)) {
      const { files } = await this.#volumes.read(name);
      if (isInMemory(volume)) await mountMemory(place);
      const writer = this.#writers.get(name) ?? new AtomicWriter(place);
      this.#writers.set(name, writer);
      await writer.write(files, { gid, mode: topMode(volume, this.#pod) });
      return;
    }
    const medium = emptyDir?.medium ?? '';
    if (!emptyDir || (medium !== '' && medium !== 'Memory')) {
      const kind = emptyDir
        ? `emptyDir of medium ${medium}`
        : (Object.keys(volume).find((key) => key !== 'name') ?? '');
      throw failedMount(name, `volumes of type ${kind} are not supported on nodes with a container runtime`);
    }
    await mkdir(place, { recursive: true });
    if (medium === 'Memory') await mountMemory(place, quantityFrom(emptyDir.sizeLimit).toNumber());
    if (gid !== undefined) await chown(place, -1, gid);
    await chmod(place, topMode(volume, this.#pod));
  }
}
