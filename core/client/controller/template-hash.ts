import { safeEncode } from '../../api/meta/generate-name.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-8, 32 bits. */
export const fnv32a = (text: string): number => {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash;
};

/** JSON with keys in order and without what is undefined: equal values, equal texts. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, held]) => held !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, held]) => `${JSON.stringify(key)}:${canonicalJson(held)}`).join(',')}}`;
};

/**
 * The `pod-template-hash` of a template. Upstream hashes Go's dump of the struct, which no one else can reproduce;
 * ours is stable over our releases and reads the same. A collision is resolved by counting up.
 */
export const templateHash = (template: unknown, collisionCount?: number): string => {
  const salt = collisionCount === undefined ? '' : String(collisionCount);
  return safeEncode(String(fnv32a(canonicalJson(template) + salt)));
};
