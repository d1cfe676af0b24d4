import { chmod, chown, lstat, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type {
  V1Container,
  V1HostPathVolumeSource,
  V1Pod,
  V1Volume,
  V1VolumeMount,
} from '../../../api/schema/index.ts';
import { expandReferences } from '../../volumes/environment.ts';
import { failedMount } from '../../volumes/errors.ts';
import type { PodVolumes } from '../../volumes/pod-volumes.ts';
import { AtomicWriter } from './atomic-writer.ts';
import type { CriMount } from './messages.ts';

const FOLDER_MODE = 0o755;
/** Everyone may write, and files get the group of the folder. */
const SCRATCH_MODE = 0o777;
const SETGID = 0o2000;
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

/**
 * The place of a `subPath` in its volume. Each part is looked at: a symbolic link that a container has put there must
 * not lead out of the volume.
 */
export const safeSubPath = async (volume: string, base: string, subPath: string): Promise<string> => {
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || subPath.startsWith('/'))
    throw failedMount(volume, `subPath "${subPath}" must be a relative path without ".."`);
  const root = await realpath(base);
  let at = root;
  for (const part of parts) {
    const next = join(at, part);
    const found = await lstat(next).catch(() => undefined);
    if (!found) await mkdir(next, { mode: FOLDER_MODE });
    at = found?.isSymbolicLink() === true ? await realpath(next) : next;
    if (at !== root && !at.startsWith(`${root}/`))
      throw failedMount(volume, `subPath "${subPath}" leads out of the volume`);
  }
  return at;
};

/** The volumes of one pod as files on disk, below `<root>/pods/<uid>/volumes`. */
export class DiskVolumes {
  readonly #pod: V1Pod;
  readonly #volumes: PodVolumes;
  readonly #folder: string;
  readonly #writers = new Map<string, AtomicWriter>();

  constructor(pod: V1Pod, volumes: PodVolumes, podFolder: string) {
    this.#pod = pod;
    this.#volumes = volumes;
    this.#folder = join(podFolder, 'volumes');
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

  async mountsOf(
    container: V1Container,
    environment: ReadonlyMap<string, string>,
  ): Promise<readonly CriMount[]> {
    const mounts: CriMount[] = [];
    for (const mount of container.volumeMounts ?? []) {
      const volume = this.#pod.spec?.volumes?.find(({ name }) => name === mount.name);
      if (!volume) throw failedMount(mount.name, 'the pod has no such volume');
      mounts.push({
        containerPath: mount.mountPath,
        hostPath: await this.#sourceOf(volume, mount, environment),
        isReadOnly: mount.readOnly === true || fixedKind(volume) !== undefined,
        propagation: PROPAGATION[mount.mountPropagation as keyof typeof PROPAGATION] ?? 0,
      });
    }
    return mounts;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #placeOf(volume: V1Volume): string {
    if (volume.hostPath) return volume.hostPath.path;
    const kind = fixedKind(volume) ?? 'emptyDir';
    return join(this.#folder, FOLDERS[kind], volume.name);
  }

  async #sourceOf(
    volume: V1Volume,
    { subPath, subPathExpr, name }: V1VolumeMount,
    environment: ReadonlyMap<string, string>,
  ): Promise<string> {
    const place = this.#placeOf(volume);
    const path =
      subPathExpr === undefined || subPathExpr === '' ? subPath : expandReferences(subPathExpr, environment);
    return path === undefined || path === '' ? place : safeSubPath(name, place, path);
  }

  async #prepare(volume: V1Volume): Promise<void> {
    const { name, emptyDir, hostPath } = volume;
    const gid = this.#pod.spec?.securityContext?.fsGroup;
    const place = this.#placeOf(volume);
    if (hostPath) return checkHostPath(name, hostPath);
    if (fixedKind(volume)) {
      const { files } = await this.#volumes.read(name);
      const writer = this.#writers.get(name) ?? new AtomicWriter(place);
      this.#writers.set(name, writer);
      await writer.write(files, { gid });
      return;
    }
    if (!emptyDir || (emptyDir.medium ?? '') !== '') {
      const kind = emptyDir
        ? `emptyDir of medium ${emptyDir.medium}`
        : (Object.keys(volume).find((key) => key !== 'name') ?? '');
      throw failedMount(name, `volumes of type ${kind} are not supported on nodes with a container runtime`);
    }
    await mkdir(place, { recursive: true });
    if (gid !== undefined) await chown(place, -1, gid);
    await chmod(place, gid === undefined ? SCRATCH_MODE : SCRATCH_MODE | SETGID);
  }
}
