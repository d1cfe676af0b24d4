import { isObj } from '../../../api/validation/read.ts';
import type { OpenApiSchema } from '../../../api/schema/index.ts';
import type { PublishedGroupVersion } from '../catalog.ts';
import type { Definition } from './definitions.ts';
import { definitionEntry, pathEntry } from './swagger-protobuf.ts';
import type { SwaggerPath } from './swagger-two.ts';

export interface RemotePath {
  readonly path: string;
  readonly text: string;
  /** In the binary form of the document. */
  readonly entry: Buffer;
}

/** Undefined where what another server wrote cannot be written in the binary form: then it is in neither. */
const attempt = <T>(write: () => T): T | undefined => {
  try {
    return write();
  } catch {
    // Another server's document may have any shape; what is broken is left out.
    return undefined;
  }
};

/**
 * What other servers add to the OpenAPI 2 document. A definition that this server writes itself stands: the types that
 * all servers share are the same in both, or this server's are newer.
 */
export const remotePart = (
  published: readonly PublishedGroupVersion[],
  known: ReadonlySet<string>,
): { readonly paths: readonly RemotePath[]; readonly definitions: readonly Definition[] } => {
  const paths = new Map<string, RemotePath>();
  const definitions = new Map<string, Definition>();
  for (const { remote } of published) {
    for (const [path, text] of remote?.swagger?.paths ?? []) {
      const entry = attempt(() => pathEntry(path, JSON.parse(text) as SwaggerPath));
      if (entry && !paths.has(path)) paths.set(path, { path, text, entry });
    }
    for (const [name, text] of remote?.swagger?.definitions ?? []) {
      if (known.has(name) || definitions.has(name)) continue;
      const schema: unknown = JSON.parse(text);
      if (isObj(schema) && attempt(() => definitionEntry(name, schema as OpenApiSchema)))
        definitions.set(name, { name, text });
    }
  }
  return { paths: [...paths.values()], definitions: [...definitions.values()] };
};
