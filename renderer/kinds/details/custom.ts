import { fieldsOf, textOf, type KubeObject } from '../kube-object.ts';
import { blocks, joined, mono, section, type Fact, type Section } from './section.ts';

/** More of an object is read in its YAML. */
const FACTS_MAX = 40;
const DEPTH_MAX = 3;
/** Shown on their own for every object. */
const SHOWN_ELSEWHERE = new Set(['conditions']);

const factsIn = (value: unknown, path: string, depth: number): Fact[] =>
  Object.entries(fieldsOf(value)).flatMap(([name, inner]): Fact[] => {
    if (SHOWN_ELSEWHERE.has(name)) return [];
    const label = path === '' ? name : `${path}.${name}`;
    const text = Array.isArray(inner) ? joined(inner) : textOf(inner);
    if (text !== '') return [{ label, value: mono(text) }];
    return depth < DEPTH_MAX ? factsIn(inner, label, depth + 1) : [];
  });

/** What an object of any kind says in its spec and status, by the names of its schema. */
export const customSections = (object: KubeObject): Section[] =>
  ['spec', 'status'].flatMap((part) =>
    section(part, part, blocks({ form: 'facts', facts: factsIn(object[part], '', 0).slice(0, FACTS_MAX) })),
  );
