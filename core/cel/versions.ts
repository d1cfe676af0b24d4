import { KUBERNETES_AUTHZ, KUBERNETES_AUTHZ_SELECTORS } from './library/authorizer.ts';
import { KUBERNETES_CIDR } from './library/cidr.ts';
import type { Library } from './library/declare.ts';
import { KUBERNETES_IP } from './library/ip.ts';
import { LISTS_EXTENSION } from './library/lists-extension.ts';
import { KUBERNETES_LISTS } from './library/lists.ts';
import { KUBERNETES_FORMAT } from './library/named-formats.ts';
import { OPTIONALS } from './library/optionals.ts';
import { KUBERNETES_QUANTITY } from './library/quantity.ts';
import { KUBERNETES_REGEX } from './library/regex.ts';
import { KUBERNETES_SEMVER } from './library/semver.ts';
import { SETS } from './library/sets.ts';
import { STANDARD_CONVERSIONS } from './library/standard-conversions.ts';
import { STANDARD_OPERATORS } from './library/standard-operators.ts';
import { STANDARD_STRINGS } from './library/standard-strings.ts';
import { STANDARD_TIME } from './library/standard-time.ts';
import { STRINGS_LIBRARY } from './library/strings.ts';
import { TWO_VARIABLES } from './library/two-variables.ts';
import { KUBERNETES_URLS } from './library/url.ts';

/** A library and the first minor of Kubernetes whose expressions may use it. */
interface VersionedLibrary {
  readonly library: Library;
  readonly since: number;
}

const since = (minor: number, ...libraries: Library[]): VersionedLibrary[] =>
  libraries.map((library) => ({ library, since: minor }));

/** Upstream's base environment. No supported version is older than the ones with 30 and less. */
const LIBRARIES: readonly VersionedLibrary[] = [
  ...since(0, STANDARD_OPERATORS, STANDARD_CONVERSIONS, STANDARD_STRINGS, STANDARD_TIME),
  ...since(0, KUBERNETES_URLS, KUBERNETES_REGEX, KUBERNETES_LISTS),
  ...since(27, KUBERNETES_AUTHZ),
  ...since(28, OPTIONALS, KUBERNETES_QUANTITY),
  ...since(29, STRINGS_LIBRARY, SETS),
  ...since(30, KUBERNETES_IP, KUBERNETES_CIDR),
  ...since(31, KUBERNETES_FORMAT, KUBERNETES_AUTHZ_SELECTORS),
  ...since(32, TWO_VARIABLES),
  ...since(33, KUBERNETES_SEMVER),
  ...since(34, LISTS_EXTENSION),
];

/** Expressions that are stored already were accepted by some version, so they may use every library. */
export type Version = `${number}.${number}` | 'stored';

const minorOf = (version: Version): number =>
  version === 'stored' ? Number.POSITIVE_INFINITY : Number(version.split('.')[1]);

/** The libraries of a version of Kubernetes. */
export const librariesOf = (version: Version): readonly Library[] => {
  const minor = minorOf(version);
  return LIBRARIES.filter((each) => each.since <= minor).map(({ library }) => library);
};
