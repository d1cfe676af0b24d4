import { jsonText } from '../../../api/meta/json-text.ts';
import { messageOf } from '../../../base/errors.ts';
import {
  MESSAGE_EXPRESSION_BYTES_MAX,
  RUNTIME_COST_BUDGET,
  toNative,
  type Activation,
} from '../../../cel/index.ts';
import { child, index, key } from '../../../api/field/field-path.ts';
import {
  duplicate,
  forbidden,
  invalid,
  OMITTED,
  required,
  type FieldError,
} from '../../../api/field/field-error.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { ValidationRule } from '../structural/json-schema.ts';
import { isMap } from '../structural/structural.ts';
import type { Correlated } from '../values/correlate.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { RuleNode } from './rule-tree.ts';

const COST_LIMIT = 'operation cancelled: actual cost limit exceeded';
const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** The value here beside the one it replaces, or else the nearest above that has one. */
interface Ratchet {
  readonly current: Correlated | undefined;
  readonly parent: Correlated | undefined;
}

const NO_RATCHET: Ratchet = { current: undefined, parent: undefined };

const isRatcheted = ({ current, parent }: Ratchet): boolean => (current ?? parent)?.isUnchanged === true;

const ratchetMember = (ratchet: Ratchet, name: string): Ratchet => {
  const { current, parent } = ratchet;
  if (!current) return ratchet;
  if (!parent && (name === 'apiVersion' || name === 'kind')) return NO_RATCHET;
  return { current: current.member(name), parent: current };
};

const ratchetItem = (ratchet: Ratchet, at: number): Ratchet =>
  ratchet.current ? { current: ratchet.current.item(at), parent: ratchet.current } : ratchet;

const shownRule = ({ message = '', rule }: ValidationRule): string => (message || rule).trim();

