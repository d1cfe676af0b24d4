import { afterEach, expect, test } from 'vitest';
import { de } from './de/index.ts';
import { en } from './en/index.ts';
import { formatBytes, formatDuration, formatShort, formatSpan } from './format.ts';
import { locale, matchLocale, setLocale, t } from './i18n.ts';
import type { Message } from './types.ts';

afterEach(() => setLocale('en'));

const placeholders = (message: Message): string[] => {
  const texts = typeof message === 'string' ? [message] : [message.one, message.other];
  return [...new Set(texts.flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();
};

test('German has exactly the keys of English', () => {
  expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
});

test('German messages use the same placeholders', () => {
  const english: Record<string, Message> = en;
  const german: Record<string, Message> = de;
  const differing = Object.keys(english).filter(
    (key) => placeholders(english[key]!).join() !== placeholders(german[key]!).join(),
  );
  expect(differing).toEqual([]);
});

test('a count selects its plural form and is formatted for the language', async () => {
  expect([t('clusters.rows', { count: 1 }), t('clusters.rows', { count: 1200 })]).toEqual([
    '1 row',
    '1,200 rows',
  ]);
  await setLocale('de');
  expect(t('clusters.rows', { count: 1200 })).toBe('1.200 Zeilen');
});

test('the last of two quick language changes wins', async () => {
  await Promise.all([setLocale('de'), setLocale('en')]);
  expect(locale.value).toBe('en');
});

test('the first supported language of the user is used, otherwise English', () => {
  expect([matchLocale(['fr-CH', 'de-CH', 'en']), matchLocale(['fr']), matchLocale([])]).toEqual([
    'de',
    'en',
    'en',
  ]);
});

test('durations show their two largest units', () => {
  const ages = [0, 31_000, 146_000, 13_860_000, 525_600_000].map(formatDuration);
  expect(ages).toEqual(['0 s', '31 s', '2 min 26 s', '3 h 51 min', '6 d 02 h']);
  expect([formatSpan(120_000), formatSpan(121_000)]).toEqual(['2 min', '2 min 01 s']);
});

test('bytes are written in binary units, small numbers with one digit', async () => {
  expect([0, 1536, 55_000_000, 2 ** 41].map(formatBytes)).toEqual(['0 B', '1.5 KiB', '52.5 MiB', '2.0 TiB']);
  expect([0, 6.44, 38.2].map(formatShort)).toEqual(['0', '6.4', '38']);
  await setLocale('de');
  expect(formatBytes(1536)).toBe('1,5 KiB');
});
