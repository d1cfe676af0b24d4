import { forbidden, StatusError, type KubernetesObject, type StatusReason } from '../../../api/meta/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { admissionRequestOf } from '../expressions/admission-request.ts';
import { loadCel, type Cel } from '../expressions/cel.ts';
import { Decisions } from '../expressions/decisions.ts';
import { Evaluation } from '../expressions/evaluate.ts';
import { shownName } from '../refusal.ts';
import { versionedObjects } from '../webhooks/hook-matching.ts';
import { AnnotationCollector } from './annotation-collector.ts';
import { compileValidatingPolicy, type CompiledValidatingPolicy } from './compiled-policy.ts';
import {
  invocationsOf,
  namespaceObjectOf,
  type ConfigurationError,
  type PolicyInvocation,
} from './invocations.ts';
import { errorTypeOf, type PolicyAction } from './metrics.ts';
import { isExcluded } from './policy-matching.ts';
import { matchConditions, type PolicyPluginOptions } from './policy-plugin.ts';
import type { BoundPolicy } from './policy-table.ts';
import type { Policy } from './policy.ts';
import { evaluateValidatingPolicy, type PolicyDecision, type PolicyResult } from './validate-policy.ts';

const KIND = 'ValidatingAdmissionPolicy';
const FAILURE_KEY = 'validation.policy.admission.k8s.io/validation_failure';
const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
};
const INVALID_CODE = 422;

type Denial = ConfigurationError & { readonly reason: string };

const denialError = (attributes: AdmissionAttributes, denial: Denial): StatusError => {
  const { policy, binding } = denial;
  const of = binding ? `'${policy.name}' with binding '${binding.name}'` : `'${policy.name}'`;
  const text = `${KIND} ${of} denied request: ${denial.message}`;
  const { message, details } = forbidden(attributes.resource, shownName(attributes), text);
  const reason = denial.reason || 'Invalid';
  return new StatusError(reason as StatusReason, message, {
    code: CODES[reason] ?? INVALID_CODE,
    details: { ...details, causes: [{ message: text }] },
  });
};

/** One request on its way through all policies. */
class PolicyRun {
  readonly #attributes: AdmissionAttributes;
  readonly #options: PolicyPluginOptions;
  readonly #cel: Cel;
  readonly #compile: (policy: Policy) => Promise<CompiledValidatingPolicy>;
  readonly #decisions: Decisions;
  readonly denials: Denial[] = [];
  #namespace: Promise<KubernetesObject | undefined> | undefined;

  constructor(
    attributes: AdmissionAttributes,
    options: PolicyPluginOptions,
    cel: Cel,
    compile: (policy: Policy) => Promise<CompiledValidatingPolicy>,
  ) {
    this.#attributes = attributes;
    this.#options = options;
    this.#cel = cel;
    this.#compile = compile;
    this.#decisions = new Decisions(cel, options.authorizer);
  }

  async check(bound: BoundPolicy): Promise<void> {
    const { invocations, errors } = await invocationsOf(bound, this.#attributes, this.#options);
    const { policy } = bound;
    if (!policy.failsOpen) this.denials.push(...errors.map((error) => ({ ...error, reason: '' })));
    if (invocations.length === 0) return;
    const annotations = new AnnotationCollector();
    const versioned = await versionedObjects(this.#attributes, invocations[0]!.matched);
    for (const invocation of invocations) await this.#evaluate(invocation, versioned, annotations);
    annotations.publish(policy.name, this.#attributes);
  }

  async #evaluate(
    invocation: PolicyInvocation,
    versioned: Awaited<ReturnType<typeof versionedObjects>>,
    annotations: AnnotationCollector,
  ): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const { decisions, annotations: results } = await this.#resultOf(invocation, versioned);
    const durationMs = (clock.monotonicMs() - startMs) / Math.max(1, decisions.length);
    for (const [at, decision] of decisions.entries()) this.#act(invocation, decision, at, durationMs);
    for (const { key, value, error } of results) {
      if (value !== undefined) annotations.add(key, value);
      if (error !== undefined) this.#deny(invocation, { message: error, reason: '' }, 0);
    }
  }

  async #resultOf(
    { policy, matched, param }: PolicyInvocation,
    versioned: Awaited<ReturnType<typeof versionedObjects>>,
  ): Promise<PolicyResult> {
    const attributes = this.#attributes;
    const program = await this.#compile(policy);
    this.#namespace ??= namespaceObjectOf(attributes, this.#options.reader);
    const evaluation = new Evaluation(this.#cel, {
      ...versioned,
      attributes,
      request: admissionRequestOf(attributes, matched),
      namespaceObject: await this.#namespace,
      params: param,
      decisions: this.#decisions,
      variables: program.head.variables,
    });
    return evaluateValidatingPolicy(program, evaluation, policy.failsOpen, () =>
      matchConditions(policy, program.head, evaluation, attributes, this.#options),
    );
  }

