import { quantityFrom, ZERO, type Quantity } from '../quantity/index.ts';

/** Amounts by the name of the resource. */
export type ResourceList = ReadonlyMap<string, Quantity>;

export const NO_RESOURCES: ResourceList = new Map();

export const resourceListFrom = (wire: Readonly<Record<string, unknown>> | undefined): ResourceList =>
  new Map(Object.entries(wire ?? {}).map(([name, amount]) => [name, quantityFrom(amount)]));

export const resourceListToWire = (list: ResourceList): Record<string, string> =>
  Object.fromEntries(
    [...list].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, one.toString()]),
  );

/** Combines amounts that both have; the rest is taken as it is. */
const joined = (
  a: ResourceList,
  b: ResourceList,
  both: (left: Quantity, right: Quantity) => Quantity,
): ResourceList => {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const held = result.get(name);
    result.set(name, held === undefined ? amount : both(held, amount));
  }
  return result;
};

export const addResources = (a: ResourceList, b: ResourceList): ResourceList =>
  joined(a, b, (left, right) => left.add(right));

export const maxResources = (a: ResourceList, b: ResourceList): ResourceList =>
  joined(a, b, (left, right) => (right.compare(left) > 0 ? right : left));

/** What `a` has beyond `b`, and zero where it has less. */
export const growthOf = (a: ResourceList, b: ResourceList): ResourceList => {
  const names = new Set([...a.keys(), ...b.keys()]);
  return new Map(
    [...names].map((name) => {
      const held = a.get(name);
      const other = b.get(name);
      const difference = held === undefined ? ZERO : other === undefined ? held : held.subtract(other);
      return [name, difference.sign > 0 ? difference : ZERO];
    }),
  );
};

export const maskResources = (list: ResourceList, names: Iterable<string>): ResourceList => {
  const wanted = new Set(names);
  return new Map([...list].filter(([name]) => wanted.has(name)));
};

export const withoutZeros = (list: ResourceList): ResourceList =>
  new Map([...list].filter(([, amount]) => !amount.isZero));

export const sameResources = (a: ResourceList, b: ResourceList): boolean =>
  a.size === b.size &&
  [...a].every(([name, amount]) => {
    const other = b.get(name);
    return other !== undefined && other.equals(amount);
  });

/** Names of which `used` has more than `hard` grants. */
export const exceededResources = (used: ResourceList, hard: ResourceList): string[] =>
  [...hard].filter(([name, limit]) => (used.get(name)?.compare(limit) ?? 0) > 0).map(([name]) => name);

/** `a=1,b=2`, by name: how messages show a list. */
export const resourceListText = (list: ResourceList): string =>
  Object.entries(resourceListToWire(list))
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',');
