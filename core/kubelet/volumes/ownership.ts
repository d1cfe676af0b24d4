import type { V1Pod, V1Volume } from '../../api/schema/index.ts';
import type { VolumeFile } from './pod-volumes.ts';

const TOP_MODE = 0o777;
const STICKY = 0o1000;
const SETGID = 0o2000;
/** What a group may do with files that no container can write. */
const GROUP_READ = 0o440;
const TOKEN_MODE = 0o600;

/** Kept in memory: what is secret must not be written to a disk of the node. */
export const isInMemory = ({ secret, projected, downwardAPI, emptyDir }: V1Volume): boolean =>
  (secret ?? projected ?? downwardAPI) !== undefined || emptyDir?.medium === 'Memory';

/** The mode of the directory at the top of a volume: that of a tmpfs, or that of a directory for everyone. */
export const topMode = (volume: V1Volume, { spec }: V1Pod): number =>
  TOP_MODE | (isInMemory(volume) ? STICKY : 0) | (spec?.securityContext?.fsGroup === undefined ? 0 : SETGID);

/** Files of ConfigMaps and the like belong to `fsGroup`, which may read them. */
export const ownedFile = (file: VolumeFile, { spec }: V1Pod): VolumeFile => {
  const gid = spec?.securityContext?.fsGroup;
  return gid === undefined ? file : { ...file, gid, mode: file.mode | GROUP_READ };
};

/** The user that every container of the pod runs as; undefined where they differ or the image decides. */
const onlyUser = ({ spec }: V1Pod): number | undefined => {
  const users = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec?.securityContext?.runAsUser,
  );
  return users.every((user) => user === users[0]) ? users[0] : undefined;
};

/** A token is for the pod's one user or its group alone; everyone in the pod may read it where it has neither. */
export const tokenFile = (content: Uint8Array, mode: number, pod: V1Pod): VolumeFile => {
  const fsGroup = pod.spec?.securityContext?.fsGroup;
  const uid = onlyUser(pod);
  const isBound = fsGroup !== undefined || uid !== undefined;
  return { content, mode: isBound ? TOKEN_MODE : mode, ...(uid !== undefined && { uid }) };
};
