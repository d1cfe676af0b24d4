import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { certificatePath, inspectPem, keyPath, updateKubeconfig } from '../../pki/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { advertisedEndpoint } from '../config/endpoints.ts';
import { planHosts } from '../config/hosts.ts';
import { RECONCILER_FLAG } from '../manifests/control-plane.ts';
import { issueMissingLeaves } from './create.ts';
import { adminKubeconfigFile, manifestsFolder } from './layout.ts';

const controlPlanesOf = (config: ClusterConfig): readonly string[] =>
  planHosts(config).flatMap(({ role, name }) => (role === 'control-plane' ? [name] : []));

/** The certificates of API servers name every address under which they are reached; running servers reload them. */
export const reissueServing = async (data: string, config: ClusterConfig, clock: Clock): Promise<void> => {
  const { advertiseAddress } = config.spec;
  for (const host of controlPlanesOf(config)) {
    const base = `hosts/${host}/apiserver`;
    const file = certificatePath(data, base);
    if (!existsSync(file)) continue;
    const names = inspectPem(await readFile(file, 'utf8')).alternativeNames.ipAddresses;
    if (advertiseAddress === undefined || names.includes(advertiseAddress)) continue;
    await rm(file, { force: true });
    await rm(keyPath(data, base), { force: true });
  }
  await issueMissingLeaves(data, config, clock);
};

/** What the administrator copies to other machines works there, too. Components stay on loopback. */
export const readdressAdmin = async (data: string, config: ClusterConfig): Promise<void> => {
  const file = adminKubeconfigFile(data);
  const text = await readFile(file, 'utf8');
  const { address, port } = advertisedEndpoint(config);
  const after = updateKubeconfig(text, file, { server: `https://${address}:${port}` });
  if (after !== text) await writeFileAtomically(file, after);
};

/** With an advertised address the endpoints of `kubernetes` are that address, and not the API servers' own. */
export const withReconciler = (manifest: string, isAdvertised: boolean): string => {
  const without = manifest.replace(/^ *- --endpoint-reconciler-type=.*\n/m, '');
  return isAdvertised
    ? without.replace(
        /^( *- )--enable-bootstrap-token-auth=.*$/m,
        (line, indent: string) => `${line}\n${indent}${RECONCILER_FLAG}`,
      )
    : without;
};

/** Brings the files of a cluster that does not run to another advertised address. */
export const readdress = async (data: string, config: ClusterConfig, clock: Clock): Promise<void> => {
  const isAdvertised = config.spec.advertiseAddress !== undefined;
  for (const host of controlPlanesOf(config)) {
    const file = join(manifestsFolder(data, host), 'kube-apiserver.yaml');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const after = text === undefined ? undefined : withReconciler(text, isAdvertised);
    if (after !== undefined && after !== text) await writeFileAtomically(file, after);
  }
  await reissueServing(data, config, clock);
  await readdressAdmin(data, config);
};