const messageOfRule = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`;

const errorFor = (path: string, value: unknown, detail: string, reason: string | undefined): FieldError => {
  if (reason === 'FieldValueForbidden') return forbidden(path, detail);
  if (reason === 'FieldValueRequired') return required(path, detail);
  return reason === 'FieldValueDuplicate' ? duplicate(path, value) : invalid(path, value, detail);
};

/** One object held against the rules of its schema, within one budget for all of them. */
class Evaluation {
  readonly errors: FieldError[] = [];
  #budget = RUNTIME_COST_BUDGET;
  #isOver = false;

  node(node: RuleNode, path: string, value: unknown, old: unknown, ratchet: Ratchet): void {
    // Only values are validated: whether one may be null is a matter of what surrounds it.
    if (value === null || value === undefined || this.#isOver) return;
    this.#rules(node, path, value, old ?? undefined, ratchet);
    if (this.#isOver) return;
    if (Array.isArray(value)) this.#list(node, path, value, old, ratchet);
    else if (isMap(value)) {
      const before = isMap(old) ? old : {};
      for (const name of Object.keys(value)) {
        const property = node.properties.get(name);
        const below = property ?? (node.schema.properties.has(name) ? undefined : node.values);
        if (!below) continue;
        const at = property ? child(path, name) : key(path, name);
        this.node(below, at, value[name], before[name], ratchetMember(ratchet, name));
      }
    }
  }

  #list(node: RuleNode, path: string, list: readonly unknown[], old: unknown, ratchet: Ratchet): void {
    const { items, schema } = node;
    if (!items) return;
    const keyOf = (item: unknown): string =>
      jsonText(schema.listMapKeys.map((name) => (isMap(item) ? item[name] : undefined)));
    const before = new Map<string, unknown>();
    if (schema.listType === 'map' && Array.isArray(old))
      for (const item of old) before.set(keyOf(item), item);
    for (let at = 0; at < list.length; at += 1)
      this.node(
        items,
        index(path, at),
        list[at],
        before.size > 0 ? before.get(keyOf(list[at])) : undefined,
        ratchetItem(ratchet, at),
      );
  }

  #stop(error: FieldError): void {
    this.errors.push(error);
    this.#isOver = true;
  }

  #rules(node: RuleNode, path: string, value: unknown, old: unknown, ratchet: Ratchet): void {
    const { type } = node.schema;
    if (node.problem !== undefined) {
      this.errors.push(invalid(path, type, `rule compiler initialization error: ${node.problem}`));
      return;
    }
    if (node.rules.length === 0) return;
    if (this.#budget <= 0) return this.#stop(invalid(path, type, OUT_OF_BUDGET));
    const plain = { self: value, ...(old !== undefined && { oldSelf: old }) };
    const optional = { self: value, oldSelf: old ?? null };
    for (const compiled of node.rules) {
      if (this.#isOver) return;
      if (compiled.problem !== undefined) {
        this.errors.push(invalid(path, type, `rule compile error: ${compiled.problem}`));
        continue;
      }
      const isOptional = compiled.rule.optionalOldSelf === true;
      if (!compiled.program || (compiled.usesOldSelf && old === undefined && !isOptional)) continue;
      this.#rule(compiled, { path, type, value, activation: isOptional ? optional : plain, plain, ratchet });
    }
  }

  /** Whether the budget allowed it. */
  #spend(cost: number, over: () => FieldError): boolean {
    if (cost > this.#budget) {
      this.#stop(over());
      return false;
    }
    this.#budget -= cost;
    return true;
  }

  #rule(compiled: CompiledRule, at: Place): void {
    const { rule, program } = compiled;
    const { path, type, value } = at;
    const result = program!.evaluate(at.activation);
    if (!this.#spend(result.cost, () => invalid(path, type, OUT_OF_BUDGET))) return;
    if (!result.ok) {
      const { error } = result;
      if (error.startsWith('no such overload'))
        this.errors.push(
          invalid(
            path,
            type,
            `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${shownRule(rule)}`,
          ),
        );
      else if (result.reason === 'cost-limit')
        this.#stop(
          invalid(
            path,
            type,
            `'${COST_LIMIT}': no further validation rules will be run due to call cost exceeds limit for rule: ${shownRule(rule)}`,
          ),
        );
      else this.errors.push(invalid(path, type, `${error} evaluating rule: ${shownRule(rule)}`));
      return;
    }
    if (result.value === true) return;
    const told = compiled.fieldPath === '' ? path : child(path, compiled.fieldPath);
    const detail = this.#message(compiled, at, told);
    if (detail === undefined) return;
    const shown = type === 'object' || type === 'array' ? OMITTED : value;
    const error = errorFor(told, shown, detail, rule.reason);
    const isTolerated = !compiled.usesOldSelf && isRatcheted(at.ratchet);
    this.errors.push(isTolerated ? { ...error, isTolerated } : error);
  }

  /** Undefined where the message cost more than was left, which is then the error. */
  #message(compiled: CompiledRule, { plain, type }: Place, told: string): string | undefined {
    const { message, rule } = compiled;
    if (!message) return messageOfRule(rule);
    const result = message.evaluate(plain);
    const over =
      'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
    if (!this.#spend(result.cost, () => invalid(told, type, over))) return undefined;
    if (!result.ok) {
      if (result.reason !== 'cost-limit') return messageOfRule(rule);
      const text = `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(rule.messageExpression ?? '')}`;
      this.#stop(invalid(told, type, text));
      return undefined;
    }
    const text = toNative(result.value);
    const trimmed = typeof text === 'string' ? text.trim() : '';
    const isUsable =
      trimmed !== '' && !trimmed.includes('\n') && Buffer.byteLength(trimmed) <= MESSAGE_EXPRESSION_BYTES_MAX;
    return isUsable ? trimmed : messageOfRule(rule);
  }
}

interface Place {
  readonly path: string;
  readonly type: string;
  readonly value: unknown;
  readonly activation: Activation;
  readonly plain: Activation;
  readonly ratchet: Ratchet;
}

export const evaluateRules = (
  root: RuleNode,
  value: unknown,
  old: unknown,
  correlated: Correlated | undefined,
): readonly FieldError[] => {
  const evaluation = new Evaluation();
  try {
    evaluation.node(root, '', value, old, { current: correlated, parent: undefined });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [invalid('', null, `validation rules cannot be evaluated: ${messageOf(error)}`)];
  }
  return evaluation.errors;
};
