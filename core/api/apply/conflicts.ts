import { applyConflict } from '../meta/status-errors.ts';
import type { StatusError } from '../meta/status.ts';
import { goQuote } from '../field/go-text.ts';
import { parseManagerId } from './managed-fields.ts';
import { printPath } from './path-element.ts';
import type { Conflict } from './updater.ts';

export function printManager(id: string): string {
  const { manager, operation, apiVersion, subresource } = parseManagerId(id);
  const name =
    subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

function conflictText(conflicts: readonly Conflict[]): string {
  const [only] = conflicts;
  if (only !== undefined && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${printManager(only.managerId)}: ${printPath(only.path)}`;
  const lines: string[] = [];
  for (const id of [...new Set(conflicts.map(({ managerId }) => managerId))].sort()) {
    lines.push(`conflicts with ${printManager(id)}:`);
    for (const conflict of conflicts)
      if (conflict.managerId === id) lines.push(`- ${printPath(conflict.path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/** 409 with one cause for each field that somebody else owns. */
export const conflictStatus = (conflicts: readonly Conflict[]): StatusError =>
  applyConflict(
    conflictText(conflicts),
    conflicts.map(({ managerId, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${printManager(managerId)}`,
      field: printPath(path),
    })),
  );
