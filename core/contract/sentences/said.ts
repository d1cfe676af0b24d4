import * as v from 'valibot';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { sentences, type SentenceCode, type Sentences } from './catalogue.ts';
import type { Message, ValuesOf } from './placeholders.ts';

/**
 * A sentence for a person, as the host sends it: which one, and the values in it. The page says it in the reader's
 * language; a command line says it in English. A value may be a sentence again, or several.
 */
export interface Said {
  code: string;
  values: Record<string, SaidValue>;
}
export type SaidValue = string | number | Said | Said[];

export const said: v.GenericSchema<Said> = v.object({
  code: v.string(),
  values: v.record(
    v.string(),
    v.union([v.string(), v.number(), v.lazy(() => said), v.array(v.lazy(() => said))]),
  ),
});

export const say = <C extends SentenceCode>(
  code: C,
  ...[values]: ValuesOf<Sentences[C], SaidValue>
): Said => ({
  code,
  values: { ...(values as Readonly<Record<string, SaidValue>> | undefined) },
});

/** Words that have one language: of another program, or a command. */
export const verbatim = (text: string): Said => say('verbatim', { text });

/** Several sentences as one: `a; b`. */
export const together = (parts: Said[]): Said =>
  parts.length === 1 ? parts[0]! : say('together', { parts });

export const isSentenceCode = (code: string): code is SentenceCode => Object.hasOwn(sentences, code);

/** An expected failure that is told in the reader's language; `message` is the same in words. */
export class SaidError<Reason extends string = string> extends ReasonError<Reason> {
  override readonly name: string = 'SaidError';
  readonly said: Said;

  /** `message`: the same in the reader's language, where that is known. */
  constructor(reason: Reason, what: Said, options?: { cause?: unknown; message?: string }) {
    super(reason, options?.message ?? inEnglish(what), options);
    this.said = what;
  }
}

/** Why something failed, as far as it can be told in another language. */
export const saidOf = (error: unknown): Said =>
  error instanceof SaidError ? error.said : verbatim(messageOf(error));

export interface Language {
  message(code: SentenceCode): Message;
  formatNumber(value: number): string;
  isOne(count: number): boolean;
}

/** A message with its values filled in. */
export const fillMessage = (
  message: Message,
  values: Readonly<Record<string, SaidValue>>,
  language: Language,
): string => {
  const form =
    typeof message === 'string'
      ? message
      : language.isOne(Number(values['count']))
        ? message.one
        : message.other;
  return form.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    if (typeof value === 'number') return language.formatNumber(value);
    if (typeof value === 'string') return value;
    return (Array.isArray(value) ? value : [value]).map((part) => sayIn(language, part)).join('; ');
  });
};

/** The sentence in a language. A code that is not known comes from a newer host: its values are all there is. */
export const sayIn = (language: Language, { code, values }: Said): string =>
  isSentenceCode(code)
    ? fillMessage(language.message(code), values, language)
    : [code, ...Object.values(values).filter((value) => typeof value !== 'object')].join(' ');

export const ENGLISH: Language = {
  message: (code) => sentences[code],
  formatNumber: (value) => value.toLocaleString('en'),
  isOne: (count) => count === 1,
};

/** For command lines, logs and tools: the sentence in English. */
export const inEnglish = (what: Said): string => sayIn(ENGLISH, what);
