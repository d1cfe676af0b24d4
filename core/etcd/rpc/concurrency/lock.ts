import { LockRequest, LockResponse, UnlockRequest, UnlockResponse } from '../../proto/index.ts';
import { unary } from '../grpc/method.ts';
import type { Method } from '../grpc/method.ts';
import type { MemberApi } from '../member-api.ts';
import { headerAt } from '../services/header.ts';
import { withLostCodes } from './lost-codes.ts';
import { WaitingLine } from './waiting-line.ts';

const SERVICE = 'v3lockpb.Lock';
const NO_VALUE = new Uint8Array(0);
const NO_NAME = new Uint8Array(0);

/** `v3lock`: a lock for clients that cannot watch on their own. It ends with its lease, or with Unlock. */
export const lockMethods = (member: MemberApi): readonly Method[] => methodsOf(member).map(withLostCodes);

const methodsOf = (member: MemberApi): readonly Method[] => [
  unary(SERVICE, 'Lock', {
    request: LockRequest,
    response: LockResponse,
    async handle({ name, lease }, context) {
      const line = new WaitingLine(member, context, Buffer.from(name));
      const place = await line.takePlace(lease, NO_VALUE);
      await line.wait(place);
      return { header: headerAt(member, member.revision()), key: place.key };
    },
  }),
  unary(SERVICE, 'Unlock', {
    request: UnlockRequest,
    response: UnlockResponse,
    async handle({ key }, context) {
      await new WaitingLine(member, context, NO_NAME).leave(key);
      return { header: headerAt(member, member.revision()) };
    },
  }),
];
