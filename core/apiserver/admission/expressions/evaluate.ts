import type { KubernetesObject } from '../../../api/meta/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { Value } from '../../../cel/index.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import type { Cel } from './cel.ts';
import type { CompiledExpression } from './compile.ts';
import { VARIABLES_TYPE } from './declarations.ts';
import type { Decisions } from './decisions.ts';

/** What expressions are evaluated over. Objects are in the version that the policy or webhook asked for. */
export interface ExpressionInput {
  readonly attributes: AdmissionAttributes;
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
  readonly request: Readonly<Record<string, unknown>>;
  readonly namespaceObject?: KubernetesObject | undefined;
  readonly params?: KubernetesObject | undefined;
  readonly decisions: Decisions;
  /** The variables of a policy, compiled. */
  readonly variables?: ReadonlyMap<string, CompiledExpression>;
}

/** Of one expression. Both are absent where there was no expression. */
export interface Evaluated {
  readonly value?: Value;
  readonly error?: string;
}

/** All expressions together may cost so much; the one that exceeds it ends them. */
export class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** One request's variables, converted once and shared by all expressions of one policy. */
export class Evaluation {
  readonly #cel: Cel;
  readonly #input: ExpressionInput;
  readonly #values = new Map<string, unknown>();
  /** What lazily computed variables cost since it was last charged. */
  #variablesCost = 0;
  readonly #resolve = (name: string): unknown => this.#value(name);

  constructor(cel: Cel, input: ExpressionInput) {
    this.#cel = cel;
    this.#input = input;
  }

  #value(name: string): unknown {
    if (this.#values.has(name)) return this.#values.get(name);
    const made = this.#make(name);
    this.#values.set(name, made);
    return made;
  }

  #make(name: string): unknown {
    const { fromNative, CelAuthorizer, CelResourceCheck } = this.#cel;
    const { object, oldObject, request, namespaceObject, params, decisions, attributes } = this.#input;
    switch (name) {
      case 'object':
        return fromNative(object ?? null);
      case 'oldObject':
        return fromNative(oldObject ?? null);
      case 'request':
        return fromNative(request);
      case 'namespaceObject':
        return fromNative(namespaceObject ?? null);
      case 'params':
        return fromNative(params ?? null);
      case 'authorizer':
        return new CelAuthorizer(decisions.for(attributes.user));
      case 'authorizer.requestResource':
        return new CelResourceCheck(decisions.for(attributes.user), {
          group: attributes.resource.group,
          resource: attributes.resource.resource,
          subresource: attributes.subresource,
          namespace: attributes.namespace,
          name: attributes.name,
          fieldSelector: '',
          labelSelector: '',
        });
      case 'variables':
        return this.#variables();
      default:
        return undefined;
    }
  }

  #variables(): Value {
    const { LazyStruct, types } = this.#cel;
    const compute = new Map<string, () => Value>();
    for (const [name, compiled] of this.#input.variables ?? [])
      compute.set(name, () => this.#variable(name, compiled));
    return new LazyStruct(types.structOf(VARIABLES_TYPE), compute);
  }

  #variable(name: string, { program, error }: CompiledExpression): Value {
    if (!program) return this.#cel.error(`composited variable ${goQuote(name)} fails to compile: ${error}`);
    const evaluated = program.evaluate(this.#resolve);
    this.#variablesCost += evaluated.cost;
    return evaluated.ok
      ? evaluated.value
      : this.#cel.error(`composited variable ${goQuote(name)} fails to evaluate: ${evaluated.error}`);
  }

  /** In order, within a budget of cost. Answers also what is left of it. */
  async all(
    expressions: readonly (CompiledExpression | undefined)[],
    budget: number,
  ): Promise<{ readonly results: readonly Evaluated[]; readonly remaining: number }> {
    let remaining = budget;
    const results: Evaluated[] = [];
    for (const expression of expressions) {
      if (expression === undefined) {
        results.push({});
        continue;
      }
      const { program, text, error } = expression;
      if (!program) {
        results.push({ error: `compilation error: ${error}` });
        continue;
      }
      let evaluated: ReturnType<typeof program.evaluate> | undefined;
      while (evaluated === undefined)
        try {
          evaluated = program.evaluate(this.#resolve);
        } catch (thrown) {
          if (!(thrown instanceof this.#cel.EvaluationInterrupted)) throw thrown;
          await this.#input.decisions.settle();
        }
      remaining -= this.#variablesCost + evaluated.cost;
      this.#variablesCost = 0;
      if (remaining < 0) throw new OutOfBudget();
      results.push(
        evaluated.ok
          ? { value: evaluated.value }
          : { error: `expression '${text}' resulted in error: ${evaluated.error}` },
      );
    }
    return { results, remaining };
  }
}
