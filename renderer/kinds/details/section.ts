import type { StatusTone } from '../status-tone.ts';
import { textAt, textOf, type KubeObject } from '../kube-object.ts';

/** Another object, as the API names it. */
export interface ObjectLink {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Cell {
  readonly text: string;
  /** For what could be pasted into a shell. */
  readonly isMono?: boolean;
  readonly tone?: StatusTone;
  readonly link?: ObjectLink;
  /** Drawn as a bar from 0 to 1 below the text. */
  readonly share?: number;
}

export interface Fact {
  readonly label: string;
  readonly value: Cell;
}

export type Block =
  | { readonly form: 'facts'; readonly title?: string; readonly facts: readonly Fact[] }
  | {
      readonly form: 'table';
      readonly title?: string;
      readonly head: readonly string[];
      readonly rows: readonly (readonly Cell[])[];
    };

/** What a kind says about itself, ready to be drawn: no component knows a kind. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly state?: Cell;
  readonly blocks: readonly Block[];
  /** Said where there is nothing to list. */
  readonly empty?: string;
}

/** Lists that are read beside the object; undefined until they were. */
export interface Related {
  readonly endpointSlices?: readonly KubeObject[] | undefined;
  readonly pods?: readonly KubeObject[] | undefined;
  readonly probeFailures?: readonly ProbeFailure[] | undefined;
}

/** The newest warning that the kubelet wrote about one probe of one container. */
export interface ProbeFailure {
  /** Empty where the event names none: then it may be any container's. */
  readonly container: string;
  readonly probe: ProbeKind;
  readonly message: string;
  readonly atMs: number;
}

export const probeKinds = ['startup', 'readiness', 'liveness'] as const;
export type ProbeKind = (typeof probeKinds)[number];

export const plain = (value: unknown): Cell => ({ text: textOf(value) });
export const mono = (value: unknown): Cell => ({ text: textOf(value), isMono: true });
export const toned = (text: string, tone: StatusTone): Cell => ({ text, tone });
export const linked = (link: ObjectLink, text = link.name): Cell => ({ text, link });
/** `Deployment web`, where the kind does not follow from its label. */
export const linkedKind = (link: ObjectLink): Cell => ({ text: `${link.kind} ${link.name}`, link });

export const coreLink = (kind: string, name: string, namespace = ''): ObjectLink => ({
  apiVersion: 'v1',
  kind,
  namespace,
  name,
});

export const namespaceOf = (object: KubeObject): string => textAt(object, 'metadata', 'namespace');

/** Only what has a value. */
export const facts = (...pairs: readonly (readonly [string, Cell | string | undefined])[]): Fact[] =>
  pairs.flatMap(([label, value]) => {
    const cell = typeof value === 'string' ? plain(value) : value;
    return cell === undefined || cell.text === '' ? [] : [{ label, value: cell }];
  });

/** Only what has rows or facts. */
export const blocks = (...all: readonly (Block | undefined)[]): Block[] =>
  all.filter(
    (block): block is Block =>
      block !== undefined && (block.form === 'facts' ? block.facts.length > 0 : block.rows.length > 0),
  );

export const section = (
  id: string,
  title: string,
  all: readonly Block[],
  more: Pick<Section, 'state' | 'empty'> = {},
): Section[] => (all.length === 0 && more.empty === undefined ? [] : [{ id, title, blocks: all, ...more }]);

/** Every item of a list of plain values, in one line. */
export const joined = (value: unknown): string =>
  Array.isArray(value) ? value.map(textOf).filter(Boolean).join(', ') : '';

/** `app=web, tier=front`. */
export const pairsText = (pairs: readonly (readonly [string, string])[], between = '='): string =>
  pairs.map(([key, value]) => `${key}${between}${value}`).join(', ');
