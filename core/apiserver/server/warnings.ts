import { ReasonError } from '../../base/errors.ts';
import type { ApiResponse } from './response.ts';

/** Upstream truncates single warnings past this length once all of them pass the total. */
const WARNING_TEXT_MAX = 256;
const WARNINGS_TEXT_MAX = 4096;

/** Control characters end the header; clients refuse it. */
const CONTROL = /[\x00-\x1f\x7f]/;

/** A header is bytes, of which Node writes one a character: its text goes as UTF-8, which Go's clients read. */
const asHeaderBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** RFC 7234, section 5.5: code 299, no agent, quoted text. */
export const warningHeader = (text: string): string => {
  if (CONTROL.test(text))
    throw new ReasonError('WarningInvalid', 'a warning must not contain control characters');
  return `299 - "${asHeaderBytes(text).replace(/["\\]/g, '\\$&')}"`;
};

/** Collects what a client should be told besides the answer, each text once. */
export class WarningRecorder {
  readonly #texts = new Set<string>();

  add(text: string): void {
    if (text !== '') this.#texts.add(text.replace(new RegExp(CONTROL, 'g'), ' '));
  }

  /** Called once, before the head is sent. */
  writeTo(response: ApiResponse): void {
    const texts = [...this.#texts];
    const tooLong = texts.reduce((sum, text) => sum + text.length, 0) > WARNINGS_TEXT_MAX;
    let total = 0;
    for (const text of texts) {
      const shown = tooLong ? text.slice(0, WARNING_TEXT_MAX) : text;
      total += shown.length;
      if (total > WARNINGS_TEXT_MAX) return;
      response.addHeader('warning', warningHeader(shown));
    }
  }
}
