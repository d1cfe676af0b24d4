import { ReasonError } from '../../base/errors.ts';
import { forbidden, type StatusError } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import {
  parseFieldSelector,
  parseRequirements,
  type FieldRequirement,
  type LabelRequirement,
} from '../../api/selector/index.ts';
import { PRIVILEGED_GROUP, type UserInfo } from '../server/user.ts';
import type { RequestInfo } from '../server/request-info.ts';

/** What somebody wants to do. */
export interface Attributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
  /** Empty also where the selector does not parse: authorizers then see a request for everything. */
  readonly fieldRequirements: readonly FieldRequirement[];
  /** Empty also where the selector does not parse. */
  readonly labelRequirements: readonly LabelRequirement[];
}

export type Decision = 'allow' | 'deny' | 'no-opinion';

export interface Verdict {
  readonly decision: Decision;
  /** Told to the client after a refusal, kept for the audit after an approval. */
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: Attributes): Verdict | Promise<Verdict>;
}

export const allow = (reason = ''): Verdict => ({ decision: 'allow', reason });
export const noOpinion = (reason = ''): Verdict => ({ decision: 'no-opinion', reason });

export const resourceAttributes = (
  user: UserInfo,
  parts: Partial<Omit<Attributes, 'user' | 'isResourceRequest' | 'path'>> & { readonly verb: string },
): Attributes => ({
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  fieldRequirements: [],
  labelRequirements: [],
  ...parts,
  user,
  isResourceRequest: true,
  path: '',
});

export const pathAttributes = (user: UserInfo, verb: string, path: string): Attributes => ({
  ...resourceAttributes(user, { verb }),
  isResourceRequest: false,
  path,
});

const requirementsOf = <T>(text: string, parse: (text: string) => readonly T[]): readonly T[] => {
  if (text === '') return [];
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof ReasonError) return [];
    throw error;
  }
};

export const attributesOf = (user: UserInfo, info: RequestInfo): Attributes =>
  info.isResourceRequest
    ? {
        ...resourceAttributes(user, {
          verb: info.verb,
          apiGroup: info.apiGroup,
          apiVersion: info.apiVersion,
          namespace: info.namespace,
          resource: info.resource,
          subresource: info.subresource,
          name: info.name,
          fieldRequirements: requirementsOf(
            info.fieldSelector,
            (text) => parseFieldSelector(text).requirements,
          ),
          labelRequirements: requirementsOf(info.labelSelector, parseRequirements),
        }),
        path: info.path,
      }
    : pathAttributes(user, info.verb, info.path);

/** The first that allows or denies settles it; otherwise the reasons of all are told, one a line. */
export const unionAuthorizer = (authorizers: readonly Authorizer[]): Authorizer => {
  /** Answers immediately as long as those who are asked do. */
  const askFrom = (first: number, attributes: Attributes, reasons: string[]): Verdict | Promise<Verdict> => {
    const settles = (verdict: Verdict): boolean => {
      if (verdict.decision !== 'no-opinion') return true;
      if (verdict.reason !== '') reasons.push(verdict.reason);
      return false;
    };
    for (let index = first; index < authorizers.length; index += 1) {
      const verdict = authorizers[index]!.authorize(attributes);
      if (verdict instanceof Promise)
        return verdict.then((later) => (settles(later) ? later : askFrom(index + 1, attributes, reasons)));
      if (settles(verdict)) return verdict;
    }
    return noOpinion(reasons.join('\n'));
  };
  return { authorize: (attributes) => askFrom(0, attributes, []) };
};

/** Members of these groups may do anything; upstream puts system:masters in front of every other authorizer. */
export const privilegedGroups = (groups: readonly string[] = [PRIVILEGED_GROUP]): Authorizer => ({
  authorize: ({ user }) => (user.groups.some((group) => groups.includes(group)) ? allow() : noOpinion()),
});

export const alwaysAllow: Authorizer = { authorize: () => allow() };
export const alwaysDeny: Authorizer = { authorize: () => noOpinion('Everything is forbidden.') };

/** A message must not be taken for HTML by a browser. */
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const forbiddenMessage = (attributes: Attributes): string => {
  const { user, verb, resource, subresource, namespace, apiGroup, path } = attributes;
  const who = `User ${goQuote(user.name)}`;
  if (!attributes.isResourceRequest) return `${who} cannot ${verb} path ${goQuote(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} cannot ${verb} resource ${goQuote(what)} in API group ${goQuote(apiGroup)} ${where}`;
};

export const forbiddenFor = (attributes: Attributes, reason: string): StatusError => {
  const message = forbiddenMessage(attributes).replace(/[&<>]/g, (character) => HTML[character]!);
  return forbidden(
    { group: attributes.apiGroup, resource: attributes.resource },
    attributes.name,
    reason === '' ? message : `${message}: ${reason}`,
  );
};
