import { badRequest, invalid as invalidStatus, type KubernetesObject } from '../../../api/meta/index.ts';
import { causesOf, invalid, type FieldError } from '../../../api/field/field-error.ts';
import { maybeObj, obj, str, strs, type Obj } from '../../../api/validation/read.ts';
import { userInfo, type UserInfo } from '../../server/user.ts';
import {
  pathAttributes,
  resourceAttributes,
  type Attributes,
  type Authorizer,
} from '../../authz/authorizer.ts';
import type { RestStorage } from '../rest-storage.ts';
import { answerOf } from '../subresources/answer.ts';
import { reviewSelectorErrors, reviewSelectors, type ReviewSelectors } from './review-selectors.ts';

const GROUP = 'authorization.k8s.io';
const ONE_OF = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';

const NO_SELECTORS: ReviewSelectors = { fieldRequirements: [], labelRequirements: [], problems: [] };

const attributesOf = (spec: Obj, user: UserInfo, selectors: ReviewSelectors): Attributes => {
  const asked = maybeObj(spec, 'resourceAttributes');
  if (asked === undefined) {
    const path = obj(spec, 'nonResourceAttributes');
    return pathAttributes(user, str(path, 'verb'), str(path, 'path'));
  }
  return resourceAttributes(user, {
    verb: str(asked, 'verb'),
    apiGroup: str(asked, 'group'),
    apiVersion: str(asked, 'version') || '*',
    namespace: str(asked, 'namespace'),
    resource: str(asked, 'resource'),
    subresource: str(asked, 'subresource'),
    name: str(asked, 'name'),
    fieldRequirements: selectors.fieldRequirements,
    labelRequirements: selectors.labelRequirements,
  });
};

const userOf = (spec: Obj): UserInfo =>
  userInfo(str(spec, 'user'), strs(spec, 'groups'), {
    uid: str(spec, 'uid'),
    extra: Object.fromEntries(
      Object.keys(obj(spec, 'extra')).map((key) => [key, strs(obj(spec, 'extra'), key)]),
    ),
  });

/** Upstream prints its internal type, whose members have no names of JSON. */
const printedPath = (path: Obj): Obj => ({ Path: str(path, 'path'), Verb: str(path, 'verb') });

const specErrors = (spec: Obj): FieldError[] => {
  const [resource, path] = [maybeObj(spec, 'resourceAttributes'), maybeObj(spec, 'nonResourceAttributes')];
  if (resource !== undefined && path !== undefined)
    return [
      invalid(
        'spec.nonResourceAttributes',
        printedPath(path),
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  return resource === undefined && path === undefined
    ? [invalid('spec.resourceAttributes', null, ONE_OF)]
    : [];
};

const attributeErrors = (spec: Obj): readonly FieldError[] => {
  const asked = maybeObj(spec, 'resourceAttributes');
  return asked === undefined ? [] : reviewSelectorErrors(asked);
};

const subjectErrors = (spec: Obj): FieldError[] =>
  str(spec, 'user') === '' && strs(spec, 'groups').length === 0
    ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
    : [];

const metaErrors = (review: KubernetesObject, allowed: readonly string[], message: string): FieldError[] => {
  const filled = Object.entries(review.metadata ?? {}).filter(
    ([key, value]) =>
      value !== undefined && value !== null && key !== 'managedFields' && !allowed.includes(key),
  );
  return filled.length > 0 ? [invalid('metadata', review.metadata, message)] : [];
};

const localErrors = (review: KubernetesObject): FieldError[] => {
  const spec = obj(review, 'spec');
  const namespace = review.metadata?.namespace ?? '';
  const asked = maybeObj(spec, 'resourceAttributes');
  const path = maybeObj(spec, 'nonResourceAttributes');
  return [
    ...metaErrors(review, ['namespace'], 'must be empty except for namespace'),
    ...(asked !== undefined && str(asked, 'namespace') !== namespace
      ? [
          invalid(
            'spec.resourceAttributes.namespace',
            str(asked, 'namespace'),
            'must match metadata.namespace',
          ),
        ]
      : []),
    ...(path !== undefined
      ? [invalid('spec.nonResourceAttributes', printedPath(path), 'disallowed on this kind of request')]
      : []),
  ];
};

/** Upstream names no kind here. */
const refuse = (errors: readonly FieldError[]): void => {
  if (errors.length > 0) throw invalidStatus({ group: GROUP, kind: '' }, '', causesOf(errors));
};

const decide = async (
  authorizer: Authorizer,
  review: KubernetesObject,
  user: UserInfo,
): Promise<KubernetesObject> => {
  const spec = obj(review, 'spec');
  const asked = maybeObj(spec, 'resourceAttributes');
  const selectors = asked === undefined ? NO_SELECTORS : reviewSelectors(asked);
  const { decision, reason } = await authorizer.authorize(attributesOf(spec, user, selectors));
  const evaluationError = selectors.problems.join('; ');
  return {
    ...review,
    status: {
      allowed: decision === 'allow',
      ...(decision === 'deny' && { denied: true }),
      ...(reason !== '' && { reason }),
      ...(evaluationError !== '' && { evaluationError }),
    },
  };
};

export const subjectAccessReviews = (authorizer: Authorizer): RestStorage => ({
  async create(_scope, review, { validate }) {
    const spec = obj(review, 'spec');
    refuse([
      ...specErrors(spec),
      ...subjectErrors(spec),
      ...attributeErrors(spec),
      ...metaErrors(review, [], 'must be empty'),
    ]);
    await validate(review, undefined);
    return answerOf(await decide(authorizer, review, userOf(spec)));
  },
});

export const localSubjectAccessReviews = (authorizer: Authorizer): RestStorage => ({
  async create({ namespace }, review, { validate }) {
    const spec = obj(review, 'spec');
    const within = {
      ...review,
      metadata: { ...review.metadata, namespace: review.metadata?.namespace ?? namespace },
    };
    refuse([...specErrors(spec), ...subjectErrors(spec), ...attributeErrors(spec), ...localErrors(within)]);
    if (namespace === '') throw badRequest('namespace is required on this type: ');
    if (within.metadata.namespace !== namespace)
      throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
    await validate(within, undefined);
    return answerOf(await decide(authorizer, within, userOf(spec)));
  },
});

export const selfSubjectAccessReviews = (authorizer: Authorizer): RestStorage => ({
  async create({ user }, review, { validate }) {
    refuse([
      ...specErrors(obj(review, 'spec')),
      ...attributeErrors(obj(review, 'spec')),
      ...metaErrors(review, [], 'must be empty'),
    ]);
    await validate(review, undefined);
    return answerOf(await decide(authorizer, review, user));
  },
});

/** What a subject may do in a namespace, as far as it can be listed. */
export type RulesResolver = (user: UserInfo, namespace: string) => object;

export const selfSubjectRulesReviews = (rulesFor: RulesResolver): RestStorage => ({
  async create({ user }, review, { validate }) {
    const namespace = str(obj(review, 'spec'), 'namespace');
    if (namespace === '') throw badRequest('no namespace on request');
    await validate(review, undefined);
    return answerOf({
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {},
      status: rulesFor(user, namespace),
    });
  },
});
