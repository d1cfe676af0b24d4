import type { KubernetesObject } from '../../../api/meta/index.ts';
import { maybeObj, num, obj, objs, str, strs, type Obj } from '../../../api/validation/read.ts';
import type { WebhookTarget } from '../../webhook/target.ts';
import type { Rule, MatchPolicy } from '../match/rules.ts';
import { parseSelector, type ParsedSelector } from '../match/selectors.ts';

const SECOND_MS = 1000;

/** One webhook of a configuration, read once. */
export interface Hook {
  /** Distinguishes webhooks of one name in one configuration, too. */
  readonly uid: string;
  readonly configuration: string;
  readonly name: string;
  readonly target: WebhookTarget;
  readonly rules: readonly Rule[];
  readonly matchPolicy: MatchPolicy;
  readonly namespaceSelector: ParsedSelector;
  readonly objectSelector: ParsedSelector;
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
  /** failurePolicy Ignore: a webhook that cannot be asked is passed over. */
  readonly failsOpen: boolean;
  readonly sideEffects: string;
  readonly timeoutMs: number | undefined;
  readonly reviewVersions: readonly string[];
  /** reinvocationPolicy IfNeeded. */
  readonly isReinvocable: boolean;
}

export const ruleOf = (rule: Obj): Rule => ({
  operations: strs(rule, 'operations'),
  apiGroups: strs(rule, 'apiGroups'),
  apiVersions: strs(rule, 'apiVersions'),
  resources: strs(rule, 'resources'),
  scope: str(rule, 'scope'),
  resourceNames: strs(rule, 'resourceNames'),
});

const targetOf = (client: Obj): WebhookTarget => {
  const service = maybeObj(client, 'service');
  return {
    url: str(client, 'url') || undefined,
    service: service && {
      namespace: str(service, 'namespace'),
      name: str(service, 'name'),
      path: str(service, 'path') || undefined,
      port: num(service, 'port'),
    },
    caBundle: str(client, 'caBundle') || undefined,
  };
};

/** The webhooks of a configuration in their order. */
export const hooksOf = (configuration: KubernetesObject): readonly Hook[] => {
  const configurationName = configuration.metadata?.name ?? '';
  const seen = new Map<string, number>();
  return objs(configuration, 'webhooks').map((webhook) => {
    const name = str(webhook, 'name');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    const timeoutSeconds = num(webhook, 'timeoutSeconds');
    return {
      uid: `${configurationName}/${name}/${count}`,
      configuration: configurationName,
      name,
      target: targetOf(obj(webhook, 'clientConfig')),
      rules: objs(webhook, 'rules').map(ruleOf),
      matchPolicy: str(webhook, 'matchPolicy') === 'Equivalent' ? 'Equivalent' : 'Exact',
      namespaceSelector: parseSelector(maybeObj(webhook, 'namespaceSelector')),
      objectSelector: parseSelector(maybeObj(webhook, 'objectSelector')),
      conditions: objs(webhook, 'matchConditions').map((condition) => ({
        name: str(condition, 'name'),
        expression: str(condition, 'expression'),
      })),
      failsOpen: str(webhook, 'failurePolicy') === 'Ignore',
      sideEffects: str(webhook, 'sideEffects'),
      timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * SECOND_MS,
      reviewVersions: strs(webhook, 'admissionReviewVersions'),
      isReinvocable: str(webhook, 'reinvocationPolicy') === 'IfNeeded',
    };
  });
};
