import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import { aggregateText } from '../../api/field/field-error.ts';
import { abacAuthorizer } from '../authz/abac.ts';
import {
  alwaysAllow,
  alwaysDeny,
  privilegedGroups,
  unionAuthorizer,
  type Authorizer,
} from '../authz/authorizer.ts';
import { nodeAuthorizer } from '../authz/node/node-authorizer.ts';
import { NodeGraph } from '../authz/node/node-graph.ts';
import { nodeRules } from '../authz/bootstrap/bootstrap-policy.ts';
import { PolicyIndex } from '../authz/rbac/policy-index.ts';
import { rbacAuthorizer } from '../authz/rbac/rbac-authorizer.ts';
import { compileMatchConditions } from '../authz/webhook/match-conditions.ts';
import { webhookAuthorizer } from '../authz/webhook/webhook-authorizer.ts';
import { webhookAuthorizerMetrics } from '../authz/webhook/webhook-metrics.ts';
import {
  parseAuthorizationConfiguration,
  type AuthorizationWebhook,
  type AuthorizerEntry,
} from '../config/files/authorization-configuration.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { kubeconfigTarget } from '../webhook/kubeconfig-target.ts';
import { createOwnWebhooks, type OwnWebhooks } from './own-webhooks.ts';

export interface Authorization extends Disposable {
  readonly authorizer: Authorizer;
  readonly policy: PolicyIndex;
  readonly graph: NodeGraph;
}

export interface AuthorizationParts {
  readonly config: ApiServerConfig;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The authorizers in the order they are asked: of the file if there is one, else of the flags. */
const entriesOf = async ({ authorization }: ApiServerConfig): Promise<readonly AuthorizerEntry[]> => {
  const { configFile, modes } = authorization;
  const { kubeconfigFile, version, authorizedTtlMs, unauthorizedTtlMs, failurePolicy } =
    authorization.webhook;
  const webhook: AuthorizationWebhook = {
    kubeconfigFile,
    version,
    authorizedTtlMs,
    unauthorizedTtlMs,
    failurePolicy,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    matchConditions: [],
  };
  if (configFile === '')
    return modes.map((type) => ({ type, name: type.toLowerCase(), ...(type === 'Webhook' && { webhook }) }));
  const { authorizers, errors } = parseAuthorizationConfiguration(await readFile(configFile, 'utf8'));
  if (errors.length > 0) throw new ReasonError('BadConfiguration', aggregateText(errors));
  return authorizers;
};

const WEBHOOK_TIMEOUT_MS = 30_000;

export const createAuthorization = async (parts: AuthorizationParts): Promise<Authorization> => {
  const { config, clock, log } = parts;
  const { configFile, policyFile } = config.authorization;
  const policy = new PolicyIndex();
  const graph = new NodeGraph();
  const owned = new DisposableStore();
  const metrics = webhookAuthorizerMetrics(parts.metrics);
  let webhooks: OwnWebhooks | undefined;

  const createWebhook = async (name: string, webhook: AuthorizationWebhook): Promise<Authorizer> => {
    const { matches, errors } = await compileMatchConditions(webhook.matchConditions, 'webhook');
    if (errors.length > 0) throw new ReasonError('BadConfiguration', aggregateText(errors));
    const target = await kubeconfigTarget(webhook.kubeconfigFile);
    const client = (webhooks ??= owned.add(createOwnWebhooks(clock)));
    const post = client.poster(target, webhook.timeoutMs);
    return webhookAuthorizer({ ...webhook, name, matches, post, metrics, clock, log });
  };
  const create = async ({ type, name, webhook }: AuthorizerEntry): Promise<Authorizer> => {
    switch (type) {
      case 'Node':
        return nodeAuthorizer(graph, nodeRules(config.minor));
      case 'RBAC':
        return rbacAuthorizer(policy);
      case 'AlwaysAllow':
        return alwaysAllow;
      case 'AlwaysDeny':
        return alwaysDeny;
      case 'ABAC':
        return abacAuthorizer(await readFile(policyFile, 'utf8'));
      case 'Webhook':
        return createWebhook(name, webhook!);
    }
  };
  const load = async (): Promise<Authorizer> => {
    const flag = configFile === '' ? '--authorization-mode' : `--authorization-config ${configFile}`;
    try {
      const entries = await entriesOf(config);
      return unionAuthorizer([privilegedGroups(), ...(await Promise.all(entries.map(create)))]);
    } catch (cause) {
      throw new ReasonError('BadConfiguration', `${flag}: ${messageOf(cause)}`, { cause });
    }
  };

  let current = await load();
  const kept = (error: unknown): void =>
    log.write('warn', 'changed authorization configuration cannot be used; the old one stays', {
      error: messageOf(error),
    });
  let reloads = 0;
  const reload = (): void => {
    const turn = (reloads += 1);
    load().then((next) => {
      // The file changed again meanwhile: only the newest version may replace the old one.
      if (turn !== reloads) return;
      current = next;
      log.write('info', 'authorization configuration was reloaded');
    }, kept);
  };
  if (configFile !== '') owned.add(watchFiles([configFile], clock, reload, kept));
  return {
    authorizer: { authorize: (attributes) => current.authorize(attributes) },
    policy,
    graph,
    dispose: () => owned.dispose(),
  };
};
