import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lineDiff } from '../../base/line-diff.ts';
import {
  HARDENING_MEASURES,
  inEnglish,
  say,
  type HardeningFile,
  type HardeningPlan,
  type HardeningWishes,
  type Said,
} from '../../contract/index.ts';
import { exposedFiles } from '../data-folder/exposed-files.ts';
import { readBackupSchedule } from '../backup/schedule.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts, possibleNodeNames } from '../config/hosts.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { fileFlagOf } from '../data-folder/configured-file.ts';
import { newEncryptionYaml } from '../data-folder/encryption-configuration.ts';
import { AUTHENTICATION_CONFIG_FILE } from '../manifests/authentication-config.ts';
import { AUDIT_POLICY_FILE, ENCRYPTION_CONFIG_FILE } from '../manifests/guard-files.ts';
import type { Step } from '../operation/step-report.ts';
import { ADMISSION_CONFIG_FILE } from './configuration-files.ts';
import { commandIn, HardeningDraft, type HardeningFacts, type ManifestText } from './draft.ts';
import { MEASURES } from './measures.ts';
import { readHardeningState } from './state.ts';

/** In the order in which they are changed on a host: nothing is newer than what it talks to. */
const COMPONENTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
] as const;

const FILE_FLAGS = {
  'authentication-config': AUTHENTICATION_CONFIG_FILE,
  'admission-control-config-file': ADMISSION_CONFIG_FILE,
  'audit-policy-file': AUDIT_POLICY_FILE,
} as const;

const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** Reads what measures look at. */
export const hardeningFacts = async (data: string, config: ClusterConfig): Promise<HardeningFacts> => {
  const manifests: ManifestText[] = [];
  for (const { name: host } of planHosts(config))
    for (const component of COMPONENTS) {
      const path = join(manifestsFolder(data, host), `${component}.yaml`);
      const text = await readIfThere(path);
      if (text !== undefined) manifests.push({ host, component, path, text });
    }
  const paths = new Set(Object.values(FILE_FLAGS).map((name) => join(data, name)));
  for (const { component, text } of manifests)
    if (component === 'kube-apiserver')
      for (const flag of Object.keys(FILE_FLAGS)) {
        const path = fileFlagOf(data, commandIn(text), flag);
        if (path !== undefined) paths.add(path);
      }
  const files = new Map<string, string>();
  for (const path of paths) {
    const text = await readIfThere(path);
    if (text !== undefined) files.set(path, text);
  }
  const uid = process.getuid?.();
  return {
    dataDirectory: data,
    nodes: possibleNodeNames(config),
    manifests,
    files,
    schedule: await readBackupSchedule(data),
    exposed: uid === undefined ? [] : (await exposedFiles(data, uid)).map(inEnglish),
  };
};

/** Runs the measures on the facts. Pure. */
export const draftHardening = (
  facts: HardeningFacts,
  wishes: HardeningWishes,
): { readonly draft: HardeningDraft; readonly measures: HardeningPlan['measures'] } => {
  const draft = new HardeningDraft(facts);
  const measures = HARDENING_MEASURES.map((id) => {
    const title = say(`harden.measure.${id}`);
    if (wishes.skip.includes(id)) return { id, title, state: 'skipped' as const, detail: null };
    const before = draft.fingerprint;
    const detail = MEASURES[id](draft, wishes) ?? null;
    const state = detail
      ? ('choice' as const)
      : draft.fingerprint === before
        ? ('done' as const)
        : ('planned' as const);
    return { id, title, state, detail };
  });
  return { draft, measures };
};

/** Manifests of hosts that change alike are one entry. */
const groupedManifests = (draft: HardeningDraft): readonly HardeningFile[] => {
  const groups = new Map<string, { hosts: string[]; path: string; before: string; after: string }>();
  for (const { host, component, path, text, after } of draft.manifestEdits) {
    const changed = lineDiff(text, after).filter(({ kind }) => kind !== 'same');
    const key = JSON.stringify([component, changed]).replaceAll(host, '*');
    const known = groups.get(key);
    if (known) known.hosts.push(host);
    else groups.set(key, { hosts: [host], path, before: text, after });
  }
  return [...groups.values()];
};

/** The file has keys, which are shown to no one. */
const shownEncryption = ({ facts, isEncrypting }: HardeningDraft): readonly HardeningFile[] =>
  isEncrypting
    ? [
        {
          hosts: [],
          path: join(facts.dataDirectory, ENCRYPTION_CONFIG_FILE),
          before: null,
          after: newEncryptionYaml(0)
            .replace(/name: .*/, 'name: key-<time>')
            .replace(/secret: .*/, 'secret: <32 random bytes>'),
        },
      ]
    : [];

const notesOf = (draft: HardeningDraft): readonly Said[] => {
  const { facts, schedule, closesFiles, isEncrypting } = draft;
  return [
    ...(closesFiles ? [say('harden.note.modes', { files: facts.exposed.slice(0, 5).join(', ') })] : []),
    ...(isEncrypting ? [say('harden.note.encrypt')] : []),
    ...(JSON.stringify(schedule) === JSON.stringify(facts.schedule)
      ? []
      : [
          say('harden.note.backups', {
            directory: schedule.directory ?? '',
            minutes: schedule.everyMinutes,
            keep: schedule.keep,
          }),
        ]),
  ];
};

export const isEmptyDraft = (draft: HardeningDraft): boolean =>
  draft.fingerprint === new HardeningDraft(draft.facts).fingerprint;

/** What an operation does; the hosts are those whose manifests change. */
export const hardeningSteps = (draft: HardeningDraft, isEncrypting = draft.isEncrypting): readonly Step[] => {
  const hosts = [...new Set(draft.manifestEdits.map(({ host }) => host))];
  return [
    { id: 'check', title: say('step.harden.check') },
    { id: 'snapshot', title: say('step.harden.snapshot') },
    { id: 'files', title: say('step.harden.files') },
    ...hosts.map((host) => ({ id: host, title: say('step.harden.host', { host }) })),
    ...(isEncrypting ? [{ id: 'encrypt', title: say('step.encryption.encrypt') }] : []),
    { id: 'finish', title: say('step.harden.finish') },
  ];
};

/** What hardening would change. Works on the folder alone. */
export const planHardening = async (
  data: string,
  config: ClusterConfig,
  wishes: HardeningWishes,
): Promise<HardeningPlan> => {
  const { draft, measures } = draftHardening(await hardeningFacts(data, config), wishes);
  const state = await readHardeningState(data);
  const files = draft.fileEdits.map(({ path, before, after }) => ({
    hosts: [],
    path,
    before: before ?? null,
    after,
  }));
  return {
    measures,
    files: [...files, ...shownEncryption(draft), ...groupedManifests(draft)],
    notes: [...notesOf(draft)],
    steps: isEmptyDraft(draft) ? [] : [...hardeningSteps(draft)],
    isUnfinished: state !== undefined && state.phase !== 'done',
    canRollBack: state !== undefined,
  };
};
