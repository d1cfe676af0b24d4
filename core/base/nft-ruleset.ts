/** A chain: what makes it a base chain, if it is one, and its rules in order. */
export interface Chain {
  /** `type nat hook prerouting priority dstnat` */
  readonly base?: string;
  readonly rules: readonly string[];
}

/** A set or a map with its elements; those of a dynamic set belong to the kernel. */
export interface Collection {
  readonly kind: 'set' | 'map';
  /** `type ipv4_addr` */
  readonly header: string;
  /** Values of a map by key; empty texts in a set. */
  readonly elements: ReadonlyMap<string, string>;
}

/** What one table of nftables holds. */
export interface Ruleset {
  readonly chains: ReadonlyMap<string, Chain>;
  readonly collections: ReadonlyMap<string, Collection>;
}

export interface TableName {
  readonly family: 'ip' | 'inet';
  readonly name: string;
}

const elementText = (key: string, value: string): string => (value === '' ? key : `${key} : ${value}`);

const sameRules = (a: Chain | undefined, b: Chain): boolean =>
  a !== undefined && a.base === b.base && a.rules.length === b.rules.length
    ? a.rules.every((rule, index) => rule === b.rules[index])
    : false;

const isReplaced = (a: Collection | undefined, b: Collection): boolean =>
  a !== undefined && (a.kind !== b.kind || a.header !== b.header);

/**
 * The commands that lead from one ruleset to the next, for one transaction of `nft -f -`: the kernel takes all or none, and
 * packets see the one or the other. Only what has changed is written. Without a ruleset before, the table is made from
 * nothing, whatever another process has left there.
 */
export const transactionOf = (
  { family, name }: TableName,
  before: Ruleset | undefined,
  after: Ruleset,
): string => {
  const table = `${family} ${name}`;
  const lines: string[] = before ? [] : [`add table ${table}`, `delete table ${table}`, `add table ${table}`];
  const known: Ruleset = before ?? { chains: new Map(), collections: new Map() };
  for (const [set, collection] of after.collections) {
    const old = known.collections.get(set);
    if (isReplaced(old, collection)) throw new Error(`${set} cannot become another kind of set`);
    if (!old) lines.push(`add ${collection.kind} ${table} ${set} { ${collection.header} ; }`);
  }
  for (const [chain, { base }] of after.chains)
    if (!known.chains.has(chain))
      lines.push(`add chain ${table} ${chain}${base === undefined ? '' : ` { ${base} ; }`}`);
  for (const [chain, next] of after.chains) {
    const old = known.chains.get(chain);
    if (sameRules(old, next)) continue;
    if (old) lines.push(`flush chain ${table} ${chain}`);
    for (const rule of next.rules) lines.push(`add rule ${table} ${chain} ${rule}`);
  }
  lines.push(...elementChanges(table, known, after));
  // A chain can go once nothing leads to it: rules first, then elements of maps, then the chain.
  const gone = [...known.chains.keys()].filter((chain) => !after.chains.has(chain));
  for (const chain of gone) lines.push(`flush chain ${table} ${chain}`);
  for (const chain of gone) lines.push(`delete chain ${table} ${chain}`);
  for (const [set, { kind }] of known.collections)
    if (!after.collections.has(set)) lines.push(`delete ${kind} ${table} ${set}`);
  return lines.map((line) => `${line}\n`).join('');
};

const elementChanges = (table: string, known: Ruleset, after: Ruleset): string[] => {
  const lines: string[] = [];
  for (const [set, { elements }] of after.collections) {
    const old = known.collections.get(set)?.elements ?? new Map<string, string>();
    const removed = [...old].filter(([key, value]) => elements.get(key) !== value);
    const added = [...elements].filter(([key, value]) => old.get(key) !== value);
    if (removed.length > 0)
      lines.push(
        `delete element ${table} ${set} { ${removed.map(([key, value]) => elementText(key, value)).join(', ')} }`,
      );
    if (added.length > 0)
      lines.push(
        `add element ${table} ${set} { ${added.map(([key, value]) => elementText(key, value)).join(', ')} }`,
      );
  }
  return lines;
};
