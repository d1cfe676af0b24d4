import {
  forbidden,
  groupVersionKindText,
  internalError,
  serviceUnavailable,
  StatusError,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import { jsonEquals, type Json } from '../../../api/patch/json.ts';
import { messageOf } from '../../../base/errors.ts';
import { RUNTIME_COST_BUDGET } from '../../../cel/bounds.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { admissionRequestOf } from '../expressions/admission-request.ts';
import { loadCel, type Cel } from '../expressions/cel.ts';
import { Decisions } from '../expressions/decisions.ts';
import { Evaluation, OutOfBudget } from '../expressions/evaluate.ts';
import { shownName } from '../refusal.ts';
import { versionedObjects } from '../webhooks/hook-matching.ts';
import { configurationPaths, patchPaths } from '../webhooks/patch-paths.ts';
import { PreviousRun } from '../webhooks/previous-run.ts';
import {
  compileMutatingPolicy,
  type CompiledMutatingPolicy,
  type CompiledMutation,
} from './compiled-mutations.ts';
import {
  invocationsOf,
  namespaceObjectOf,
  type ConfigurationError,
  type PolicyInvocation,
} from './invocations.ts';
import { errorTypeOf } from './metrics.ts';
import { applyConfiguration, applyPatchList } from './mutation-patch.ts';
import { isExcluded } from './policy-matching.ts';
import { matchConditions, type PolicyPluginOptions } from './policy-plugin.ts';
import type { BoundPolicy } from './policy-table.ts';
import type { Policy } from './policy.ts';

const NAME = 'MutatingAdmissionPolicy';

type Failure = ConfigurationError & { readonly reason: '' | 'Invalid' };

const failureText = ({ policy, binding, message }: Failure): string =>
  binding
    ? `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
    : `policy "${policy.name}" denied request: ${message}`;

/** All failures in one answer; the first gives message and reason. */
const failureError = (attributes: AdmissionAttributes, failures: readonly Failure[]): StatusError => {
  const texts = failures.map(failureText);
  const { details } = forbidden(attributes.resource, shownName(attributes), '');
  return new StatusError(failures[0]?.reason || 'Forbidden', texts[0] ?? '', {
    code: 403,
    details: { ...details, causes: texts.map((message) => ({ message })) },
  });
};

const keyOf = ({ policy, binding, param }: PolicyInvocation): string =>
  [policy.name, binding.name, param?.metadata?.namespace ?? '', param?.metadata?.name ?? ''].join('/');

/** One request on its way through all policies. */
class MutationRun {
  readonly #options: PolicyPluginOptions;
  readonly #cel: Cel;
  readonly #compile: (policy: Policy) => Promise<CompiledMutatingPolicy>;
  readonly #decisions: Decisions;
  readonly #previous: PreviousRun;
  readonly failures: Failure[] = [];
  attributes: AdmissionAttributes;
  #namespace: Promise<KubernetesObject | undefined> | undefined;

  constructor(
    attributes: AdmissionAttributes,
    options: PolicyPluginOptions,
    cel: Cel,
    compile: (policy: Policy) => Promise<CompiledMutatingPolicy>,
  ) {
    this.attributes = attributes;
    this.#options = options;
    this.#cel = cel;
    this.#compile = compile;
    this.#decisions = new Decisions(cel, options.authorizer);
    this.#previous = attributes.reinvocation.state(NAME, () => new PreviousRun());
  }

  async mutate(bound: readonly BoundPolicy[]): Promise<void> {
    const { reinvocation, object } = this.attributes;
    if (reinvocation.isReinvoked && this.#previous.isChangedSince(object)) this.#previous.requireEarlier();
    const invocations: PolicyInvocation[] = [];
    for (const one of bound) {
      const found = await invocationsOf(one, this.attributes, this.#options);
      invocations.push(...found.invocations);
      if (!one.policy.failsOpen)
        this.failures.push(...found.errors.map((error) => ({ ...error, reason: '' as const })));
    }
    for (const invocation of invocations) await this.#invoke(invocation);
    this.#previous.finish(this.attributes.object);
    if (this.failures.length > 0) throw failureError(this.attributes, this.failures);
  }

  #fail({ policy, binding }: PolicyInvocation, message: string): void {
    if (!policy.failsOpen) this.failures.push({ policy, binding, message, reason: 'Invalid' });
  }

  async #evaluationOf({ policy, matched, param }: PolicyInvocation, object: KubernetesObject | undefined) {
    const { attributes } = this;
    this.#namespace ??= namespaceObjectOf(attributes, this.#options.reader);
    const { oldObject } = await versionedObjects(attributes, matched);
    return new Evaluation(this.#cel, {
      attributes,
      object,
      oldObject,
      request: admissionRequestOf(attributes, matched),
      namespaceObject: await this.#namespace,
      params: param,
      decisions: this.#decisions,
      variables: (await this.#compile(policy)).head.variables,
    });
  }

  async #invoke(invocation: PolicyInvocation): Promise<void> {
    const { policy, matched } = invocation;
    const { head, mutations } = await this.#compile(policy);
    const { reinvocation } = this.attributes;
    let { object } = await versionedObjects(this.attributes, matched);
    const evaluation = await this.#evaluationOf(invocation, object);
    const conditions = await matchConditions(policy, head, evaluation, this.attributes, this.#options);
    if ('error' in conditions) return this.#fail(invocation, conditions.error);
    if (!conditions.matches) return;
    const key = keyOf(invocation);
    if (reinvocation.isReinvoked && !this.#previous.isRequired(key)) return;
    const before = object;
    const changes: string[] = [];
    for (const mutation of mutations) {
      if (object === undefined) break;
      const next = await this.#patch(invocation, mutation, object);
      if (!next) continue;
      object = next.object;
      changes.push(...next.changes);
    }
    if (object && !jsonEquals(before as unknown as Json, object as unknown as Json))
      await this.#replace(invocation, object, changes);
    if (policy.spec['reinvocationPolicy'] === 'IfNeeded') this.#previous.invoked(key);
  }

  async #replace(
    invocation: PolicyInvocation,
    object: KubernetesObject,
    patch: readonly string[],
  ): Promise<void> {
    const { policy, binding } = invocation;
    const stored = this.attributes.objects.convert(object, this.attributes.objects.hub);
    this.attributes = { ...this.attributes, object: stored instanceof Promise ? await stored : stored };
    this.#previous.requireEarlier();
    this.attributes.reinvocation.isWanted = true;
    this.attributes.record({ kind: NAME, name: policy.name, part: binding.name, outcome: 'changed', patch });
  }

  async #patch(
    invocation: PolicyInvocation,
    mutation: CompiledMutation,
    object: KubernetesObject,
  ): Promise<{ readonly object: KubernetesObject; readonly changes: readonly string[] } | undefined> {
    const { clock, metrics } = this.#options;
    const { policy, binding } = invocation;
    const startMs = clock.monotonicMs();
    const observe = (error: ReturnType<typeof errorTypeOf>, action: 'allow' | 'deny'): void =>
      metrics.checked(policy.name, binding.name, {
        error,
        action,
        durationMs: clock.monotonicMs() - startMs,
      });
    try {
      const patched = await this.#apply(invocation, mutation, object);
      observe('no_error', 'allow');
      return patched;
    } catch (error) {
      observe(errorTypeOf(messageOf(error)), 'deny');
      if (error instanceof StatusError) throw error;
      this.#fail(invocation, messageOf(error));
      return undefined;
    }
  }

  async #apply(
    invocation: PolicyInvocation,
    { type, expression }: CompiledMutation,
    object: KubernetesObject,
  ) {
    const { kind } = invocation.matched;
    const { objects } = this.attributes;
    const node = objects.typeOf?.(kind);
    if (!node)
      throw serviceUnavailable(
        `Resource kind ${groupVersionKindText(kind)} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
      );
    if (!expression.program) throw new Error(expression.error);
    const evaluation = await this.#evaluationOf(invocation, object);
    const { results } = await evaluation.all([expression], RUNTIME_COST_BUDGET);
    const { value, error } = results[0] ?? {};
    if (error !== undefined || value === undefined) throw new Error(error ?? 'no value');
    const decode = (json: Record<string, unknown>, strict: boolean): KubernetesObject => {
      try {
        return objects.decode(json, kind, { strict });
      } catch (cause) {
        throw internalError(messageOf(cause), cause);
      }
    };
    if (type === 'ApplyConfiguration') {
      const { json, configuration } = applyConfiguration(this.#cel, object, value, node);
      return { object: decode(json, false), changes: configurationPaths(configuration) };
    }
    const { json, operations } = applyPatchList(this.#cel, object, value);
    return { object: decode(json, true), changes: patchPaths(operations) };
  }
}

/** Lets every bound policy that is about a request change its object, one after another. */
export const mutatingPolicies = (options: PolicyPluginOptions): AdmissionPlugin => {
  /** By policy, for as long as it is as it is. */
  const compiled = new WeakMap<Policy, Promise<CompiledMutatingPolicy>>();
  const run = async (
    bound: readonly BoundPolicy[],
    attributes: AdmissionAttributes,
  ): Promise<KubernetesObject | undefined> => {
    const cel = await loadCel();
    const compile = (policy: Policy): Promise<CompiledMutatingPolicy> => {
      let known = compiled.get(policy);
      if (!known) compiled.set(policy, (known = compileMutatingPolicy(cel, policy)));
      return known;
    };
    const current = new MutationRun(attributes, options, cel, compile);
    try {
      await current.mutate(bound);
    } catch (error) {
      if (error instanceof OutOfBudget) throw internalError(error.message, error);
      throw error;
    }
    return current.attributes.object;
  };
  return {
    name: NAME,
    handles: (operation) => operation !== 'DELETE',
    admit(attributes) {
      const bound = options.table.bound();
      return bound.length === 0 || isExcluded(attributes) ? undefined : run(bound, attributes);
    },
  };
};
