import { jsonText, parseJsonText } from '../../../api/meta/json-text.ts';
import { internalError, type KubernetesObject } from '../../../api/meta/index.ts';
import { messageOf } from '../../../base/errors.ts';
import { applyJsonPatch } from '../../../api/patch/json-patch.ts';
import { isObject, jsonEquals, type Json, type JsonObject } from '../../../api/patch/json.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { withObject, type AdmissionAttributes, type AdmissionPlugin } from '../attributes.ts';
import { callHook } from './call-hook.ts';
import { CallingFailed } from './hook-errors.ts';
import { isExempt, type Invocation } from './hook-matching.ts';
import { judgeCall, type Observers } from './outcome.ts';
import { patchPaths } from './patch-paths.ts';
import { PreviousRun } from './previous-run.ts';
import type { ReviewResponse } from './review.ts';
import type { WebhookPluginOptions } from './validating-webhooks.ts';

const NAME = 'MutatingAdmissionWebhook';
const KIND = 'MutatingWebhookConfiguration';
const MUTATION = 'mutation.webhook.admission.k8s.io/';
const PATCH = 'patch.webhook.admission.k8s.io/';
const UNAVAILABLE = 503;

const parsePatch = (hook: string, patch: string): Json[] => {
  const failed = (why: string): CallingFailed =>
    new CallingFailed(hook, `received undecodable patch in webhook response: ${why}`, { code: UNAVAILABLE });
  let parsed: unknown;
  try {
    parsed = parseJsonText(patch);
  } catch (error) {
    throw failed(messageOf(error));
  }
  if (!Array.isArray(parsed) || !parsed.every((one) => isObject(one as Json)))
    throw failed('json: cannot unmarshal into Go value of type jsonpatch.Patch');
  return parsed as Json[];
};

/** What a webhook's answer makes of the object, in the webhook's version; undefined: nothing was to be done. */
const patched = (
  { hook, matched, object }: Invocation,
  { patch, patchType }: ReviewResponse,
  attributes: AdmissionAttributes,
): { readonly object: KubernetesObject; readonly operations: Json[] } | undefined => {
  if (patch === '') return undefined;
  const operations = parsePatch(hook.name, patch);
  if (operations.length === 0) return undefined;
  if (!object)
    throw internalError(
      `admission webhook ${goQuote(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  if (patchType !== 'JSONPatch')
    throw new CallingFailed(hook.name, `unsupported patch type ${goQuote(patchType)}`, { code: 400 });
  try {
    const result = applyJsonPatch(object as JsonObject, operations);
    if (!isObject(result)) throw new Error('the patched object is not an object');
    return { object: attributes.objects.decode(result as Record<string, unknown>, matched.kind), operations };
  } catch (error) {
    throw internalError(messageOf(error), error);
  }
};

/** Asks mutating webhooks one after another, each with the object as those before it left it. */
export const mutatingWebhooks = (options: WebhookPluginOptions): AdmissionPlugin => {
  const { source, matcher, client } = options;
  const observers: Observers = { ...options, type: 'admit', configurationKind: KIND };

  const call = async (
    invocation: Invocation,
    attributes: AdmissionAttributes,
    place: string,
  ): Promise<KubernetesObject | undefined> => {
    const { hook } = invocation;
    const of = { configuration: hook.configuration, webhook: hook.name };
    let mutated = false;
    try {
      const response = await callHook(client, invocation, attributes, true);
      const result = patched(invocation, response, attributes);
      if (!result) return undefined;
      mutated = !jsonEquals(invocation.object as unknown as Json, result.object as unknown as Json);
      const { operations } = result;
      attributes.annotate(`${PATCH}${place}`, jsonText({ ...of, patch: operations, patchType: 'JSONPatch' }));
      if (!mutated) return undefined;
      attributes.record({
        kind: KIND,
        name: hook.configuration,
        part: hook.name,
        outcome: 'changed',
        patch: patchPaths(operations),
      });
      const stored = attributes.objects.convert(result.object, attributes.objects.hub);
      return stored instanceof Promise ? await stored : stored;
    } finally {
      attributes.annotate(`${MUTATION}${place}`, JSON.stringify({ ...of, mutated }));
    }
  };

  const run = async (attributes: AdmissionAttributes): Promise<KubernetesObject | undefined> => {
    const { reinvocation } = attributes;
    const previous = reinvocation.state(NAME, () => new PreviousRun());
    if (reinvocation.isReinvoked && previous.isChangedSince(attributes.object)) previous.requireEarlier();
    const round = reinvocation.isReinvoked ? 1 : 0;
    let current = attributes;
    for (const [index, hook] of source.hooks().entries()) {
      if (reinvocation.isReinvoked && !previous.isRequired(hook.uid)) continue;
      const invocation = await matcher.match(hook, current);
      if (!invocation) continue;
      const place = `round_${round}_index_${index}`;
      const object = await judgeCall(
        () => call(invocation, current, place),
        invocation,
        current,
        observers,
        () => attributes.annotate(`failed-open.${MUTATION}${place}`, hook.name),
      );
      if (object) {
        current = withObject(current, object);
        previous.requireEarlier();
        reinvocation.isWanted = true;
      }
      if (hook.isReinvocable) previous.invoked(hook.uid);
    }
    previous.finish(current.object);
    return current.object;
  };

  return {
    name: NAME,
    handles: () => true,
    admit(attributes) {
      if (source.hooks().length === 0 || isExempt(attributes)) return undefined;
      return run(attributes);
    },
  };
};
