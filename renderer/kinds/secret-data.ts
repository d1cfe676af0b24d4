import { fieldsOf, textOf, type KubeObject } from './kube-object.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface SecretValue {
  readonly bytes: number;
  /** Decoded; undefined where the bytes are no text. */
  readonly text: string | undefined;
}

/** What stands behind a value of `data`. */
export const decodeSecret = (base64: string): SecretValue => {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { bytes: bytes.length, text: /[\u0000-\u0008\u000e-\u001f]/.test(text) ? undefined : text };
  } catch {
    return { bytes: Math.floor((base64.replace(/=+$/, '').length * 3) / 4), text: undefined };
  }
};

const hidden = (values: unknown, word: string): KubeObject =>
  Object.fromEntries(Object.keys(fieldsOf(values)).map((key) => [key, word]));

/** A Secret to be looked at by others: its keys without their values, wherever a client has written them. */
export const withoutSecrets = (object: KubeObject, word: string): KubeObject => {
  if (textOf(object['kind']) !== 'Secret') return object;
  const metadata = fieldsOf(object['metadata']);
  const annotations = fieldsOf(metadata['annotations']);
  return {
    ...object,
    ...(LAST_APPLIED in annotations && {
      metadata: { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: word } },
    }),
    ...(object['data'] !== undefined && { data: hidden(object['data'], word) }),
    ...(object['stringData'] !== undefined && { stringData: hidden(object['stringData'], word) }),
  };
};
