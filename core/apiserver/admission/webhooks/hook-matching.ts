import type { Clock } from '../../../base/clock.ts';
import { forbidden, internalError, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Authorizer } from '../../authz/authorizer.ts';
import type { AdmissionAttributes, ServedAs } from '../attributes.ts';
import { admissionRequestOf } from '../expressions/admission-request.ts';
import { loadCel } from '../expressions/cel.ts';
import { compileAll, compileExpression } from '../expressions/compile.ts';
import { admissionEnvironment } from '../expressions/declarations.ts';
import { Decisions } from '../expressions/decisions.ts';
import { Evaluation } from '../expressions/evaluate.ts';
import { evaluateConditions, type MatchCondition } from '../expressions/match-conditions.ts';
import { findMatch } from '../match/rules.ts';
import { matchesNamespace, matchesObject } from '../match/selectors.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import type { Hook } from './hook.ts';
import type { HookType, WebhookMetrics } from './metrics.ts';

/** Objects of a request in the version that a webhook asks for. */
export interface VersionedObjects {
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
}

/** A webhook that is about a request. */
export interface Invocation extends VersionedObjects {
  readonly hook: Hook;
  readonly matched: ServedAs;
}

export interface HookMatcher {
  /** Undefined: the webhook is not about this request. A selector or condition that fails throws a StatusError. */
  match(hook: Hook, attributes: AdmissionAttributes): Promise<Invocation | undefined>;
}

export interface HookMatcherOptions {
  readonly type: HookType;
  readonly reader: ObjectReader;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics;
}

const CONFIGURATION_KINDS = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** No one may lock themselves out: what decides about requests is not decided about by it. */
export const isExempt = ({ kind }: AdmissionAttributes): boolean =>
  kind.group === 'admissionregistration.k8s.io' && CONFIGURATION_KINDS.has(kind.kind);

/** Both objects in the version that was matched. */
export const versionedObjects = async (
  { object, oldObject, objects }: AdmissionAttributes,
  { kind }: ServedAs,
): Promise<VersionedObjects> => {
  const convert = async (one: KubernetesObject | undefined): Promise<KubernetesObject | undefined> => {
    if (one === undefined) return undefined;
    const converted = objects.convert(one, kind);
    return converted instanceof Promise ? await converted : converted;
  };
  try {
    return { object: await convert(object), oldObject: await convert(oldObject) };
  } catch (error) {
    throw error instanceof StatusError ? error : internalError(messageOf(error), error);
  }
};

/** Decides which webhooks are about a request, in upstream's order: selectors, rules, conditions. */
export const createHookMatcher = (options: HookMatcherOptions): HookMatcher => {
  const { reader, authorizer, clock, metrics, type } = options;
  /** By webhook, for as long as its configuration is as it is. */
  const compiled = new WeakMap<Hook, Promise<readonly MatchCondition[]>>();

  const compile = async ({ conditions }: Hook): Promise<readonly MatchCondition[]> => {
    const cel = await loadCel();
    const environment = admissionEnvironment(cel, 'stored', { hasParams: false, hasAuthorizer: true });
    return compileAll(conditions, ({ name, expression }) => ({
      name,
      expression: compileExpression(cel, environment, expression, [cel.types.BOOL]),
    }));
  };

  const conditionsMatch = async (
    hook: Hook,
    attributes: AdmissionAttributes,
    matched: ServedAs,
    versioned: VersionedObjects,
  ): Promise<boolean> => {
    let conditions = compiled.get(hook);
    if (!conditions) compiled.set(hook, (conditions = compile(hook)));
    const [ready, cel] = [await conditions, await loadCel()];
    const startMs = clock.monotonicMs();
    const evaluation = new Evaluation(cel, {
      ...versioned,
      attributes,
      request: admissionRequestOf(attributes, matched),
      decisions: new Decisions(cel, authorizer),
    });
    const result = await evaluateConditions(ready, evaluation, hook.failsOpen);
    const isExcluded = 'matches' in result && !result.matches;
    metrics.conditions(
      { kind: 'webhook', type, name: hook.name, operation: attributes.operation },
      { durationMs: clock.monotonicMs() - startMs, failures: result.failures, excluded: isExcluded },
    );
    if ('error' in result) throw forbidden(attributes.resource, attributes.name, result.error);
    return result.matches;
  };

  return {
    async match(hook, attributes) {
      // A selector that cannot be decided matters only where the rules are about the request.
      let failure: unknown;
      const selected = async (check: () => Promise<boolean> | boolean): Promise<boolean> => {
        try {
          return await check();
        } catch (error) {
          failure ??= error;
          return true;
        }
      };
      const matched = findMatch(hook.rules, hook.matchPolicy, attributes);
      if (!matched) return undefined;
      if (!(await selected(() => matchesNamespace(hook.namespaceSelector, attributes, reader))))
        return undefined;
      if (!(await selected(() => matchesObject(hook.objectSelector, attributes)))) return undefined;
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error(messageOf(failure));
      const versioned = await versionedObjects(attributes, matched);
      if (hook.conditions.length > 0 && !(await conditionsMatch(hook, attributes, matched, versioned)))
        return undefined;
      return { hook, matched, ...versioned };
    },
  };
};
