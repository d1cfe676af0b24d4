import * as v from 'valibot';

/** Names of hosts, components and members are short; what is longer is no name. */
const NAME_CHARACTERS_MAX = 256;
const PATH_CHARACTERS_MAX = 4096;

export const name = v.pipe(v.string(), v.maxLength(NAME_CHARACTERS_MAX));
export const path = v.pipe(v.string(), v.maxLength(PATH_CHARACTERS_MAX));

export const fileName = (file: string): string => file.split(/[/\\]/).at(-1) ?? file;

/** Names of pictures of the console. */
export type ActionIcon =
  | 'cert'
  | 'drill'
  | 'editor'
  | 'leader'
  | 'lock'
  | 'ok'
  | 'pause'
  | 'play'
  | 'plus'
  | 'restart'
  | 'snapshot'
  | 'stopped'
  | 'storage'
  | 'trash'
  | 'unplug'
  | 'upgrade';

/** Which of the texts of an action fits, and what is filled in. */
export interface ActionTitle {
  /** What follows the kind in the key of the text: `.all`. */
  readonly variant?: string;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Everything about one kind of action that does not do it: its text is `action.<kind>` of the console's languages. */
export interface ActionTraits<A> {
  readonly icon: ActionIcon;
  /** Without it the text of the kind, filled with the fields of the action. */
  readonly title?: (action: A) => ActionTitle;
  /** What follows `action.means.` in the key of a sentence about it; without it the title says it all. */
  readonly meaning?: (action: A) => string;
  /** The object that a person types by hand before an action that causes an outage; without it the cluster. */
  readonly subject?: (action: A) => string | undefined;
  /**
   * `always`: a second click cannot take it back, so the subject is typed whatever quorum says.
   * `never`: it only brings something back or adds a copy, even while the cluster is down.
   */
  readonly typing?: 'always' | 'never';
  /** The words after `pilothouse` that do the same; undefined where the command line has none. */
  readonly words?: (action: A) => readonly string[] | undefined;
  /** Another program that does the same. */
  readonly line?: (action: A, kubeconfigPath: string | undefined) => readonly string[];
  /** Asks at checkpoints, between steps that each leave the cluster whole. */
  readonly canPause?: boolean;
  /** The checkpoints are in the process that runs the cluster, so no other one pauses it. */
  readonly isHeldByItsHost?: boolean;
  /** Works on the data directory alone: the cluster need not run. */
  readonly isOffline?: boolean;
}

/** One kind of action: what travels, and its traits. */
export const defineAction = <const K extends string, E extends v.ObjectEntries>(
  kind: K,
  entries: E,
  traits: ActionTraits<v.InferOutput<v.ObjectSchema<E, undefined>>>,
) => ({ schema: v.object({ kind: v.literal(kind), ...entries }), traits });
