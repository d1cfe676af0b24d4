import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import {
  ContractError,
  EXTENSIONS_MAX,
  extensionName,
  extensionOfPath,
  saidOf,
  say,
  type ExtensionEntry,
  type ExtensionList,
  type ExtensionRef,
} from '../../core/contract/index.ts';
import { openJsonDocument, type Damage } from '../state/json-document.ts';
import { readExtension } from './extension-folder.ts';
import { composePage, type ExtensionPage } from './extension-page.ts';

/** One consent for each name; more names than this are not kept. */
const CONSENTS_MAX = 64;

const schema = v.object({
  allowed: v.pipe(
    v.array(
      v.object({
        name: v.string(),
        fingerprint: v.string(),
        read: v.array(v.string()),
        allowedAtMs: v.number(),
      }),
    ),
    v.maxLength(CONSENTS_MAX),
  ),
});
type Consent = v.InferOutput<typeof schema>['allowed'][number];

export interface ExtensionsOptions {
  readonly dataDirectory: string;
  readonly nowMs: () => number;
  readonly onDamage: (damage: Damage) => void;
}

/** The extensions of this console, and what a person has consented to. */
export interface Extensions {
  list(): Promise<ExtensionList>;
  allow(ref: ExtensionRef): Promise<ExtensionList>;
  revoke(name: string): Promise<ExtensionList>;
  /** What an extension may read; fails with `ConsentRequired`. */
  readsOf(ref: ExtensionRef): readonly string[];
  /** The document at a path of the console; undefined where there is none, or no consent to it. */
  page(path: string): Promise<ExtensionPage | undefined>;
}

export const openExtensions = ({ dataDirectory, nowMs, onDamage }: ExtensionsOptions): Extensions => {
  const folder = join(dataDirectory, 'extensions');
  const document = openJsonDocument({
    path: join(dataDirectory, 'extension-consents.json'),
    schema,
    initial: { allowed: [] },
    onDamage,
  });
  const consentTo = (name: string): Consent | undefined =>
    document.value.allowed.find((known) => known.name === name);
  const isAllowed = ({ name, fingerprint }: ExtensionRef): boolean =>
    consentTo(name)?.fingerprint === fingerprint;

  const entryOf = async (name: string): Promise<ExtensionEntry> => {
    const base = { name, folder: join(folder, name), wasAllowed: consentTo(name) !== undefined };
    try {
      if (!v.is(extensionName, name))
        throw new ContractError('BadRequest', say('extension.problem.name', { name }));
      const { manifest, fingerprint } = await readExtension(base.folder);
      const { title, description = '', read } = manifest;
      const allowed = isAllowed({ name, fingerprint });
      return { ...base, title, description, read, fingerprint, isAllowed: allowed, problem: null };
    } catch (error) {
      const problem = saidOf(error);
      return { ...base, title: name, description: '', read: [], fingerprint: '', isAllowed: false, problem };
    }
  };

  const list = async (): Promise<ExtensionList> => {
    // Files beside the folders (a README) are no extensions; a link in place of a folder is one that cannot be used.
    const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const names = found
      .filter((entry) => !entry.isFile() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort();
    const extensions: ExtensionEntry[] = [];
    for (const name of names.slice(0, EXTENSIONS_MAX)) extensions.push(await entryOf(name));
    return { folder, extensions, isCut: names.length > EXTENSIONS_MAX };
  };

  return {
    list,
    async allow({ name, fingerprint }) {
      const entry = await entryOf(name);
      if (entry.problem) throw new ContractError('BadRequest', entry.problem);
      if (entry.fingerprint !== fingerprint)
        throw new ContractError('Conflict', say('failure.extension.changed', { name }));
      await document.change(({ allowed }) => {
        const others = allowed.filter((known) => known.name !== name).slice(-(CONSENTS_MAX - 1));
        return { allowed: [...others, { name, fingerprint, read: entry.read, allowedAtMs: nowMs() }] };
      });
      return list();
    },
    async revoke(name) {
      await document.change(({ allowed }) => ({ allowed: allowed.filter((known) => known.name !== name) }));
      return list();
    },
    readsOf(ref) {
      const consent = consentTo(ref.name);
      if (consent?.fingerprint === ref.fingerprint) return consent.read;
      throw new ContractError('ConsentRequired', say('failure.extension.notAllowed', { name: ref.name }));
    },
    async page(path) {
      const ref = extensionOfPath(path);
      if (!ref || !isAllowed(ref)) return undefined;
      const files = await readExtension(join(folder, ref.name)).catch(() => undefined);
      // What is sent is what was read and hashed just now.
      return files?.fingerprint === ref.fingerprint ? composePage(files) : undefined;
    },
  };
};
