import { shellLine } from '../../../core/base/shell-words.ts';
import type { JoiningView } from '../../../core/contract/index.ts';

export interface JoinedNode {
  readonly name: string;
  readonly step: 'registered' | 'starting' | 'ready';
}

/** Nodes that were not there when the token was created, and how far they are. */
export const joinedSince = ({ nodes }: JoiningView, known: readonly string[]): readonly JoinedNode[] =>
  nodes
    .filter(({ name }) => !known.includes(name))
    .map(({ name, isReady, hasReported }) => ({
      name,
      step: isReady ? 'ready' : hasReported ? 'starting' : 'registered',
    }));

/** The command that lets other machines reach a cluster of this console's own. */
export const openLine = (directory: string, addresses: readonly string[]): string =>
  shellLine(['pilothouse', 'up', '--data', directory, '--advertise-address', addresses[0] ?? 'ADDRESS']);
