/** One line of a node selector: what a node's label or field must be. */
export interface NodeExpression {
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether a value, or its absence, fulfils the expression. An operator that nobody knows is fulfilled by nothing. */
export const matchesNodeExpression = (
  { operator, values = [] }: NodeExpression,
  value: string | undefined,
): boolean => {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
};
