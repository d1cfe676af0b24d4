import { flag, parseFlags, text } from '../../core/base/flags.ts';

const FIXTURE_FLAGS = {
  used: flag(text, '', 'is read'),
  forgotten: flag(text, '', 'is declared, copied and never read'),
} as const;

/** What the audit of declared flags must report: a table of which one flag is copied along and read nowhere. */
export const readFixture = (args: readonly string[]): { readonly used: string; readonly all: object } => {
  const { values } = parseFlags(FIXTURE_FLAGS, args);
  return { used: values.used, all: { ...values } };
};
