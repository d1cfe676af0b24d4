import type { V1EnvFromSource, V1EnvVar, V1Pod, V1ServiceAccount } from '../../../../api/schema/index.ts';

const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';
/** What Go's strconv.ParseBool takes for true. */
const TRUE_TEXTS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

export const enforcesMountableSecrets = (account: V1ServiceAccount): boolean =>
  TRUE_TEXTS.has(account.metadata?.annotations?.[ENFORCE_ANNOTATION] ?? '');

interface SomeContainer {
  readonly name: string;
  readonly env?: readonly V1EnvVar[];
  readonly envFrom?: readonly V1EnvFromSource[];
}

const secretsOf = (account: V1ServiceAccount): ReadonlySet<string> =>
  new Set((account.secrets ?? []).map(({ name }) => name ?? ''));

const ofContainers = (
  account: V1ServiceAccount,
  title: string,
  containers: readonly SomeContainer[],
): string | undefined => {
  const mountable = secretsOf(account);
  const end = `is not allowed because service account ${account.metadata?.name ?? ''} does not reference that secret`;
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef?.name;
      if (secret !== undefined && !mountable.has(secret))
        return `${title} ${name} with envVar ${variable} referencing secret.secretName="${secret}" ${end}`;
    }
    for (const { secretRef } of envFrom) {
      const secret = secretRef?.name;
      if (secret !== undefined && !mountable.has(secret))
        return `${title} ${name} with envFrom referencing secret.secretName="${secret}" ${end}`;
    }
  }
  return undefined;
};

/** The first secret that the pod uses and its account does not list. */
export const foreignReference = (account: V1ServiceAccount, { spec }: V1Pod): string | undefined => {
  const accountName = account.metadata?.name ?? '';
  const mountable = secretsOf(account);
  for (const { secret } of spec?.volumes ?? []) {
    if (secret && !mountable.has(secret.secretName ?? ''))
      return `volume with secret.secretName="${secret.secretName ?? ''}" is not allowed because service account ${accountName} does not reference that secret`;
  }
  const inContainers =
    ofContainers(account, 'init container', spec?.initContainers ?? []) ??
    ofContainers(account, 'container', spec?.containers ?? []);
  if (inContainers !== undefined) return inContainers;
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name }) => name ?? ''));
  const pulled = (spec?.imagePullSecrets ?? []).map(({ name }) => name ?? '');
  const at = pulled.findIndex((name) => !pullable.has(name));
  return at < 0
    ? undefined
    : `imagePullSecrets[${at}].name="${pulled[at]}" is not allowed because service account ${accountName} does not reference that imagePullSecret`;
};

export const ephemeralReference = (account: V1ServiceAccount, { spec }: V1Pod): string | undefined =>
  ofContainers(account, 'ephemeral container', spec?.ephemeralContainers ?? []);
