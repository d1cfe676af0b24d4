import type { Client } from '../../core/client/index.ts';
import { ContractError } from '../../core/contract/index.ts';

export interface Readers {
  /** The console's own identity, which reads and writes nothing; the person's where there is none. */
  readonly reader: Client;
  /** The person's identity. */
  readonly client: Client;
}

const isForbidden = (error: unknown): boolean =>
  error instanceof ContractError && error.reason === 'Forbidden';

/**
 * What the console watches on its own is read with its own identity, so that audit logs tell its watches from what a
 * person did. Secrets and custom resources are not in its role: for these the person's identity is used.
 */
export async function* readAsConsole<T>(
  { reader, client }: Readers,
  read: (client: Client) => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  if (reader !== client)
    try {
      yield* read(reader);
      return;
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
  yield* read(client);
}
