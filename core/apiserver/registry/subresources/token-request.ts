import {
  badRequest,
  conflict,
  formatTime,
  invalid as invalidStatus,
  isNotFound,
  parseApiVersion,
  serviceUnavailable,
  type KubernetesObject,
} from '../../../api/meta/index.ts';
import { causesOf, invalid, type FieldError } from '../../../api/field/field-error.ts';
import { maybeObj, num, obj, str, strs, type Obj } from '../../../api/validation/read.ts';
import {
  expirationProblem,
  TOKEN_EXPIRATION_SECONDS_DEFAULT,
  type TokenSigner,
} from '../../authn/service-account-tokens.ts';
import type { BoundReference } from '../../authn/service-account-claims.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import { scopeIn, type RestStorage, type Scope } from '../rest-storage.ts';

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };

export interface TokenRequestOptions {
  readonly sign: TokenSigner | undefined;
  /** Upstream's --service-account-max-token-expiration. */
  readonly expirationSecondsMax?: number | undefined;
}

interface Stores {
  readonly serviceAccounts: GenericStore;
  readonly pods: GenericStore;
  readonly nodes: GenericStore;
  readonly secrets: GenericStore;
}

interface Bound {
  readonly pod?: BoundReference;
  readonly secret?: BoundReference;
  readonly node?: BoundReference;
}

const refuse = (errors: readonly FieldError[], name = ''): void => {
  if (errors.length > 0) throw invalidStatus(KIND, name, causesOf(errors));
};

const referenceOf = ({ metadata = {} }: KubernetesObject): BoundReference => ({
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});

/** `serviceaccounts/token`: a signed token, bound to the object that it shall not outlive. */
export const tokenRequest = (stores: Stores, options: TokenRequestOptions): RestStorage => {
  const read = async (store: GenericStore, scope: Scope, namespace: string, name: string) => {
    const within = scopeIn(scope, namespace);
    return (await store.get(within, name, { resourceVersion: '' })).object;
  };

  /** The node of a pod goes into its token; a node that is gone by its name alone. */
  const nodeOf = async (scope: Scope, pod: KubernetesObject): Promise<BoundReference | undefined> => {
    const name = str(obj(pod, 'spec'), 'nodeName');
    if (name === '') return undefined;
    try {
      return referenceOf(await read(stores.nodes, scope, '', name));
    } catch (error) {
      if (isNotFound(error)) return { name, uid: '' };
      throw error;
    }
  };

  const bind = async (scope: Scope, account: string, reference: Obj): Promise<Bound> => {
    const [kind, name] = [str(reference, 'kind'), str(reference, 'name')];
    const { group = '', version = '' } = parseApiVersion(str(reference, 'apiVersion')) ?? {};
    const pick = async (): Promise<{ object: KubernetesObject; bound: Bound }> => {
      if (group === '' && kind === 'Pod') {
        const object = await read(stores.pods, scope, scope.namespace, name);
        if (str(obj(object, 'spec'), 'serviceAccountName') !== account)
          throw badRequest(
            `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
          );
        const node = await nodeOf(scope, object);
        return { object, bound: { pod: referenceOf(object), ...(node && { node }) } };
      }
      if (group === '' && kind === 'Node') {
        const object = await read(stores.nodes, scope, '', name);
        return { object, bound: { node: referenceOf(object) } };
      }
      if (group === '' && kind === 'Secret') {
        const object = await read(stores.secrets, scope, scope.namespace, name);
        return { object, bound: { secret: referenceOf(object) } };
      }
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
    };
    const { object, bound } = await pick();
    const uid = str(reference, 'uid');
    if (uid !== '' && uid !== object.metadata?.uid)
      throw conflict(
        { group, resource: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    return bound;
  };

  return {
    async createNamed(scope, name, request, { validate }) {
      const meta = request.metadata ?? {};
      const { namespace } = scope;
      if (meta.name && meta.name !== name)
        refuse(
          [invalid('metadata.name', meta.name, 'must match the service account name if specified')],
          name,
        );
      if (meta.namespace && meta.namespace !== namespace)
        refuse(
          [
            invalid(
              'metadata.namespace',
              meta.namespace,
              'must match the service account namespace if specified',
            ),
          ],
          name,
        );
      const account = await read(stores.serviceAccounts, scope, namespace, name);
      const uid = account.metadata?.uid ?? '';
      if (meta.uid && meta.uid !== uid)
        throw conflict(
          { group: KIND.group, resource: KIND.kind },
          name,
          `the UID in the token request (${meta.uid}) does not match the UID of the service account (${uid})`,
        );
      const spec = obj(request, 'spec');
      let expirationSeconds = num(spec, 'expirationSeconds') ?? TOKEN_EXPIRATION_SECONDS_DEFAULT;
      const problem = expirationProblem(expirationSeconds);
      if (problem !== undefined) refuse([invalid('spec.expirationSeconds', expirationSeconds, problem)]);
      await validate(request, undefined);
      const reference = maybeObj(spec, 'boundObjectRef');
      const bound = reference ? await bind(scope, name, reference) : {};
      const { sign, expirationSecondsMax } = options;
      if (sign === undefined)
        throw serviceUnavailable(
          'this API server signs no tokens: --service-account-signing-key-file is not set',
        );
      if (expirationSecondsMax !== undefined && expirationSeconds > expirationSecondsMax) {
        scope.warn(
          `requested expiration of ${expirationSeconds} seconds shortened to ${expirationSecondsMax} seconds`,
        );
        expirationSeconds = expirationSecondsMax;
      }
      const issued = sign({
        namespace,
        serviceAccount: { name, uid },
        expirationSeconds,
        audiences: strs(spec, 'audiences'),
        ...bound,
      });
      scope.annotate?.('authentication.kubernetes.io/issued-credential-id', issued.credentialId);
      return {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: {
          ...meta,
          name,
          namespace,
          uid,
          creationTimestamp: formatTime(stores.pods.core.clock.nowMs()),
        },
        spec: { ...spec, audiences: [...issued.audiences], expirationSeconds },
        status: { token: issued.token, expirationTimestamp: formatTime(issued.expirationTimestampMs) },
      };
    },
  };
};
