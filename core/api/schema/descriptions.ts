import { structOf } from './models.ts';
import type { FieldType } from './types.ts';

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
  const read = (typeId: string): [string, string, ...string[]] | undefined => {
    const line = lines.get(typeId);
    return line === undefined ? undefined : (JSON.parse(line) as [string, string, ...string[]]);
  };
  // The source says nothing of a field that is a type of its own but what that type is for.
  const ofType = (field: FieldType): string =>
    field.type.node === 'struct' ? (read(field.type.struct.id)?.[1] ?? '') : '';
  return (typeId) => {
    const row = read(typeId);
    if (!row) return undefined;
    const [, type, ...texts] = row;
    const fields = [...structOf(typeId).fields.values()];
    return {
      type,
      fields: Object.fromEntries(fields.map((field, at) => [field.name, texts[at] || ofType(field)])),
    };
  };
};
