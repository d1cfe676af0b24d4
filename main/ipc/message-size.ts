const BYTES_PER_CHARACTER_MAX = 3;
const BYTES_PER_NODE = 8;

/**
 * Whether a message off the wire is larger than `bytesMax`, without building a copy of it: every value counts
 * eight bytes, strings three a character. The walk stops at the bound, so its cost is bounded too.
 */
export const isLargerThan = (message: unknown, bytesMax: number): boolean => {
  let bytes = 0;
  const pending: unknown[] = [message];
  const seen = new Set<object>();
  while (pending.length > 0) {
    const value = pending.pop();
    bytes += BYTES_PER_NODE;
    if (typeof value === 'string') bytes += value.length * BYTES_PER_CHARACTER_MAX;
    else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) bytes += value.byteLength;
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      // Structured clones may hold maps and sets; the contract has none, so they weigh as much as is allowed.
      if (value instanceof Map || value instanceof Set) return true;
      for (const key in value) {
        bytes += key.length * BYTES_PER_CHARACTER_MAX;
        pending.push((value as Record<string, unknown>)[key]);
        if (bytes + pending.length * BYTES_PER_NODE > bytesMax) return true;
      }
    }
    if (bytes > bytesMax) return true;
  }
  return false;
};
