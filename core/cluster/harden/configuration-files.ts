import { parseDocument, stringify, YAMLMap } from 'yaml';
import type { HardeningWishes } from '../../contract/index.ts';
import { ANONYMOUS_PATHS, authenticationConfigYaml } from '../manifests/authentication-config.ts';

/** Below the data directory; written where no file is named by --admission-control-config-file. */
export const ADMISSION_CONFIG_FILE = 'admission.yaml';

const edited = (text: string, edit: (document: ReturnType<typeof parseDocument>) => void): string => {
  const document = parseDocument(text);
  edit(document);
  return document.toString({ lineWidth: 0 });
};

/** Requests without credentials are served by health checks alone. Comments and other fields stay. */
export const withAnonymousLimited = (text: string | undefined): string =>
  text === undefined
    ? authenticationConfigYaml()
    : edited(text, (document) =>
        document.set(
          'anonymous',
          document.createNode({ enabled: true, conditions: ANONYMOUS_PATHS.map((path) => ({ path })) }),
        ),
      );

/** The issuer after those that are there. */
export const withIssuer = (text: string, oidc: NonNullable<HardeningWishes['oidc']>): string =>
  edited(text, (document) => {
    const prefix = `${oidc.issuerUrl}#`;
    const issuer = {
      issuer: { url: oidc.issuerUrl, audiences: [oidc.clientId] },
      claimMappings: {
        username: { claim: oidc.usernameClaim, prefix: oidc.usernameClaim === 'email' ? '' : prefix },
        ...(oidc.groupsClaim !== null && { groups: { claim: oidc.groupsClaim, prefix: 'oidc:' } }),
      },
    };
    if (document.has('jwt')) document.addIn(['jwt'], document.createNode(issuer));
    else document.set('jwt', document.createNode([issuer]));
  });

/** Upstream's example of limits: a server, a namespace and a user cannot fill etcd with events. */
const EVENT_RATE_LIMIT = {
  name: 'EventRateLimit',
  configuration: {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    limits: [
      { type: 'Server', qps: 500, burst: 5000 },
      { type: 'Namespace', qps: 50, burst: 1000, cacheSize: 2000 },
    ],
  },
};

export const withEventRateLimit = (text: string | undefined): string => {
  if (text === undefined)
    return stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [EVENT_RATE_LIMIT],
    });
  return edited(text, (document) => {
    const plugins = document.toJS() as { plugins?: readonly { name?: string }[] } | null;
    if (plugins?.plugins?.some(({ name }) => name === EVENT_RATE_LIMIT.name)) return;
    if (document.has('plugins')) document.addIn(['plugins'], document.createNode(EVENT_RATE_LIMIT));
    else if (document.contents instanceof YAMLMap)
      document.set('plugins', document.createNode([EVENT_RATE_LIMIT]));
  });
};
