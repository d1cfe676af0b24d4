/** Who makes a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const ANONYMOUS = 'system:anonymous';
export const ALL_AUTHENTICATED = 'system:authenticated';
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';
/** May do anything: break-glass credentials and nothing else. */
export const PRIVILEGED_GROUP = 'system:masters';
export const NODES_GROUP = 'system:nodes';
export const NODE_USER_PREFIX = 'system:node:';
export const CREDENTIAL_ID_KEY = 'authentication.kubernetes.io/credential-id';

export const userInfo = (
  name: string,
  groups: readonly string[] = [],
  rest: Partial<UserInfo> = {},
): UserInfo => ({
  uid: '',
  extra: {},
  ...rest,
  name,
  groups,
});

export const isPrivileged = (user: UserInfo | undefined): boolean =>
  user?.groups.includes(PRIVILEGED_GROUP) ?? false;

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';
const SERVICE_ACCOUNTS_GROUP = 'system:serviceaccounts';

export const serviceAccountUsername = (namespace: string, name: string): string =>
  `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;

export const serviceAccountGroups = (namespace: string): string[] => [
  SERVICE_ACCOUNTS_GROUP,
  `${SERVICE_ACCOUNTS_GROUP}:${namespace}`,
];

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_SUBDOMAIN_LENGTH_MAX = 253;

/** Undefined unless the name is exactly that of a service account that could exist. */
export const splitServiceAccountUsername = (
  username: string,
): { readonly namespace: string; readonly name: string } | undefined => {
  if (!username.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const parts = username.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  if (parts.length !== 2) return undefined;
  const [namespace, name] = parts as [string, string];
  if (!DNS_LABEL.test(namespace) || !DNS_SUBDOMAIN.test(name) || name.length > DNS_SUBDOMAIN_LENGTH_MAX)
    return undefined;
  return { namespace, name };
};
