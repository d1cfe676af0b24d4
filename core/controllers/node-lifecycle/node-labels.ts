import { isNotFound } from '../../api/meta/index.ts';
import { NODE, type Client, type Node, type Stored } from '../../client/index.ts';

/** Older names that selectors still use; they follow the present ones. */
const COPIES: readonly (readonly [from: string, to: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
];

export const reconcileLabels = async (client: Client, { metadata }: Stored<Node>): Promise<void> => {
  const labels = metadata.labels ?? {};
  const wrong = COPIES.filter(([from, to]) => labels[from] !== undefined && labels[to] !== labels[from]);
  if (wrong.length === 0) return;
  const copies = Object.fromEntries(wrong.map(([from, to]) => [to, labels[from]]));
  try {
    await client
      .resource(NODE)
      .patch(metadata.name, { type: 'strategic', body: { metadata: { labels: copies } } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};
