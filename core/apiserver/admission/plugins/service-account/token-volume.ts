import { generateName } from '../../../../api/meta/index.ts';
import type { Random } from '../../../../base/random.ts';
import type { V1PodSpec, V1Volume } from '../../../../api/schema/index.ts';

const VOLUME_PREFIX = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Seven seconds above an hour: tells tokens that were mounted by default from those that were asked for. */
const TOKEN_EXPIRATION_SECONDS = 3607;
/** 0644 */
const FILE_MODE = 420;

const tokenVolume = (name: string): V1Volume => ({
  name,
  projected: {
    defaultMode: FILE_MODE,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_EXPIRATION_SECONDS } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  },
});

/** Gives every container the token, unless something else is mounted in its place. */
export const mountToken = (spec: V1PodSpec, random: Random): void => {
  const existing = (spec.volumes ?? []).find((volume) => volume.name.startsWith(VOLUME_PREFIX));
  const name = existing?.name ?? generateName(VOLUME_PREFIX, random);
  let isNeeded = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    isNeeded = true;
  }
  if (isNeeded && !existing) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
};
