import { ResponseHeader } from './range.ts';
import { bool, message, nested, uint64Number } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

export const AuthStatusRequest = message('etcdserverpb.AuthStatusRequest', {});
export type AuthStatusRequest = MessageOut<typeof AuthStatusRequest>;
export type AuthStatusRequestIn = MessageIn<typeof AuthStatusRequest>;

export const AuthStatusResponse = message('etcdserverpb.AuthStatusResponse', {
  header: nested(1, () => ResponseHeader),
  enabled: bool(2),
  authRevision: uint64Number(3),
});
export type AuthStatusResponse = MessageOut<typeof AuthStatusResponse>;
export type AuthStatusResponseIn = MessageIn<typeof AuthStatusResponse>;
