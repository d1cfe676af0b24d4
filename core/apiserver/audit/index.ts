export { startAudit } from './audit.ts';
export type { Audit, AuditDelivery, AuditMode, AuditSettings } from './audit.ts';
export { annotateAudit, auditRecordOf } from './record.ts';