  #observe(
    { policy, binding }: PolicyInvocation,
    message: string,
    action: PolicyAction,
    durationMs: number,
  ): void {
    const error = errorTypeOf(message);
    this.#options.metrics.checked(policy.name, binding.name, { error, action, durationMs });
  }

  #record({ policy, binding }: PolicyInvocation, outcome: 'denied' | 'warned', message: string): void {
    this.#attributes.record({ kind: KIND, name: policy.name, part: binding.name, outcome, message });
  }

  #deny(
    invocation: PolicyInvocation,
    { message, reason }: Pick<PolicyDecision, 'message' | 'reason'>,
    durationMs: number,
  ): void {
    const { policy, binding } = invocation;
    this.denials.push({ policy, binding, message, reason });
    this.#observe(invocation, message, 'deny', durationMs);
    this.#record(invocation, 'denied', message);
  }

  #act(invocation: PolicyInvocation, decision: PolicyDecision, at: number, durationMs: number): void {
    const { denies, isError, message } = decision;
    const { policy, binding } = invocation;
    if (!denies) {
      if (isError) this.#observe(invocation, message, 'allow', durationMs);
      return;
    }
    const { actions } = binding;
    if (actions.includes('Deny')) this.#deny(invocation, decision, durationMs);
    if (actions.includes('Audit')) {
      const failure = {
        message,
        policy: policy.name,
        binding: binding.name,
        expressionIndex: at,
        validationActions: actions,
      };
      this.#attributes.annotate(FAILURE_KEY, JSON.stringify([failure]));
      this.#observe(invocation, message, 'audit', durationMs);
    }
    if (actions.includes('Warn')) {
      this.#attributes.warn(
        `Validation failed for ${KIND} '${policy.name}' with binding '${binding.name}': ${message}`,
      );
      this.#observe(invocation, message, 'warn', durationMs);
      this.#record(invocation, 'warned', message);
    }
  }
}

/** Evaluates every bound policy that is about a request; the first denial is the answer. */
export const validatingPolicies = (options: PolicyPluginOptions): AdmissionPlugin => {
  /** By policy, for as long as it is as it is. */
  const compiled = new WeakMap<Policy, Promise<CompiledValidatingPolicy>>();
  const run = async (bound: readonly BoundPolicy[], attributes: AdmissionAttributes): Promise<void> => {
    const cel = await loadCel();
    const compile = (policy: Policy): Promise<CompiledValidatingPolicy> => {
      let known = compiled.get(policy);
      if (!known) compiled.set(policy, (known = compileValidatingPolicy(cel, policy)));
      return known;
    };
    const current = new PolicyRun(attributes, options, cel, compile);
    for (const one of bound) await current.check(one);
    const [first] = current.denials;
    if (first) throw denialError(attributes, first);
  };
  return {
    name: KIND,
    handles: () => true,
    validate(attributes) {
      const bound = options.table.bound();
      return bound.length === 0 || isExcluded(attributes) ? undefined : run(bound, attributes);
    },
  };
};
