import { messageOf } from '../../base/errors.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { isRuntimeError, NotStarted, type ImageInfo, type Sandbox } from '../runtimes/runtime.ts';
import { resolveEnvironment } from '../volumes/environment.ts';
import { serviceVariables } from '../volumes/service-environment.ts';
import { VolumeError } from '../volumes/errors.ts';
import { nextAttempt, type ContainerRecord } from '../containers/container-record.ts';
import { ensureImage } from './image-pull.ts';
import type { NodeContext } from './node-context.ts';
import { StartFailure, type Started, type StartFailureReason } from './start-failure.ts';

export interface StartRequest {
  readonly context: NodeContext;
  readonly pod: V1Pod;
  readonly record: ContainerRecord;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
}

const environmentOf = async ({
  context,
  pod,
  record,
  sandbox,
}: StartRequest): Promise<Map<string, string>> => {
  const facts = { pod, hostIP: context.hostIP, podIPs: sandbox.podIPs, allocatable: context.allocatable };
  const hostname = pod.spec?.hostname ?? pod.metadata?.name ?? '';
  try {
    const base = new Map([
      ['HOSTNAME', pod.spec?.hostNetwork ? context.nodeName : hostname],
      ...context.environment,
      ...(await serviceVariables(pod, context.objects)),
    ]);
    return await resolveEnvironment(record.spec, facts, context.objects, base);
  } catch (error) {
    const message = messageOf(error);
    // An API server that is away is no mistake of the configuration, but upstream shows it under the same reason.
    const known = error instanceof VolumeError ? message : `failed to sync configmap cache: ${message}`;
    throw new StartFailure('CreateContainerConfigError', known, { cause: error });
  }
};

/** Image, environment, create, start: each step with its event, as upstream's kubelet takes them. */
export const startContainer = async (request: StartRequest): Promise<Started> => {
  const { context, pod, record, sandbox, signal } = request;
  const { name } = record.spec;
  let image: ImageInfo | undefined;
  try {
    image = await ensureImage(context, pod, record, signal);
    const environment = await environmentOf(request);
    const container = await sandbox.startContainer({
      pod,
      container: record.spec,
      kind: record.kind,
      image,
      environment,
      attempt: nextAttempt(record),
      signal,
    });
    const isNewWords = context.release.has('shortContainerEvents');
    context.event(pod, 'Normal', 'Created', isNewWords ? 'Container created' : `Created container: ${name}`);
    context.event(pod, 'Normal', 'Started', isNewWords ? 'Container started' : `Started container ${name}`);
    context.metrics.startedContainers.labels(containerType(record)).inc();
    return { container, image };
  } catch (error) {
    const failure =
      error instanceof StartFailure
        ? error
        : new StartFailure(reasonOf(error), messageOf(error), {
            cause: error,
            ...(error instanceof NotStarted && image && { started: { container: error.container, image } }),
          });
    const isPull = failure.reason === 'ErrImagePull' || failure.reason === 'InvalidImageName';
    context.event(pod, 'Warning', 'Failed', `Error: ${isPull ? failure.reason : failure.message}`);
    context.metrics.startedContainerErrors.labels(containerType(record), failure.reason).inc();
    throw failure;
  }
};

/** Volumes that are not there hold a container back, as a wrong configuration does. */
const reasonOf = (error: unknown): StartFailureReason => {
  if (error instanceof VolumeError) return 'CreateContainerConfigError';
  return isRuntimeError(error) && error.reason === 'CreateContainerError'
    ? error.reason
    : 'RunContainerError';
};

const containerType = ({ kind }: ContainerRecord): string =>
  ({
    init: 'init_container',
    sidecar: 'init_container',
    main: 'container',
    ephemeral: 'ephemeral_container',
  })[kind];
