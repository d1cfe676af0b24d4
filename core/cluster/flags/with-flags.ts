export interface FlagChange {
  readonly name: string;
  /** Null removes the flag. */
  readonly value: string | null;
}

const FLAG_LINE = /^(\s*- )(["']?)--([a-z0-9-]+)(?:=.*)?\2\s*$/;

/** As YAML writes a list item; quoted only where a plain scalar would be read as something else. */
const itemOf = (prefix: string, { name, value }: FlagChange): string => {
  const text = `--${name}=${value}`;
  return `${prefix}${/[:#]\s|["'\\]|\s$/.test(text) ? JSON.stringify(text) : text}`;
};

/** The manifest with these flags. A new flag is added after the last one; all other lines stay as they are. */
export const withFlags = (text: string, changes: readonly FlagChange[]): string => {
  const pending = new Map(changes.map((change) => [change.name, change]));
  const lines = text.split('\n');
  const after: string[] = [];
  let lastFlag: { readonly at: number; readonly prefix: string } | undefined;
  for (const line of lines) {
    const [, prefix, , name] = FLAG_LINE.exec(line) ?? [];
    const change = name === undefined ? undefined : pending.get(name);
    if (change && prefix !== undefined) {
      pending.delete(change.name);
      if (change.value === null) continue;
      after.push(itemOf(prefix, change));
    } else after.push(line);
    if (prefix !== undefined) lastFlag = { at: after.length, prefix };
  }
  const added = [...pending.values()].filter(({ value }) => value !== null);
  if (lastFlag && added.length > 0)
    after.splice(lastFlag.at, 0, ...added.map((change) => itemOf(lastFlag.prefix, change)));
  return after.join('\n');
};
