import { fieldsOf, listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';

const NAME_CHARACTERS = 5;
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** `debugger-x7k2p`, as kubectl names them: names of ephemeral containers are never free again. */
const debugName = (): string =>
  `debugger-${[...crypto.getRandomValues(new Uint8Array(NAME_CHARACTERS))]
    .map((byte) => ALPHABET[byte % ALPHABET.length])
    .join('')}`;

/** As `kubectl debug -it --image=IMAGE --target=CONTAINER`. */
export const debugContainer = (
  image: string,
  targetContainerName: string,
): { readonly name: string; readonly [field: string]: unknown } => ({
  name: debugName(),
  image,
  stdin: true,
  tty: true,
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  ...(targetContainerName !== '' && { targetContainerName }),
});

/** What became of an ephemeral container; waiting until the kubelet has told. */
export const debugState = (
  pod: KubeObject,
  name: string,
): { readonly phase: 'waiting' | 'running' | 'ended'; readonly reason: string } => {
  const status = listAt(pod, 'status', 'ephemeralContainerStatuses').find(
    (one) => textAt(one, 'name') === name,
  );
  const state = fieldsOf(fieldsOf(status)['state']);
  if (state['running']) return { phase: 'running', reason: '' };
  const ended = fieldsOf(state['terminated']);
  if (state['terminated'])
    return {
      phase: 'ended',
      reason: [textAt(ended, 'reason'), textAt(ended, 'message')].filter(Boolean).join(': '),
    };
  const waiting = fieldsOf(state['waiting']);
  return {
    phase: 'waiting',
    reason: [textAt(waiting, 'reason'), textAt(waiting, 'message')].filter(Boolean).join(': '),
  };
};
