import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import { join } from 'node:path';
import type { ClientConfig } from './config.ts';
import { ClientError } from './errors.ts';

const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The configuration of a pod's service account, as the kubelet mounts it. */
export const inClusterConfig = async (
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder = SERVICE_ACCOUNT_FOLDER,
): Promise<ClientConfig> => {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port)
    throw new ClientError(
      'BadConfig',
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    );
  let namespace: string;
  try {
    namespace = (await readFile(join(folder, 'namespace'), 'utf8')).trim();
  } catch (cause) {
    throw new ClientError('BadConfig', `unable to load in-cluster configuration: ${messageOf(cause)}`, {
      cause,
    });
  }
  return {
    servers: [`https://${host.includes(':') ? `[${host}]` : host}:${port}`],
    authority: { file: join(folder, 'ca.crt') },
    auth: { tokenFile: join(folder, 'token') },
    namespace,
  };
};
