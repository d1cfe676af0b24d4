import { contract, ContractError, type Handlers, type Name, say } from '../../../core/contract/index.ts';

type AnyCall = (input: unknown, signal: AbortSignal) => Promise<unknown>;
type AnyStream = (input: unknown, signal: AbortSignal) => AsyncIterable<readonly unknown[]>;

/** Handlers whose module is loaded with the first question: what no one asks for does not delay the first window. */
export const lateHandlers = (names: readonly Name[], load: () => Promise<Handlers>): Handlers => {
  const find = async <T>(name: Name): Promise<T> => {
    const handler = (await load())[name];
    if (!handler) throw new ContractError('Unimplemented', say('failure.unsupported', { name }));
    return handler as T;
  };
  const handlerOf = (name: Name): AnyCall | AnyStream =>
    contract[name].kind === 'call'
      ? async (input: unknown, signal: AbortSignal) => (await find<AnyCall>(name))(input, signal)
      : async function* (input: unknown, signal: AbortSignal) {
          yield* (await find<AnyStream>(name))(input, signal);
        };
  return Object.fromEntries(names.map((name) => [name, handlerOf(name)])) as Handlers;
};
