import { Access, authError } from '../auth/index.ts';
import * as proto from '../proto/index.ts';
import type { RequestEntry } from './request-entry.ts';
import type { StateMachine } from './state-machine.ts';

type Machine = Pick<
  StateMachine,
  'applier' | 'membership' | 'auth' | 'tokens' | 'lessor' | 'saveStorageVersion'
>;

/**
 * Does what a committed request says. Throws ReasonError where it is refused, on every member alike. While auth is on,
 * what its identity may do is decided here, by the state that the entries before this one left.
 */
export const performRequest = (
  machine: Machine,
  { kind, payload, identity }: RequestEntry,
  index: number,
): object => {
  const { applier, membership, auth } = machine;
  const access = auth.isEnabled ? new Access(auth, machine.lessor, identity) : undefined;
  switch (kind) {
    case 'put': {
      const request = proto.PutRequest.decode(payload);
      access?.put(request);
      return applier.put(request);
    }
    case 'deleteRange': {
      const request = proto.DeleteRangeRequest.decode(payload);
      access?.deleteRange(request);
      return applier.deleteRange(request);
    }
    case 'txn': {
      const request = proto.TxnRequest.decode(payload);
      access?.txn(request);
      return applier.txn(request);
    }
    case 'compact':
      return applier.compact(proto.CompactionRequest.decode(payload));
    case 'leaseGrant':
      return applier.leaseGrant(proto.LeaseGrantRequest.decode(payload));
    case 'leaseRevoke': {
      const request = proto.LeaseRevokeRequest.decode(payload);
      access?.leaseWrites(request.ID);
      return applier.leaseRevoke(request);
    }
    case 'leaseCheckpoint':
      return applier.leaseCheckpoint(proto.LeaseCheckpointRequest.decode(payload));
    case 'alarm':
      return applier.alarm(proto.AlarmRequest.decode(payload));
    case 'memberAttributes': {
      const { ID, name, clientURLs } = proto.Member.decode(payload);
      membership.setAttributes(Number(ID), { name, clientURLs });
      return {};
    }
    case 'clusterVersion':
      membership.setClusterVersion(Buffer.from(payload).toString());
      machine.saveStorageVersion();
      return {};
    case 'authenticate': {
      const { name, password: prefix } = proto.AuthenticateRequest.decode(payload);
      if (!auth.isEnabled) throw authError('AuthNotEnabled');
      const user = auth.user(name);
      if (user === undefined || user.options?.noPassword === true) throw authError('AuthFailed');
      return { token: machine.tokens.assign(name, prefix, index) };
    }
    case 'authEnable':
    case 'authDisable':
    case 'userAdd':
    case 'userDelete':
    case 'userChangePassword':
    case 'userGrantRole':
    case 'userRevokeRole':
    case 'roleAdd':
    case 'roleDelete':
    case 'roleGrantPermission':
    case 'roleRevokePermission':
      access?.admin();
      return performAuthChange(machine, kind, payload);
  }
};

type AuthChange = Extract<
  RequestEntry['kind'],
  `auth${'Enable' | 'Disable'}` | `user${string}` | `role${string}`
>;

const performAuthChange = ({ auth }: Machine, kind: AuthChange, payload: Uint8Array): object => {
  switch (kind) {
    case 'authEnable':
      auth.enable();
      break;
    case 'authDisable':
      auth.disable();
      break;
    case 'userAdd':
      auth.userAdd(proto.AuthUserAddRequest.decode(payload));
      break;
    case 'userDelete':
      auth.userDelete(proto.AuthUserDeleteRequest.decode(payload));
      break;
    case 'userChangePassword':
      auth.userChangePassword(proto.AuthUserChangePasswordRequest.decode(payload));
      break;
    case 'userGrantRole':
      auth.userGrantRole(proto.AuthUserGrantRoleRequest.decode(payload));
      break;
    case 'userRevokeRole':
      auth.userRevokeRole(proto.AuthUserRevokeRoleRequest.decode(payload));
      break;
    case 'roleAdd':
      auth.roleAdd(proto.AuthRoleAddRequest.decode(payload));
      break;
    case 'roleDelete':
      auth.roleDelete(proto.AuthRoleDeleteRequest.decode(payload));
      break;
    case 'roleGrantPermission':
      auth.roleGrantPermission(proto.AuthRoleGrantPermissionRequest.decode(payload));
      break;
    case 'roleRevokePermission':
      auth.roleRevokePermission(proto.AuthRoleRevokePermissionRequest.decode(payload));
      break;
  }
  return {};
};
