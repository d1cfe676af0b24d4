import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import * as v from 'valibot';
import type { Clock } from '../../base/clock.ts';
import { say, SaidError } from '../../contract/index.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import {
  AUTHENTICATION_CONFIG_FILE,
  authenticationConfigYaml,
  FIRST_AUTHENTICATION_CONFIG,
} from '../manifests/authentication-config.ts';
import { CONTROLLERS } from '../manifests/control-plane.ts';
import { backupsFolder, manifestsFolder, PRIVATE_FOLDER_MODE } from './layout.ts';
import { stateFile } from './state-file.ts';

/** Of a folder without `format.json`, as 0.1.0 made it. */
const FIRST_FORMAT = 1;
const FORMAT_MAX = 1_000_000;

/** One step from a format to the next. Must be repeatable: a crash in it leaves the old format behind. */
export interface Migration {
  readonly to: number;
  migrate(data: string): Promise<void>;
}

/**
 * Turns on what `join` needs where it has its first value: two controllers, bootstrap tokens, and cluster-info without
 * credentials.
 */
const letMachinesJoin = async (data: string): Promise<void> => {
  const hosts = await readdir(join(data, 'hosts')).catch(() => []);
  const replace = async (file: string, change: (text: string) => string): Promise<void> => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    const after = text === undefined ? undefined : change(text);
    if (after !== undefined && after !== text) await writeFileAtomically(file, after);
  };
  for (const host of hosts) {
    await replace(join(manifestsFolder(data, host), 'kube-controller-manager.yaml'), (text) =>
      text.replace(/--controllers=\*$/m, `--controllers=${CONTROLLERS}`),
    );
    await replace(join(manifestsFolder(data, host), 'kube-apiserver.yaml'), (text) =>
      text.includes('--enable-bootstrap-token-auth')
        ? text
        : text.replace(
            /^( *- )--enable-admission-plugins=.*$/m,
            (line, indent) => `${line}\n${indent}--enable-bootstrap-token-auth=true`,
          ),
    );
  }
  await replace(join(data, AUTHENTICATION_CONFIG_FILE), (text) =>
    text === FIRST_AUTHENTICATION_CONFIG ? authenticationConfigYaml() : text,
  );
};

/**
 * Every step since the first format. A change to files that older versions read or write is a new entry here.
 * Format 2 is the first that is recorded; workers have an identity each, where one was shared before. Format 3 lets
 * machines join.
 */
const MIGRATIONS: readonly Migration[] = [
  { to: 2, migrate: (data) => rm(join(data, 'kubeconfig/kubelet-workers.conf'), { force: true }) },
  { to: 3, migrate: letMachinesJoin },
];

/** What a migration may change. Data of etcd, logs and audit events are not among it: they have formats of their own. */
const BACKED_UP = ['cluster.yaml', 'format.json', 'authentication.yaml', 'pki', 'kubeconfig', 'hosts'];
/** Of a host, its manifests alone. */
const LEFT_OUT = /^hosts\/[^/]+\/(?!manifests(\/|$))/;

const formatFile = stateFile({
  schema: v.object({ format: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(FORMAT_MAX)) }),
  path: (data) => join(data, 'format.json'),
  remedy: say('directory.damaged.restore'),
});

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.to ?? FIRST_FORMAT;

const formatOf = async (data: string): Promise<number> =>
  (await formatFile.read(data))?.format ?? FIRST_FORMAT;

/** One line for a folder that a newer version wrote. Call it before reading anything else of the folder. */
export const assertKnownFormat = async (data: string, migrations = MIGRATIONS): Promise<void> => {
  const format = await formatOf(data);
  const newest = newestOf(migrations);
  if (format <= newest) return;
  throw new SaidError('NewerFormat', say('directory.newerFormat', { directory: data, format, newest }));
};

/** The folder appears with everything in it or not at all. Keys stay private. */
const backUp = async (data: string, format: number, nowMs: number): Promise<string> => {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const target = join(backupsFolder(data), `format-${format}-${stamp}`);
  const draft = `${target}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const filter = (path: string): boolean => !LEFT_OUT.test(relative(data, path).replaceAll(sep, '/'));
  for (const name of BACKED_UP) {
    const source = join(data, name);
    if (!existsSync(source)) continue;
    await cp(source, join(draft, name), { recursive: true, preserveTimestamps: true, filter });
  }
  await rename(draft, target);
  return target;
};

/**
 * Brings a folder to the format of this version, behind a backup of what a migration may change. The caller holds the
 * lock of the folder. Returns where the backup is; undefined when nothing was to be done.
 */
export const migrateFormat = async (
  data: string,
  clock: Clock,
  migrations = MIGRATIONS,
): Promise<string | undefined> => {
  await assertKnownFormat(data, migrations);
  const format = await formatOf(data);
  const due = migrations.filter(({ to }) => to > format);
  if (due.length === 0) return undefined;
  const backup = await backUp(data, format, clock.nowMs());
  for (const { to, migrate } of due) {
    await migrate(data);
    await formatFile.write(data, { format: to });
  }
  return backup;
};

/** A new folder starts with the newest format. */
export const recordNewFormat = (data: string): Promise<void> =>
  formatFile.write(data, { format: newestOf(MIGRATIONS) });
