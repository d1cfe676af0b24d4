import type { Program } from '../../../cel/index.ts';

type Expr = Program['expr'];

/** Whether an expression reads the e-mail address of a token, and whether it asks if the issuer verified it. */
export interface EmailClaims {
  readonly email: boolean;
  readonly verified: boolean;
}

const isClaims = (expr: Expr): boolean => expr.kind === 'ident' && expr.name === 'claims';

/** `claims.field`, `has(claims.field)` or `claims.?field`. */
const selects = (expr: Expr, field: string): boolean => {
  if (expr.kind === 'select') return expr.field === field && isClaims(expr.operand);
  if (expr.kind !== 'call' || expr.fn !== '_?._' || expr.args.length !== 2) return false;
  const [operand, name] = expr.args as readonly [Expr, Expr];
  return isClaims(operand) && name.kind === 'literal' && name.value === field;
};

const readsAnywhere = (program: Program, field: string): boolean =>
  program.some((expr) => selects(expr, field));

export const emailClaimsOf = (program: Program | undefined): EmailClaims =>
  program
    ? { email: readsAnywhere(program, 'email'), verified: readsAnywhere(program, 'email_verified') }
    : { email: false, verified: false };
