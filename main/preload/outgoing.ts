import { contract, isName } from '../../core/contract/contract.ts';
import type { ClientMessage } from '../../core/contract/messages.ts';

const refuse = (why: string): never => {
  throw new TypeError(`not a message of the contract: ${why}`);
};

const idOf = (message: Record<string, unknown>): number => {
  const id = message['id'];
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : refuse('its id is not a count');
};

const nameOf = (message: Record<string, unknown>, kind: 'call' | 'stream'): string => {
  const name = message['name'];
  return typeof name === 'string' && isName(name) && contract[name].kind === kind
    ? name
    : refuse(`there is no such ${kind}`);
};

/**
 * The message a page may send, rebuilt from the fields of the contract so that nothing else is passed on. Throws
 * for anything else. The app checks again: it trusts no page, this spares it the noise.
 */
export const outgoing = (raw: unknown): ClientMessage => {
  if (typeof raw !== 'object' || raw === null) return refuse('it is no object');
  const message = raw as Record<string, unknown>;
  const { kind } = message;
  switch (kind) {
    case 'hello':
      return { kind };
    case 'call':
      return { kind, id: idOf(message), name: nameOf(message, 'call'), input: message['input'] };
    case 'open':
      return { kind, id: idOf(message), name: nameOf(message, 'stream'), input: message['input'] };
    case 'credit':
    case 'close':
      return { kind, id: idOf(message) };
    default:
      return refuse('its kind is unknown');
  }
};
