export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong' | 'em'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

export type Block =
  | {
      readonly kind: 'heading';
      readonly level: number;
      readonly id: string;
      readonly content: readonly Inline[];
    }
  | { readonly kind: 'paragraph' | 'quote'; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | {
      readonly kind: 'table';
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|!?\[([^\]]*)\]\(([^)\s]+)\)/g;

export const parseInline = (text: string): Inline[] => {
  const parts: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) });
    const [whole, code, strong, em, label, href] = match;
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else if (em !== undefined) parts.push({ kind: 'em', text: em });
    else if (whole.startsWith('!')) parts.push({ kind: 'em', text: label ?? '' });
    else parts.push({ kind: 'link', text: (label ?? '').replaceAll('`', ''), href: href ?? '' });
    from = match.index + whole.length;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
};

export const plainText = (content: readonly Inline[]): string => content.map(({ text }) => text).join('');

/** As on common Git hosts: words of the heading joined by hyphens. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');

const HEADING = /^(#{1,4}) (.*)$/;
const FENCE = /^```/;
const ITEM = /^(?:([-*])|\d{1,3}\.) (.*)$/;
const TABLE_RULE = /^\|[\s|:-]+\|$/;

const cellsOf = (row: string): Inline[][] =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => parseInline(cell.trim().replaceAll('\\|', '|')));

/** Takes lines as long as they belong together. */
class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.replaceAll('\r\n', '\n').split('\n');
  }

  get isDone(): boolean {
    return this.#at >= this.#lines.length;
  }

  peek(ahead = 0): string {
    return this.#lines[this.#at + ahead] ?? '';
  }

  next(): string {
    const line = this.peek();
    this.#at += 1;
    return line;
  }

  takeWhile(belongs: (line: string) => boolean): string[] {
    const taken: string[] = [];
    while (!this.isDone && belongs(this.peek())) taken.push(this.next());
    return taken;
  }
}

const startsBlock = (line: string): boolean =>
  line.trim() === '' || HEADING.test(line) || FENCE.test(line) || ITEM.test(line) || /^[|>]/.test(line);

const takeList = (lines: Lines): Block => {
  const isOrdered = ITEM.exec(lines.peek())?.[1] === undefined;
  const items: Inline[][] = [];
  for (let match = ITEM.exec(lines.peek()); match; match = ITEM.exec(lines.peek())) {
    lines.next();
    const rest = lines.takeWhile((line) => /^\s{2,}\S/.test(line)).map((line) => line.trim());
    items.push(parseInline([match[2], ...rest].join(' ')));
  }
  return { kind: 'list', isOrdered, items };
};

const takeTable = (lines: Lines): Block => {
  const head = cellsOf(lines.next());
  lines.next();
  return { kind: 'table', head, rows: lines.takeWhile((line) => line.startsWith('|')).map(cellsOf) };
};

const takeBlock = (lines: Lines): Block | undefined => {
  const line = lines.peek();
  const heading = HEADING.exec(line);
  if (line.trim() === '') return void lines.next();
  if (heading) {
    lines.next();
    const content = parseInline(heading[2] ?? '');
    return { kind: 'heading', level: heading[1]!.length, id: headingId(plainText(content)), content };
  }
  if (FENCE.test(line)) {
    lines.next();
    const text = lines.takeWhile((one) => !FENCE.test(one)).join('\n');
    lines.next();
    return { kind: 'code', text };
  }
  if (line.startsWith('|') && TABLE_RULE.test(lines.peek(1))) return takeTable(lines);
  if (ITEM.test(line)) return takeList(lines);
  if (line.startsWith('>')) {
    const quoted = lines.takeWhile((one) => one.startsWith('>')).map((one) => one.replace(/^> ?/, ''));
    return { kind: 'quote', content: parseInline(quoted.join(' ')) };
  }
  const text = [lines.next(), ...lines.takeWhile((one) => !startsBlock(one))]
    .map((one) => one.trim())
    .join(' ');
  return { kind: 'paragraph', content: parseInline(text) };
};

/** Never fails: what is no known form is a paragraph. */
export const parseMarkdown = (text: string): Block[] => {
  const lines = new Lines(text);
  const blocks: Block[] = [];
  while (!lines.isDone) {
    const block = takeBlock(lines);
    if (block) blocks.push(block);
  }
  return blocks;
};
