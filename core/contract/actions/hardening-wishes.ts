import * as v from 'valibot';

/** What hardening can change, in the order in which it is told. Each can be left out. */
export const HARDENING_MEASURES = [
  'anonymous',
  'oidc',
  'authorization',
  'staticTokens',
  'tokenExpiration',
  'admission',
  'externalIPs',
  'alwaysPullImages',
  'eventRateLimit',
  'audit',
  'encryption',
  'profiling',
  'cipherSuites',
  'requestLimits',
  'fileModes',
  'backups',
] as const;
export const hardeningMeasure = v.picklist(HARDENING_MEASURES);
export type HardeningMeasure = v.InferOutput<typeof hardeningMeasure>;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2048), v.regex(/^[^\n\r]*$/));

export const hardeningWishes = v.object({
  skip: v.pipe(v.array(hardeningMeasure), v.maxLength(HARDENING_MEASURES.length)),
  /** An absolute path on another disk or machine; null: the schedule of backups stays. */
  backupDirectory: v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(4096))),
  oidc: v.nullable(
    v.object({
      issuerUrl: v.pipe(text, v.startsWith('https://')),
      clientId: text,
      usernameClaim: text,
      groupsClaim: v.nullable(text),
    }),
  ),
});
export type HardeningWishes = v.InferOutput<typeof hardeningWishes>;
