import { forbidden, internalError, StatusError, type KubernetesObject } from '../../api/meta/index.ts';
import type { AdmissionAttributes } from './attributes.ts';

/** How upstream calls an object in a refusal: generateName has not become a name yet. */
export const shownName = ({ name, object }: AdmissionAttributes): string =>
  name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';

/** The refusal of a plugin: 403, whatever the reason. */
export const refusal = (attributes: AdmissionAttributes, why: string): StatusError =>
  forbidden(attributes.resource, shownName(attributes), why);

/** Answers what a reader found; what it could not do is the server's fault, not the client's. */
export const readOrFail = async (
  read: Promise<KubernetesObject | undefined>,
): Promise<KubernetesObject | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw internalError(error instanceof Error ? error.message : String(error), error);
  }
};

/** One message for each that is said; one alone stands bare, more stand in brackets: utilerrors.Aggregate. */
export const aggregateMessage = (messages: readonly string[]): string => {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
};
