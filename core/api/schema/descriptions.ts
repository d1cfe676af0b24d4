import { structOf } from './models.ts';

export interface TypeDescription {
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * What types and fields are for, for OpenAPI. Half a megabyte of prose, so it is loaded when it is first
 * asked for; only types of stable versions have any.
 */
export const loadDescriptions = async (): Promise<(typeId: string) => TypeDescription | undefined> => {
  const { DESCRIPTIONS } = await import('./generated/descriptions.ts');
  const lines = new Map(
    DESCRIPTIONS.split('\n').map((line) => [line.slice(2, line.indexOf('"', 2)), line] as const),
  );
  return (typeId) => {
    const line = lines.get(typeId);
    if (line === undefined) return undefined;
    const [, type, ...texts] = JSON.parse(line) as [string, string, ...string[]];
    const names = [...structOf(typeId).fields.keys()];
    return { type, fields: Object.fromEntries(names.map((name, at) => [name, texts[at] ?? ''])) };
  };
};
