import { isConditionTrue } from '../../api/meta/index.ts';
import {
  CERTIFICATE_SIGNING_REQUEST,
  type CertificateSigningRequest,
  type Kind,
} from '../../client/index.ts';
import type { V1SubjectAccessReview } from '../../api/schema/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { Controller, ControllerContext, ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { kubeletClientProblem, requestOf, SIGNERS } from './kubelet-requests.ts';

const WORKERS = 5;
const SUBJECT_ACCESS_REVIEW: Kind<V1SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

interface Recognizer {
  readonly subresource: string;
  readonly message: string;
  readonly isForItself: boolean;
}

const RECOGNIZERS: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    isForItself: true,
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    isForItself: false,
  },
];

/** Whether who made the request may create `certificatesigningrequests/<subresource>`. */
export type MayCreate = (csr: CertificateSigningRequest, subresource: string) => Promise<boolean>;

const byReview =
  ({ client }: ControllerContext): MayCreate =>
  async ({ spec }, subresource) => {
    const { username = '', uid = '', groups = [], extra = {} } = spec;
    const resourceAttributes = {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
      subresource,
    };
    const review = await client
      .resource(SUBJECT_ACCESS_REVIEW)
      .create({ spec: { user: username, uid, groups, extra, resourceAttributes } });
    return review.status?.allowed === true;
  };

export const createApprover = (context: ControllerContext, mayCreate: MayCreate): Controller => {
  const { client, informers } = context;
  const requests = informers.informer(CERTIFICATE_SIGNING_REQUEST);
  const loop = workLoop(context, {
    name: 'certificate_csrapproving',
    workers: WORKERS,
    async handle(name) {
      const csr = requests.store.get(name);
      const conditions = csr?.status?.conditions;
      const isDecided = isConditionTrue(conditions, 'Approved') || isConditionTrue(conditions, 'Denied');
      if (!csr || csr.status?.certificate || isDecided) return;
      if (csr.spec.signerName !== SIGNERS.kubeletClient) return;
      const request = requestOf(csr);
      if (kubeletClientProblem(request, csr.spec.usages ?? []) !== undefined) return;
      const tried: string[] = [];
      for (const { subresource, message, isForItself } of RECOGNIZERS) {
        if (isForItself && csr.spec.username !== request.subject.commonName) continue;
        tried.push(subresource);
        if (!(await mayCreate(csr, subresource))) continue;
        const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
        const status = { ...csr.status, conditions: [...(conditions ?? []), approved] };
        await client
          .resource(CERTIFICATE_SIGNING_REQUEST)
          .updateSubresource(name, 'approval', { ...csr, status });
        return;
      }
      // The right may be granted later, so it is tried again.
      throw new Error(
        `recognized csr "${name}" as [${tried.join(' ')}] but subject access review was not approved`,
      );
    },
  });
  requests.addHandler({
    added: ({ metadata }) => loop.queue.add(metadata.name),
    updated: (_, { metadata }) => loop.queue.add(metadata.name),
  });
  return loop;
};

/** Approves what kubelets ask for to be known to the API server, if they may ask. */
export const csrApprover: ControllerDefinition<ControllerSettings> = {
  name: 'certificatesigningrequest-approving-controller',
  aliases: ['csrapproving'],
  serviceAccount: 'certificate-controller',
  isOnByDefault: true,
  create: (context) => createApprover(context, byReview(context)),
};
