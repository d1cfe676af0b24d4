import { formatDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { credentialsFor, type ImageCredential } from '../images/pull-secrets.ts';
import { isRuntimeError, type ImageInfo } from '../runtimes/runtime.ts';
import { IMAGE_BACK_OFF, nextBackOff } from '../containers/back-off.ts';
import type { ContainerRecord } from '../containers/container-record.ts';
import type { NodeContext } from './node-context.ts';
import { StartFailure } from './start-failure.ts';

const present = (context: NodeContext, image: string): string =>
  context.release.has('shortContainerEvents')
    ? `Container image "${image}" already present on machine and can be accessed by the pod`
    : `Container image "${image}" already present on machine`;

/** `nginx` and `nginx:latest` are always pulled unless the pod says otherwise. */
const policyOf = (record: ContainerRecord): string => {
  if (record.spec.imagePullPolicy) return record.spec.imagePullPolicy;
  const image = record.spec.image ?? '';
  return /(^|\/)[^/:@]+(:latest)?$/.test(image) ? 'Always' : 'IfNotPresent';
};

/** What the pod's Secrets have for an image. Secrets that cannot be read are told, and the pull is tried without them. */
const credentialsOf = async (
  context: NodeContext,
  pod: V1Pod,
  image: string,
): Promise<readonly ImageCredential[]> => {
  const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));
  const namespace = pod.metadata?.namespace ?? '';
  const read = await Promise.all(
    names.map(async (name) => ({
      name,
      secret: await context.objects.secret(namespace, name).catch(() => undefined),
    })),
  );
  const missing = read.filter(({ secret }) => secret === undefined).map(({ name }) => name);
  if (missing.length > 0)
    context.event(
      pod,
      'Warning',
      'FailedToRetrieveImagePullSecret',
      `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`,
    );
  return credentialsFor(
    image,
    read.flatMap(({ secret }) => (secret ? [secret] : [])),
  );
};

/** The image of a container, pulled when the policy asks for it. Failures are StartFailure with upstream's reasons. */
export const ensureImage = async (
  context: NodeContext,
  pod: V1Pod,
  record: ContainerRecord,
  signal: AbortSignal,
): Promise<ImageInfo> => {
  const { clock, runtime } = context;
  const image = record.spec.image ?? '';
  const policy = policyOf(record);
  const local = policy === 'Always' ? undefined : await runtime.findImage(image);
  if (local) {
    context.event(pod, 'Normal', 'Pulled', present(context, image));
    return local;
  }
  if (policy === 'Never') {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    context.event(pod, 'Warning', 'ErrImageNeverPull', message);
    throw new StartFailure('ErrImageNeverPull', message);
  }
  context.event(pod, 'Normal', 'Pulling', `Pulling image "${image}"`);
  const beganMs = clock.monotonicMs();
  try {
    const credentials = await credentialsOf(context, pod, image);
    const pulled = await runtime.pullImage({ pod, container: record.spec, image, credentials, signal });
    const took = formatDuration(Math.trunc(clock.monotonicMs() - beganMs));
    context.event(
      pod,
      'Normal',
      'Pulled',
      `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${pulled.sizeBytes} bytes.`,
    );
    record.imageFailure = undefined;
    return pulled;
  } catch (error) {
    const nowMs = clock.nowMs();
    const message = messageOf(error);
    const reason =
      isRuntimeError(error) && error.reason === 'InvalidImageName' ? error.reason : 'ErrImagePull';
    context.event(pod, 'Warning', 'Failed', `Failed to pull image "${image}": ${message}`);
    record.imageBackOff = nextBackOff(record.imageBackOff, IMAGE_BACK_OFF, nowMs, nowMs);
    record.imageFailure = { reason, message, atMs: nowMs };
    throw new StartFailure(reason, message, { cause: error });
  }
};
