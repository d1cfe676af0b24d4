/** A command line and the lines that are expected to answer it. */
export interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** Prose between the steps is kept unchanged when a transcript is rewritten. */
export type Block = { readonly kind: 'prose'; readonly line: string } | ({ readonly kind: 'step' } & Step);

const PROMPT = '> ';
const PROSE = '#';

/**
 * `> command`, then its trace, up to the next command, comment (`# ...`) or empty line.
 */
export const parseTranscript = (text: string): Block[] => {
  const blocks: Block[] = [];
  let trace: string[] | undefined;
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    if (line.startsWith(PROMPT)) {
      trace = [];
      blocks.push({ kind: 'step', command: line.slice(PROMPT.length), expected: trace });
    } else if (line === '' || line.startsWith(PROSE)) {
      trace = undefined;
      blocks.push({ kind: 'prose', line });
    } else if (trace === undefined) {
      throw new Error(`not a command, a trace or a comment: ${line}`);
    } else {
      trace.push(line);
    }
  }
  return blocks;
};

export const formatTranscript = (blocks: readonly Block[]): string =>
  blocks
    .flatMap((block) => (block.kind === 'prose' ? [block.line] : [PROMPT + block.command, ...block.expected]))
    .join('\n') + '\n';
