import { FOLDER_ENTRIES_MAX, type FolderEntry, type FolderListing } from '../../core/contract/index.ts';

/** Output of a listing that is read; names of the most entries fit into it. */
export const LISTING_BYTES_MAX = 4 * 1024 * 1024;

const TYPE_BITS = 0o170000;
const LINK_BITS = 0o120000;
const TYPES: Readonly<Record<number, FolderEntry['type']>> = { 0o040000: 'directory', 0o100000: 'file' };
const PERMISSION_BITS = 0o7777;

/** A folder's path with a `/.` at its end, so that a link to a folder is followed. */
const inside = (folder: string): string => `${folder.replace(/\/+$/, '')}/.`;

/**
 * GNU and busybox agree on these two programs. `mark` is random: a name may hold line breaks, and would else pass for
 * another entry. Links are asked about twice, for themselves and for where they lead.
 */
export const listingCommand = (folder: string, mark: string): string[] => {
  const each = (format: string): string[] => ['-exec', 'stat', ...format.split('|'), '{}', '+'];
  return [
    'find',
    inside(folder),
    '-mindepth',
    '1',
    '-maxdepth',
    '1',
    ...each(`-c|${mark} own %f %s %Y %n`),
    '-type',
    'l',
    ...each(`-L|-c|${mark} led %f %s %Y %n`),
  ];
};

interface Record_ {
  readonly of: string;
  readonly bits: number;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly name: string;
}

const recordsOf = (output: string, folder: string, mark: string): Record_[] => {
  const prefix = `${inside(folder)}/`;
  return output.split(`${mark} `).flatMap((text) => {
    const match = /^(own|led) ([0-9a-f]+) (\d+) (-?\d+) /.exec(text);
    if (!match) return [];
    const path = text.slice(match[0].length).replace(/\n$/, '');
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    if (name === '' || name.includes('/')) return [];
    const [of, bits, size, seconds] = [match[1]!, match[2]!, match[3]!, match[4]!];
    const mtimeMs = Number(seconds) * 1000;
    return [{ of, bits: Number.parseInt(bits, 16), sizeBytes: Number(size), mtimeMs, name }];
  });
};

const byTypeAndName = (a: FolderEntry, b: FolderEntry): number =>
  Number(b.type === 'directory') - Number(a.type === 'directory') || (a.name < b.name ? -1 : 1);

export const parseListing = (
  output: string,
  folder: string,
  mark: string,
): Pick<FolderListing, 'entries' | 'isCut'> => {
  const entries = new Map<string, FolderEntry>();
  let isCut = false;
  for (const { of, bits, name, sizeBytes, mtimeMs } of recordsOf(output, folder, mark)) {
    const type = TYPES[bits & TYPE_BITS] ?? 'other';
    const known = entries.get(name);
    if (of === 'led') {
      if (known) entries.set(name, { ...known, type, sizeBytes });
      continue;
    }
    if (!known && entries.size >= FOLDER_ENTRIES_MAX) {
      isCut = true;
      continue;
    }
    const isLink = (bits & TYPE_BITS) === LINK_BITS;
    entries.set(name, { name, type, isLink, sizeBytes, mode: bits & PERMISSION_BITS, mtimeMs });
  }
  return { entries: [...entries.values()].sort(byTypeAndName), isCut };
};
