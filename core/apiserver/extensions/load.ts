import { randomUUID } from 'node:crypto';
import { DefinitionControl } from './control/definition-control.ts';
import type { ExtensionsOptions } from './extensions.ts';
import { renamingConverter } from './serving/conversion.ts';
import { CustomResources } from './serving/serve.ts';
import { webhookConverter } from './serving/webhook-conversion.ts';
import type { Structural } from './structural/structural.ts';
import type { CheckRules } from './serving/version-model.ts';

const hasRules = (schema: Structural): boolean =>
  (schema.schema['x-kubernetes-validations'] ?? []).length > 0 ||
  [...schema.properties.values(), schema.values, schema.items].some(
    (one) => one !== undefined && hasRules(one),
  );

/** CEL is loaded with the first schema that has rules. */
const loadRules = async (schema: Structural): Promise<CheckRules | undefined> => {
  if (!hasRules(schema)) return undefined;
  const rules = await import('./rules/load-rules.ts');
  return rules.loadRules(schema);
};

/** Everything that is only needed when there is a CustomResourceDefinition. */
export const loadExtensions = (
  options: ExtensionsOptions,
): { readonly resources: CustomResources; readonly control: DefinitionControl } => ({
  resources: new CustomResources({
    ...options,
    converterOf: (resource) =>
      resource.conversion.strategy === 'Webhook'
        ? webhookConverter(resource, { webhooks: options.webhooks, newUid: randomUUID })
        : renamingConverter(resource.group),
    loadRules,
  }),
  control: new DefinitionControl(options),
});
