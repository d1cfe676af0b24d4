import { isConditionTrue, isForbidden } from '../../api/meta/index.ts';
import type { Clock } from '../../base/clock.ts';
import {
  CERTIFICATE_SIGNING_REQUEST,
  NODE,
  type CertificateSigningRequest,
  type Kind,
  type Node,
  type Stored,
} from '../../client/index.ts';
import type { V1SubjectAccessReview } from '../../api/schema/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { Controller, ControllerContext, ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import type { CertificateRequest } from '../../pki/index.ts';
import { kubeletClientProblem, requestOf, SIGNERS } from './kubelet-requests.ts';
import { nodeComponentProblem, ownServingProblem } from './node-requests.ts';

const WORKERS = 5;
/** How often, and for how long, a request is looked at again whose node has not told its addresses. */
const ADDRESSES_WAIT_MS = 1_000;
const YOUNG_MS = 120_000;
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
  readonly signerName: string;
  isRecognized(csr: CertificateSigningRequest, request: CertificateRequest): boolean;
  /** Not upstream's: such requests wait for a person wherever no one has granted the right. */
  readonly isOptional?: boolean;
}

const isKubeletClient: Recognizer['isRecognized'] = ({ spec }, request) =>
  kubeletClientProblem(request, spec.usages ?? []) === undefined;

const recognizers = (nodes: readonly Stored<Node>[]): readonly Recognizer[] => [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    signerName: SIGNERS.kubeletClient,
    isRecognized: (csr, request) =>
      csr.spec.username === request.subject.commonName && isKubeletClient(csr, request),
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    signerName: SIGNERS.kubeletClient,
    isRecognized: isKubeletClient,
  },
  {
    subresource: 'selfnodeserver',
    message: 'Auto approving self kubelet serving certificate after SubjectAccessReview.',
    signerName: SIGNERS.kubeletServing,
    isRecognized: (csr, request) => ownServingProblem(csr, request, nodes) === undefined,
    isOptional: true,
  },
  {
    subresource: 'nodecomponentclient',
    message: 'Auto approving client certificate of a node component after SubjectAccessReview.',
    signerName: SIGNERS.apiServerClient,
    isRecognized: ({ spec }, request) => nodeComponentProblem(request, spec.usages ?? []) === undefined,
    isOptional: true,
  },
];

const RECOGNIZED_SIGNERS: readonly string[] = recognizers([]).map(({ signerName }) => signerName);

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

/** Where the cluster does not let this controller see nodes, serving certificates wait for a person, as upstream. */
const nodesOf = async ({ client }: ControllerContext): Promise<readonly Stored<Node>[]> => {
  try {
    return (await client.resource(NODE).list()).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
};

const isYoung = ({ metadata, spec }: CertificateSigningRequest, clock: Clock): boolean =>
  spec.signerName === SIGNERS.kubeletServing &&
  clock.nowMs() - Date.parse(metadata?.creationTimestamp ?? '') < YOUNG_MS;

export const createApprover = (context: ControllerContext, mayCreate: MayCreate): Controller => {
  const { client, informers, clock } = context;
  const requests = informers.informer(CERTIFICATE_SIGNING_REQUEST);
  const loop = workLoop(context, {
    name: 'certificate_csrapproving',
    workers: WORKERS,
    async handle(name) {
      const csr = requests.store.get(name);
      const conditions = csr?.status?.conditions;
      const isDecided = isConditionTrue(conditions, 'Approved') || isConditionTrue(conditions, 'Denied');
      if (!csr || csr.status?.certificate || isDecided) return;
      const { signerName } = csr.spec;
      if (!RECOGNIZED_SIGNERS.includes(signerName)) return;
      const request = requestOf(csr);
      const tried: string[] = [];
      const nodes = signerName === SIGNERS.kubeletServing ? await nodesOf(context) : [];
      for (const recognizer of recognizers(nodes)) {
        const { subresource, message, isOptional } = recognizer;
        if (recognizer.signerName !== signerName || !recognizer.isRecognized(csr, request)) continue;
        if (isOptional !== true) tried.push(subresource);
        if (!(await mayCreate(csr, subresource))) continue;
        const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
        const status = { ...csr.status, conditions: [...(conditions ?? []), approved] };
        await client
          .resource(CERTIFICATE_SIGNING_REQUEST)
          .updateSubresource(name, 'approval', { ...csr, status });
        return;
      }
      // A node asks before it has told its addresses.
      if (tried.length === 0) return isYoung(csr, clock) ? { requeueAfterMs: ADDRESSES_WAIT_MS } : undefined;
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
