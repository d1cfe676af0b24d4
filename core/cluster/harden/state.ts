import { join } from 'node:path';
import * as v from 'valibot';
import { backupSchedule, hardeningWishes, say } from '../../contract/index.ts';
import { stateFile } from '../data-folder/state-file.ts';

const schema = v.object({
  phase: v.picklist(['applying', 'rolling-back', 'done']),
  startedAt: v.string(),
  wishes: hardeningWishes,
  /** Changed flags by manifest; null: the flag is absent. */
  manifests: v.array(
    v.object({
      host: v.string(),
      component: v.string(),
      flags: v.array(
        v.object({ name: v.string(), before: v.nullable(v.string()), after: v.nullable(v.string()) }),
      ),
    }),
  ),
  files: v.array(v.object({ path: v.string(), before: v.nullable(v.string()), after: v.string() })),
  schedule: v.nullable(backupSchedule),
  /** Turned on by this, and so turned off when it is taken back. */
  isEncrypting: v.boolean(),
  snapshot: v.nullable(v.string()),
});

/** Hardening in progress, or the last one. It holds no key. */
export type HardeningState = v.InferOutput<typeof schema>;

const file = stateFile({
  schema,
  path: (data) => join(data, 'harden.json'),
  remedy: say('directory.damaged.harden'),
});

export const readHardeningState = (data: string): Promise<HardeningState | undefined> => file.read(data);
export const writeHardeningState = (data: string, state: HardeningState): Promise<void> =>
  file.write(data, state);
export const forgetHardening = (data: string): Promise<void> => file.forget(data);

/** What was changed first stays on record: a resumed call finds its own changes. */
export const withEarlier = (state: HardeningState, earlier: HardeningState | undefined): HardeningState => {
  if (!earlier) return state;
  const manifestKey = (one: { host: string; component: string }): string => `${one.host}/${one.component}`;
  const manifests = new Map(earlier.manifests.map((one) => [manifestKey(one), one]));
  for (const one of state.manifests) {
    const flags = new Map(manifests.get(manifestKey(one))?.flags.map((flag) => [flag.name, flag]));
    for (const flag of one.flags)
      flags.set(flag.name, { ...flag, before: (flags.get(flag.name) ?? flag).before });
    manifests.set(manifestKey(one), { ...one, flags: [...flags.values()] });
  }
  const files = new Map(earlier.files.map((one) => [one.path, one]));
  for (const one of state.files) files.set(one.path, { ...one, before: (files.get(one.path) ?? one).before });
  return {
    ...state,
    startedAt: earlier.startedAt,
    manifests: [...manifests.values()],
    files: [...files.values()],
    schedule: earlier.schedule ?? state.schedule,
    isEncrypting: earlier.isEncrypting || state.isEncrypting,
    snapshot: earlier.snapshot ?? state.snapshot,
  };
};
