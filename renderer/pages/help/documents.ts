import { parseMarkdown, plainText, type Block } from '../../markdown/parse.ts';

const files = import.meta.glob<string>('../../../docs/*.md', {
  eager: true,
  query: '?raw',
  import: 'default',
});

/** In reading order; a document that is not named comes last. */
const ORDER = [
  'tour',
  'concepts',
  'pages',
  'install',
  'nodes',
  'etcd',
  'backup',
  'lost-quorum',
  'drills',
  'extensions',
  'upgrade',
  'security',
  'troubleshooting',
  'commands',
];
export const FIRST_DOCUMENT = ORDER[0]!;

/** Hits that a list can show; more words find fewer. */
const HITS_MAX = 30;
const EXCERPT_CHARACTERS = 120;

export interface HelpDocument {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

export interface HelpHit {
  readonly document: HelpDocument;
  /** The heading above it. */
  readonly heading: string;
  readonly id: string;
  readonly excerpt: string;
}

const placeOf = (name: string): number => {
  const at = ORDER.indexOf(name);
  return at < 0 ? ORDER.length : at;
};

export const documents: readonly HelpDocument[] = Object.entries(files)
  .map(([path, text]) => ({
    name: path.slice(path.lastIndexOf('/') + 1, -'.md'.length),
    title: /^# (.*)$/m.exec(text)?.[1] ?? path,
    text,
  }))
  .filter(({ name }) => name !== 'README')
  .sort((a, b) => placeOf(a.name) - placeOf(b.name));

const textOf = (block: Block): string => {
  if (block.kind === 'code') return block.text;
  if (block.kind === 'list') return block.items.map(plainText).join(' ');
  if (block.kind === 'table')
    return [block.head, ...block.rows].map((row) => row.map(plainText).join(' ')).join(' ');
  return plainText(block.content);
};

interface Section {
  readonly heading: string;
  readonly id: string;
  text: string;
}

const sectionsOf = (text: string): Section[] => {
  const sections: Section[] = [];
  for (const block of parseMarkdown(text))
    if (block.kind === 'heading')
      sections.push({ heading: plainText(block.content), id: block.id, text: '' });
    else if (sections.length > 0) sections.at(-1)!.text += `${textOf(block)} `;
  return sections;
};

const excerptOf = (text: string, word: string): string => {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT_CHARACTERS / 3);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const rest = text.slice(start).replaceAll(/\s+/g, ' ').trim();
  if (rest.length <= EXCERPT_CHARACTERS) return rest;
  return `${rest.slice(0, rest.lastIndexOf(' ', EXCERPT_CHARACTERS))} …`;
};

/** Sections that contain all words; those whose heading does come first. */
export const searchDocuments = (query: string, from: readonly HelpDocument[] = documents): HelpHit[] => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hits = from.flatMap((document) =>
    sectionsOf(document.text).flatMap(({ heading, id, text }) => {
      const all = `${document.title} ${heading} ${text}`.toLowerCase();
      if (!words.every((word) => all.includes(word))) return [];
      const inHeading = words.every((word) => heading.toLowerCase().includes(word));
      return [
        { rank: inHeading ? 0 : 1, hit: { document, heading, id, excerpt: excerptOf(text, words[0]!) } },
      ];
    }),
  );
  return hits
    .sort((a, b) => a.rank - b.rank)
    .slice(0, HITS_MAX)
    .map(({ hit }) => hit);
};
