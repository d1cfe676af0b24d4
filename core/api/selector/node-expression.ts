/** One line of a selector: what a label, a field or a scope must be. */
export interface ValueExpression {
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether a value, or its absence, fulfils the expression. An operator that no one knows is fulfilled by nothing. */
export const matchesValueExpression = (
  { operator, values = [] }: ValueExpression,
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
    default:
      return false;
  }
};

/** Nodes may be compared by number too. */
export const matchesNodeExpression = (expression: ValueExpression, value: string | undefined): boolean => {
  const { operator, values = [] } = expression;
  if (operator === 'Gt') return value !== undefined && Number(value) > Number(values[0]);
  if (operator === 'Lt') return value !== undefined && Number(value) < Number(values[0]);
  return matchesValueExpression(expression, value);
};
