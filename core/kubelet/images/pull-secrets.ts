import type { V1Secret } from '../../api/schema/index.ts';

/** What a registry is shown for a pull. */
export interface ImageCredential {
  readonly username: string;
  readonly password: string;
  readonly identityToken: string;
}

interface Entry {
  readonly host: string;
  readonly path: string;
  readonly credential: ImageCredential;
}

const DOCKER_CONFIG_JSON = ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'] as const;
const DOCKER_CONFIG = ['kubernetes.io/dockercfg', '.dockercfg'] as const;
const DEFAULT_REGISTRY = 'index.docker.io';
/** Of a Secret; more registries than that are left out. */
const REGISTRIES_MAX = 256;
/** Tried one after the other for one pull. */
export const CREDENTIALS_MAX = 16;

/** `registry.local:5000` and `team/app` of `registry.local:5000/team/app:1`; Docker Hub where no registry is named. */
export const repositoryOf = (image: string): { readonly host: string; readonly path: string } => {
  const name = image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  const [first = '', ...rest] = name.split('/');
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  if (!isRegistry) return { host: DEFAULT_REGISTRY, path: rest.length === 0 ? `library/${first}` : name };
  return { host: first === 'docker.io' ? DEFAULT_REGISTRY : first, path: rest.join('/') };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const credentialOf = (entry: Readonly<Record<string, unknown>>): ImageCredential => {
  const [user = '', ...rest] = Buffer.from(textOf(entry['auth']), 'base64').toString().split(':');
  return {
    username: textOf(entry['username']) || user,
    password: textOf(entry['password']) || rest.join(':'),
    identityToken: textOf(entry['identitytoken']),
  };
};

/** Keys are hosts, or URLs such as `https://index.docker.io/v1/`. */
const placeOf = (key: string): { readonly host: string; readonly path: string } => {
  const bare = key.replace(/^https?:\/\//, '').replace(/\/v[12]\/?$/, '');
  const at = bare.indexOf('/');
  const host = at < 0 ? bare : bare.slice(0, at);
  return {
    host: host === 'docker.io' ? DEFAULT_REGISTRY : host,
    path: at < 0 ? '' : bare.slice(at + 1).replace(/\/$/, ''),
  };
};

const registriesOf = ({ type, data }: V1Secret): Readonly<Record<string, unknown>> => {
  const isModern = type === DOCKER_CONFIG_JSON[0];
  if (!isModern && type !== DOCKER_CONFIG[0]) return {};
  const encoded = data?.[isModern ? DOCKER_CONFIG_JSON[1] : DOCKER_CONFIG[1]] ?? '';
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(encoded, 'base64').toString());
  } catch {
    return {};
  }
  const registries = isModern && isObject(document) ? document['auths'] : document;
  return isObject(registries) ? registries : {};
};

/** `*.example.com` stands for one part of a name, as upstream matches registries. */
const isHost = (pattern: string, host: string): boolean => {
  const [patternName = '', patternPort = ''] = pattern.split(':');
  const [name = '', port = ''] = host.split(':');
  const [wanted, parts] = [patternName.split('.'), name.split('.')];
  return (
    patternPort === port &&
    wanted.length === parts.length &&
    wanted.every((part, index) => {
      const text = part.split('*').map((piece) => piece.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
      return new RegExp(`^${text.join('[^.]*')}$`).test(parts[index] ?? '');
    })
  );
};

/** What the Secrets of a pod have for an image, the most specific first. A Secret that cannot be read has nothing. */
export const credentialsFor = (image: string, secrets: readonly V1Secret[]): readonly ImageCredential[] => {
  const { host, path } = repositoryOf(image);
  const entries: Entry[] = secrets.flatMap((secret) =>
    Object.entries(registriesOf(secret))
      .slice(0, REGISTRIES_MAX)
      .flatMap(([key, value]) =>
        isObject(value) ? [{ ...placeOf(key), credential: credentialOf(value) }] : [],
      ),
  );
  return entries
    .filter(
      (entry) =>
        isHost(entry.host, host) &&
        (entry.path === '' || path === entry.path || path.startsWith(`${entry.path}/`)),
    )
    .sort((a, b) => (`${a.host}/${a.path}` < `${b.host}/${b.path}` ? 1 : -1))
    .map(({ credential }) => credential)
    .slice(0, CREDENTIALS_MAX);
};
