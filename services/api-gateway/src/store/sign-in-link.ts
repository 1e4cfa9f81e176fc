import { SIGN_IN_LINK_SECONDS } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import type { Operator } from '@quittance/contracts/operator.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** A link for a working operator; those of the operator that are over are forgotten. @returns null when no working one has the name. */
export async function insertOperatorLink(
  tx: Queryable,
  name: string,
  linkHash: Buffer,
): Promise<{ operator: Operator; endsAt: Date } | null> {
  const { rows } = await tx.query<Operator & { ends_at: Date }>(
    `with person as (select name, role from operator where name = $1 and disabled_at is null for update),
     over as (delete from sign_in_link where operator = $1 and ends_at <= clock_timestamp()),
     made as (
       insert into sign_in_link (link_hash, operator, ends_at)
       select $2, name, clock_timestamp() + interval '${SIGN_IN_LINK_SECONDS} seconds' from person
       returning ends_at
     )
     select name, role, ends_at from person, made`,
    [name, linkHash],
  );
  const [row] = rows;
  return row === undefined ? null : { operator: { name: row.name, role: row.role }, endsAt: row.ends_at };
}

/** Uses a link up, where it is an operator's. @returns whom it signs in, and null for one that is over, was used, or is for somebody who may not sign in. */
export async function takeLink(tx: Queryable, linkHash: Buffer): Promise<Operator | null> {
  const { rows } = await tx.query<Operator>(
    `with taken as (
       delete from sign_in_link
       where link_hash = $1 and operator is not null and ends_at > clock_timestamp() returning operator
     )
     select o.name, o.role from taken join operator o on o.name = taken.operator and o.disabled_at is null`,
    [linkHash],
  );
  return rows[0] ?? null;
}
