import { pathNotFound } from '../../api/meta/index.ts';
import { registryOf } from '../../api/scheme/index.ts';
import { aggregationStage, type Aggregator, type RemoteClient } from '../aggregation/index.ts';
import type { Audit } from '../audit/index.ts';
import { issuerDocumentsStage } from '../authn/issuer-documents.ts';
import { authorizationStage } from '../authz/authorization-stage.ts';
import { impersonationStage } from '../authz/impersonation-stage.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { discoveryStage } from '../discovery/discovery-stage.ts';
import type { DiscoveryCatalog } from '../discovery/catalog.ts';
import type { Extensions } from '../extensions/extensions.ts';
import { apiStage } from '../handlers/index.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import type { ConnectionStage } from '../server/connection-stage.ts';
import { endpointsStage } from '../server/endpoints.ts';
import { sendPageNotFound } from '../server/response.ts';
import type { Stage, StageResult } from '../server/pipeline.ts';
import type { TraceRing } from '../server/trace.ts';
import { tracesStage } from '../server/traces-stage.ts';
import type { Authentication } from './authentication.ts';
import type { TokenKeys } from './certificates.ts';
import type { FlowControl } from './flow-control.ts';
import type { ObjectAdmission } from './object-admission.ts';
import type { Surroundings } from './surroundings.ts';
import { versionInfo } from './version.ts';

export interface StageParts {
  readonly connection: ConnectionStage;
  readonly audit: Audit | undefined;
  readonly authentication: Authentication;
  readonly authorizer: Authorizer;
  readonly flowControl: FlowControl;
  readonly keys: TokenKeys;
  readonly registry: ObjectRegistry;
  readonly admission: ObjectAdmission['chain'];
  readonly catalog: DiscoveryCatalog;
  readonly extensions: Extensions;
  readonly remotes: RemoteClient;
  /** Asked when a request comes, after the caches are followed. */
  aggregator(): Aggregator;
  readonly traces: TraceRing;
}

/** Groups of built-in kinds answer for their own paths with a Status, everything else with Go's own page. */
const notFoundStage = (minor: number): Stage => ({
  name: 'not-found',
  async run({ info, response }): Promise<StageResult> {
    const [, root, name = ''] = info.path.split('/');
    const group = root === 'api' ? '' : root === 'apis' ? name : undefined;
    if (registryOf(minor).groups.some((known) => known.group === group)) throw pathNotFound();
    await sendPageNotFound(response);
    return 'done';
  },
});

/** From the connection to the answer, in the order every request takes. */
export const requestStages = (surroundings: Surroundings, parts: StageParts): readonly Stage[] => {
  const { config, health, metrics, clock, random, log } = surroundings;
  const { connection, audit, authentication, authorizer, flowControl, registry, catalog } = parts;
  const { minor, advertiseAddress, securePort, serviceAccounts } = config;
  const version = versionInfo(minor);
  const touchesConnections = config.goawayChance > 0 || config.strictTransportSecurity.length > 0;
  return [
    ...(touchesConnections ? [connection] : []),
    audit ? audit.authentication(authentication.stage) : authentication.stage,
    ...(audit ? [audit.stage] : []),
    impersonationStage(authorizer),
    flowControl.stage,
    authorizationStage({ authorizer, metrics, clock }),
    endpointsStage({ health, metrics, version }),
    ...flowControl.pages,
    issuerDocumentsStage({
      issuer: serviceAccounts.issuers[0]!,
      keysUrl: serviceAccounts.keysUrl,
      address: `${config.hostname || advertiseAddress}:${securePort}`,
      keys: parts.keys.verification,
    }),
    tracesStage(parts.traces),
    aggregationStage({
      client: parts.remotes,
      find: (group, groupVersion) => parts.aggregator().find(group, groupVersion),
    }),
    discoveryStage({
      catalog,
      serverAddress: `${advertiseAddress}:${securePort}`,
      version: version.gitVersion,
      clock,
    }),
    apiStage({
      registry,
      admission: parts.admission,
      minor,
      gates: config.gates,
      clock,
      random,
      log,
      metrics,
      authorizer,
      endpoints: parts.extensions,
      watchTimeoutMinSeconds: config.watchTimeoutMinMs / 1000,
    }),
    notFoundStage(minor),
  ];
};
