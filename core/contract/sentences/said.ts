import * as v from 'valibot';
import { sentences, type SentenceCode, type Sentences } from './catalogue.ts';
import type { Message, ValuesOf } from './placeholders.ts';

/**
 * A sentence for a person, as the host sends it: which one, and the values in it. The page says it in the reader's
 * language; a command line says it in English.
 */
export const said = v.object({
  code: v.string(),
  values: v.record(v.string(), v.union([v.string(), v.number()])),
});
export type Said = v.InferOutput<typeof said>;

export const say = <C extends SentenceCode>(code: C, ...[values]: ValuesOf<Sentences[C]>): Said => ({
  code,
  values: { ...(values as Readonly<Record<string, string | number>> | undefined) },
});

/** Words that have one language: of another program, or a command. */
export const verbatim = (text: string): Said => say('verbatim', { text });

export const isSentenceCode = (code: string): code is SentenceCode => Object.hasOwn(sentences, code);

/** A message with its values filled in; `formatNumber` and `isOne` follow the language. */
export const fillMessage = (
  message: Message,
  values: Readonly<Record<string, string | number>>,
  { formatNumber, isOne }: { formatNumber(value: number): string; isOne(count: number): boolean },
): string => {
  const form =
    typeof message === 'string' ? message : isOne(Number(values['count'])) ? message.one : message.other;
  return form.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    return typeof value === 'number' ? formatNumber(value) : value;
  });
};

const ENGLISH = {
  formatNumber: (value: number) => value.toLocaleString('en'),
  isOne: (count: number) => count === 1,
};

/** For command lines, logs and tools: the sentence in English. */
export const inEnglish = ({ code, values }: Said): string =>
  isSentenceCode(code) ? fillMessage(sentences[code], values, ENGLISH) : code;
