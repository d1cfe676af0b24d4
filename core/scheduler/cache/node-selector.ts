import { parseInt64 } from '../../api/meta/int64.ts';
import type { LabelColumn } from './label-columns.ts';
import type { Snapshot } from './snapshot.ts';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../model/objects.ts';

/** Tells of each node slot whether it is selected; holds for the snapshot it was compiled for. */
export type SlotMatcher = (slot: number) => boolean;

const NEVER: SlotMatcher = () => false;

const isIn = (column: LabelColumn, values: readonly string[]): SlotMatcher => {
  const wanted: number[] = [];
  for (const value of values) {
    const id = column.idOf.get(value);
    if (id !== undefined) wanted.push(id);
  }
  const { ids } = column;
  const [only] = wanted;
  if (only === undefined) return NEVER;
  if (wanted.length === 1) return (slot) => ids[slot] === only;
  const set = new Set(wanted);
  return (slot) => set.has(ids[slot]!);
};

const compares = (column: LabelColumn, operator: 'Gt' | 'Lt', text: string): SlotMatcher => {
  const bound = parseInt64(text);
  if (bound === undefined) return NEVER;
  const matching = new Uint8Array(column.idBound);
  for (const [value, id] of column.idOf) {
    const number = parseInt64(value);
    if (number !== undefined && (operator === 'Gt' ? number > bound : number < bound)) matching[id] = 1;
  }
  const { ids } = column;
  return (slot) => matching[ids[slot]!] === 1;
};

const compileRequirement = (snapshot: Snapshot, requirement: NodeSelectorRequirement): SlotMatcher => {
  const column = snapshot.labels.column(requirement.key);
  const values = requirement.values ?? [];
  const { ids } = column;
  switch (requirement.operator) {
    case 'In':
      return isIn(column, values);
    case 'NotIn': {
      const matches = isIn(column, values);
      return (slot) => !matches(slot);
    }
    case 'Exists':
      return (slot) => ids[slot] !== 0;
    case 'DoesNotExist':
      return (slot) => ids[slot] === 0;
    case 'Gt':
    case 'Lt':
      return compares(column, requirement.operator, values[0] ?? '');
    default:
      return NEVER;
  }
};

/** The only field that terms may name is `metadata.name`. */
const compileField = (snapshot: Snapshot, requirement: NodeSelectorRequirement): SlotMatcher => {
  if (requirement.key !== 'metadata.name' || requirement.values?.length !== 1) return NEVER;
  const wanted = snapshot.slotOf(requirement.values[0]!);
  if (requirement.operator === 'In') return (slot) => slot === wanted;
  return requirement.operator === 'NotIn' ? (slot) => slot !== wanted : NEVER;
};

const all = (matchers: readonly SlotMatcher[]): SlotMatcher => {
  const [first, second] = matchers;
  if (first === undefined) return NEVER;
  if (second === undefined) return first;
  return (slot) => {
    for (const matches of matchers) if (!matches(slot)) return false;
    return true;
  };
};

/** A term without any requirement selects nothing. */
export const compileTerm = (snapshot: Snapshot, term: NodeSelectorTerm): SlotMatcher =>
  all([
    ...(term.matchExpressions ?? []).map((requirement) => compileRequirement(snapshot, requirement)),
    ...(term.matchFields ?? []).map((requirement) => compileField(snapshot, requirement)),
  ]);

/** Terms are alternatives. */
export const compileNodeSelector = (snapshot: Snapshot, selector: NodeSelector): SlotMatcher => {
  const terms = selector.nodeSelectorTerms.map((term) => compileTerm(snapshot, term));
  const [only] = terms;
  if (terms.length === 1 && only) return only;
  return (slot) => {
    for (const matches of terms) if (matches(slot)) return true;
    return false;
  };
};

/** nodeSelector and required node affinity together; undefined when the pod asks for neither. */
export const compileRequiredNodeAffinity = (snapshot: Snapshot, spec: PodSpec): SlotMatcher | undefined => {
  const parts: SlotMatcher[] = [];
  for (const key in spec.nodeSelector)
    parts.push(isIn(snapshot.labels.column(key), [spec.nodeSelector[key]!]));
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required) parts.push(compileNodeSelector(snapshot, required));
  return parts.length === 0 ? undefined : all(parts);
};
