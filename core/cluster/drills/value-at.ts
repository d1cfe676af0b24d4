/** The most steps of a path; a longer one is a mistake. */
const DEPTH_MAX = 32;
const PART = /^([^.[\]]+)((?:\[[^\]]{1,128}\])*)(?:\.|$)/;
const SELECTOR = /\[([^\]]+)\]/g;

const select = (value: unknown, selector: string): unknown => {
  if (!Array.isArray(value)) return undefined;
  const items = value as readonly unknown[];
  if (/^\d{1,6}$/.test(selector)) return items[Number(selector)];
  const [key = '', wanted = ''] = selector.split('=');
  return items.find((item) => String((item as Record<string, unknown> | null)?.[key]) === wanted);
};

/** What is at `status.conditions[type=Ready].status` or `spec.containers[0].image`; undefined where nothing is. */
export const valueAt = (object: unknown, path: string): unknown => {
  let [value, rest] = [object, path];
  for (let depth = 0; rest !== '' && depth < DEPTH_MAX; depth += 1) {
    const found = PART.exec(rest);
    if (!found || typeof value !== 'object' || value === null) return undefined;
    const [whole, key = '', selectors = ''] = found;
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    for (const [, selector = ''] of selectors.matchAll(SELECTOR)) value = select(value, selector);
    rest = rest.slice(whole.length);
  }
  return value;
};
