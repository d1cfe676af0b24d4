export { startAudit } from './audit.ts';
export type { Audit } from './audit.ts';
export type * from './settings.ts';
export { auditRecordOf } from './record.ts';
