import { existsSync } from 'node:fs';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { AUTHORITIES, keyPath, listExpiry } from '../../pki/index.ts';
import { listFiles } from '../../pki/pki-folder.ts';
import type { ClusterConfig } from '../config/config.ts';
import { endpointsOf } from '../config/endpoints.ts';
import { planHosts } from '../config/hosts.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { whyNotFree } from '../data-folder/network.ts';
import { requireCluster } from '../data-folder/open.ts';
import { fine, problem, warning, type Finding } from './finding.ts';

const FREE_BYTES_MIN = 512 * 1024 * 1024;
const DAY_MS = 86_400_000;
const RENEW_DAYS = 30;

const checkDisk = async (data: string): Promise<Finding> => {
  const { bavail, bsize } = await statfs(data);
  const free = bavail * bsize;
  const text = `${Math.round(free / 1024 / 1024)} MiB free in ${data}`;
  return free >= FREE_BYTES_MIN
    ? fine('disk', text)
    : problem('disk', text, 'free disk space; etcd rejects writes when the disk is full');
};

const checkCertificates = async (data: string, clock: Clock): Promise<Finding[]> => {
  const list = await listExpiry(data, clock);
  const expired = list.filter(({ residualMs }) => residualMs < 0);
  const soon = list.filter(({ residualMs }) => residualMs >= 0 && residualMs < RENEW_DAYS * DAY_MS);
  const names = (some: typeof list): string => some.map(({ name }) => name).join(', ');
  if (expired.length > 0)
    return [problem('certificates', `expired: ${names(expired)}`, 'pilothouse certs renew all')];
  if (soon.length > 0)
    return [
      warning(
        'certificates',
        `expire within ${RENEW_DAYS} days: ${names(soon)}`,
        'pilothouse certs renew all',
      ),
    ];
  return [fine('certificates', `${list.length} certificates, none expire within ${RENEW_DAYS} days`)];
};

const checkKeys = async (data: string): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { base } of Object.values(AUTHORITIES))
    if (!existsSync(keyPath(data, base)))
      findings.push(
        warning(
          'keys',
          `${keyPath(data, base)} is missing`,
          'certificates cannot be renewed without it; restore it from a backup',
        ),
      );
  if (process.platform !== 'win32')
    for (const file of await listFiles(join(data, 'pki'), '.key')) {
      const path = join(data, 'pki', file);
      const mode = (await stat(path)).mode & 0o777;
      if ((mode & 0o077) !== 0)
        findings.push(
          problem('keys', `${path} is readable by other users (${mode.toString(8)})`, `chmod 600 ${path}`),
        );
    }
  return findings.length > 0 ? findings : [fine('keys', 'all keys exist and are private')];
};

const checkManifests = async (data: string, config: ClusterConfig): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { name } of planHosts(config)) {
    const folder = manifestsFolder(data, name);
    for (const file of await readdir(folder).catch(() => [])) {
      const path = join(folder, file);
      try {
        parse(await readFile(path, 'utf8'));
      } catch (error) {
        findings.push(problem('manifests', `${path}: ${yamlFault(error)}`, 'fix the file'));
      }
    }
  }
  return findings.length > 0 ? findings : [fine('manifests', 'all manifests are valid YAML')];
};

const checkPorts = async (config: ClusterConfig): Promise<Finding[]> => {
  const taken: string[] = [];
  for (const endpoint of endpointsOf(config))
    if ((await whyNotFree(endpoint)) !== undefined) taken.push(`${endpoint.address}:${endpoint.port}`);
  return taken.length === 0
    ? [fine('ports', 'all ports of the cluster are free')]
    : [problem('ports', `in use: ${taken.join(', ')}`, 'stop the program that uses them')];
};

/** Looks at everything that a start needs. Ports are looked at only while the cluster does not run itself. */
export const examine = async (
  data: string,
  { clock, isRunning }: { readonly clock: Clock; readonly isRunning: boolean },
): Promise<readonly Finding[]> => {
  let config: ClusterConfig;
  try {
    config = await requireCluster(data);
  } catch (error) {
    return [
      problem(
        'cluster.yaml',
        messageOf(error),
        'restore the file from a backup, or choose another directory',
      ),
    ];
  }
  const guarded = async (name: string, run: () => Promise<Finding[]>): Promise<Finding[]> => {
    try {
      return await run();
    } catch (error) {
      return [problem(name, messageOf(error), 'restore the files from a backup of this directory')];
    }
  };
  const parts = [
    await guarded('disk', async () => [await checkDisk(data)]),
    await guarded('certificates', () => checkCertificates(data, clock)),
    await guarded('keys', () => checkKeys(data)),
    await guarded('manifests', () => checkManifests(data, config)),
    isRunning ? [] : await guarded('ports', () => checkPorts(config)),
  ];
  return [fine('cluster.yaml', `${config.metadata.name}, ${config.spec.kubernetesVersion}`), ...parts.flat()];
};
