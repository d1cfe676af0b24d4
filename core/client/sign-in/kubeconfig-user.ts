import { isMap, isSeq, parseDocument, type Document, type YAMLMap, type YAMLSeq } from 'yaml';
import { messageOf, ReasonError } from '../../base/errors.ts';

export interface ExecUser {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const EMPTY = 'apiVersion: v1\nkind: Config\n';

const bad = (text: string): never => {
  throw new ReasonError('BadKubeconfig', `kubeconfig: ${text}`);
};

const listOf = (document: Document, name: string): YAMLSeq => {
  const found = document.get(name);
  if (isSeq(found)) {
    // `users: []` would take the new entry on its one line.
    if (found.items.length === 0) found.flow = false;
    return found;
  }
  if (found !== undefined && found !== null) return bad(`"${name}" is not a list`);
  const made = document.createNode([]);
  document.set(name, made);
  return made;
};

const entryOf = (list: YAMLSeq, name: string): YAMLMap | undefined =>
  list.items.find((item): item is YAMLMap => isMap(item) && item.get('name') === name);

/**
 * Adds or replaces a user that gets its tokens from a command, and lets a context use it: the named one, or else the
 * current one. Everything else in the file, comments included, stays.
 */
export const withExecUser = (
  text: string,
  { name, command, args, env }: ExecUser,
  context: string | undefined,
): { readonly text: string; readonly context: string | undefined } => {
  const document = parseDocument(text.trim() === '' ? EMPTY : text);
  if (document.errors.length > 0) bad(messageOf(document.errors[0]));
  if (!isMap(document.contents)) bad('is not a map');
  const user = {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      interactiveMode: 'Never',
      provideClusterInfo: false,
      command,
      args: [...args],
      ...(Object.keys(env).length > 0 && {
        env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
      }),
    },
  };
  const users = listOf(document, 'users');
  const known = entryOf(users, name);
  if (known) known.set('user', document.createNode(user));
  else users.add(document.createNode({ name, user }));
  const current: unknown = document.get('current-context');
  const wanted = context ?? (typeof current === 'string' && current !== '' ? current : undefined);
  if (wanted !== undefined) {
    const entry = entryOf(listOf(document, 'contexts'), wanted);
    const fields = entry?.get('context');
    if (!isMap(fields)) return bad(`context "${wanted}" not found`);
    fields.set('user', name);
  }
  return { text: document.toString(), context: wanted };
};
