import { parse } from 'yaml';
import type { BackupSchedule } from '../../contract/index.ts';
import { withFlags, type FlagChange } from '../flags/with-flags.ts';
import { flagOf } from '../data-folder/in-flight-limits.ts';

export interface ManifestText {
  readonly host: string;
  readonly component: string;
  readonly path: string;
  readonly text: string;
}

/** The files of a cluster as they are. */
export interface HardeningFacts {
  readonly dataDirectory: string;
  /** Names of nodes that it has or may get. */
  readonly nodes: readonly string[];
  readonly manifests: readonly ManifestText[];
  /** Other configuration files by path; absent: there is none. */
  readonly files: ReadonlyMap<string, string>;
  readonly schedule: BackupSchedule;
  /** Files that other users of the machine can read. */
  readonly exposed: readonly string[];
}

/** The command line in the text of a static pod; empty where it is none. */
export const commandIn = (text: string): readonly string[] => {
  const pod = parse(text) as { spec?: { containers?: { command?: unknown }[] } } | null;
  const command = pod?.spec?.containers?.[0]?.command;
  return Array.isArray(command) ? command.map(String) : [];
};

export interface ManifestEdit extends ManifestText {
  readonly after: string;
  /** Null: the flag is absent. */
  readonly flags: readonly {
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
}

export interface FileEdit {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** The files with pending edits. Measures see the edits of those before them. */
export class HardeningDraft {
  readonly facts: HardeningFacts;
  readonly #manifests: { readonly manifest: ManifestText; after: string; readonly names: Set<string> }[];
  readonly #files = new Map<string, string>();
  schedule: BackupSchedule;
  /** Secrets are encrypted once every API server has the flags. */
  isEncrypting = false;
  closesFiles = false;

  constructor(facts: HardeningFacts) {
    this.facts = facts;
    this.schedule = facts.schedule;
    this.#manifests = facts.manifests.map((manifest) => ({
      manifest,
      after: manifest.text,
      names: new Set(),
    }));
  }

  /** What would be different; two equal texts are the same draft. */
  get fingerprint(): string {
    return JSON.stringify([
      this.#manifests.map(({ after }) => after),
      [...this.#files],
      this.schedule,
      this.isEncrypting,
      this.closesFiles,
    ]);
  }

  get manifestEdits(): readonly ManifestEdit[] {
    return this.#manifests
      .filter(({ manifest, after }) => manifest.text !== after)
      .map(({ manifest, after, names }) => {
        const [was, is] = [commandIn(manifest.text), commandIn(after)];
        const flags = [...names].map((name) => ({
          name,
          before: givenValue(was, name) ?? null,
          after: givenValue(is, name) ?? null,
        }));
        return { ...manifest, after, flags: flags.filter((flag) => flag.before !== flag.after) };
      });
  }

  get fileEdits(): readonly FileEdit[] {
    return [...this.#files].map(([path, after]) => ({ path, before: this.facts.files.get(path), after }));
  }

  commands(component: string): readonly (readonly string[])[] {
    return this.#manifests
      .filter(({ manifest }) => manifest.component === component)
      .map(({ after }) => commandIn(after));
  }

  /** `change` is asked for each host that runs the component. */
  setFlags(
    component: string,
    change: (command: readonly string[], host: string) => readonly FlagChange[],
  ): void {
    for (const edit of this.#manifests) {
      if (edit.manifest.component !== component) continue;
      const command = commandIn(edit.after);
      const changes = change(command, edit.manifest.host).filter(
        ({ name, value }) => (givenValue(command, name) ?? null) !== value,
      );
      for (const { name } of changes) edit.names.add(name);
      edit.after = withFlags(edit.after, changes);
    }
  }

  text(path: string): string | undefined {
    return this.#files.get(path) ?? this.facts.files.get(path);
  }

  write(path: string, text: string): void {
    if (text !== this.text(path)) this.#files.set(path, text);
  }
}

/** A flag without a value is a boolean that is on. */
export const givenValue = (command: readonly string[], name: string): string | undefined =>
  flagOf(command, name) ?? (command.includes(`--${name}`) ? 'true' : undefined);

export const listValue = (command: readonly string[], name: string): readonly string[] =>
  (givenValue(command, name) ?? '').split(',').filter((item) => item !== '');
