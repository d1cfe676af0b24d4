import type { AdmissionAttributes } from '../attributes.ts';

const VALUE_LENGTH_MAX = 10 * 1024;

/** Audit annotations of one policy: the same value of several bindings counts once, others are joined. */
export class AnnotationCollector {
  readonly #values = new Map<string, string[]>();

  add(key: string, value: string): void {
    const shown = value.slice(0, VALUE_LENGTH_MAX);
    const known = this.#values.get(key) ?? [];
    if (!known.includes(shown)) this.#values.set(key, [...known, shown]);
  }

  publish(policy: string, attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values) attributes.annotate(`${policy}/${key}`, values.join(', '));
  }
}
